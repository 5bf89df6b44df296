package tare.netty.ladder

import scala.concurrent.Future

import sttp.tapir.server.netty.NettyFutureServerOptions

import tare.{Answers, Ladder}
import tare.netty.{NettyServer, Reply, VanillaRoutes}
import tare.netty.future.FutureServer

/** Netty alone. */
object Bare extends NettyServer(VanillaRoutes(1, Map("/ladder" -> (() => Reply.json(Ladder.Text)))))

/** Tapir with one route and no interceptor. */
object Route extends Step(1, encoded = false, Step.withoutInterceptors)

/** 128 routes; the last one serves the document. */
object Routes extends Step(Answers.MultiRoutes, encoded = false, Step.withoutInterceptors)

/** The document is encoded for each request. The steps before send ready-made text. */
object Json extends Step(Answers.MultiRoutes, encoded = true, Step.withoutInterceptors)

/** Tapir's default interceptors except the server log. */
object Interceptors extends Step(Answers.MultiRoutes, encoded = true, FutureServer.withoutLog)

/** All default interceptors. */
object ServerLog extends Step(Answers.MultiRoutes, encoded = true, NettyFutureServerOptions.default)

abstract class Step(routes: Int, encoded: Boolean, options: NettyFutureServerOptions)
    extends FutureServer(Ladder.endpoints[Future](routes, encoded), options)

object Step:
  val withoutInterceptors: NettyFutureServerOptions = NettyFutureServerOptions.default.copy(interceptors = Nil)
