package tare.vertx

import scala.concurrent.Future
import scala.concurrent.ExecutionContext.Implicits.global

import io.vertx.core.Vertx
import io.vertx.ext.web.Router
import sttp.capabilities.WebSockets
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.vertx.streams.VertxStreams
import sttp.tapir.server.vertx.{VertxFutureServerInterpreter, VertxFutureServerOptions}

import tare.{Answers, Endpoints, PushEndpoint, Timestamps}

/** Vert.x wrapped by Tapir, whose logic is a `Future`. `Tapir` has Tapir's default interceptors except the server log. */
object Tapir extends VertxServer(TapirRoutes(1, TapirRoutes.withoutLog))

object TapirMulti extends VertxServer(TapirRoutes(Answers.MultiRoutes, TapirRoutes.withoutLog))

object TapirInterceptor extends VertxServer(TapirRoutes(1, VertxFutureServerOptions.default))

object TapirInterceptorMulti extends VertxServer(TapirRoutes(Answers.MultiRoutes, VertxFutureServerOptions.default))

object TapirRoutes:
  def apply(routes: Int, options: VertxFutureServerOptions)(vertx: Vertx, router: Router): Unit =
    val interpreter = VertxFutureServerInterpreter(options)
    Endpoints.all[Future](routes).foreach(endpoint => interpreter.route(endpoint)(router))
    pushEndpoints(vertx).foreach(endpoint => interpreter.route(endpoint)(router))

  private def pushEndpoints(vertx: Vertx): List[ServerEndpoint[VertxStreams & WebSockets, Future]] =
    Timestamps.all.map { (name, timestamp) =>
      PushEndpoint(VertxStreams)(name).serverLogicSuccess[Future](_ =>
        Future.successful(TimestampStream.pipe(vertx, timestamp))
      )
    }

  val withoutLog: VertxFutureServerOptions = VertxFutureServerOptions.customiseInterceptors.serverLog(None).options
