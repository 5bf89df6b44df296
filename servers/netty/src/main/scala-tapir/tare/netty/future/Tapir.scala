package tare.netty.future

import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration.*

import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.netty.{NettyFutureServer, NettyFutureServerOptions}

import tare.{Answers, Endpoints, Launch}
import tare.netty.Settings

/** Netty by Tapir, whose logic is a `Future`. `Tapir` has Tapir's default interceptors except the server log. */
object Tapir extends FutureServer(1, FutureServer.withoutLog)

object TapirMulti extends FutureServer(Answers.MultiRoutes, FutureServer.withoutLog)

object TapirInterceptor extends FutureServer(1, NettyFutureServerOptions.default)

object TapirInterceptorMulti extends FutureServer(Answers.MultiRoutes, NettyFutureServerOptions.default)

abstract class FutureServer(endpoints: List[ServerEndpoint[Any, Future]], options: NettyFutureServerOptions):

  def this(routes: Int, options: NettyFutureServerOptions) = this(Endpoints.all[Future](routes), options)

  def main(args: Array[String]): Unit = Launch.serve(args) { port =>
    val server = NettyFutureServer(options, Settings(port)).addEndpoints(endpoints)
    Await.result(server.start(), 30.seconds).port
  }

object FutureServer:
  val withoutLog: NettyFutureServerOptions = NettyFutureServerOptions.customiseInterceptors.serverLog(None).options
