package tare.akka

import scala.concurrent.Future

import akka.http.scaladsl.server.Route
import akka.stream.scaladsl.{Flow, Sink}
import sttp.capabilities.WebSockets
import sttp.capabilities.akka.AkkaStreams
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.akkahttp.{AkkaHttpServerInterpreter, AkkaHttpServerOptions}

import tare.{Answers, Endpoints, PushEndpoint, Timestamps}

/** Akka HTTP wrapped by Tapir. This Tapir has no interceptors yet: the log of requests is a setting. */
object Tapir extends AkkaServer(_ => TapirRoutes(1, TapirRoutes.withoutLog))

object TapirMulti extends AkkaServer(_ => TapirRoutes(Answers.MultiRoutes, TapirRoutes.withoutLog))

object TapirInterceptor extends AkkaServer(_ => TapirRoutes(1, AkkaHttpServerOptions.default))

object TapirInterceptorMulti extends AkkaServer(_ => TapirRoutes(Answers.MultiRoutes, AkkaHttpServerOptions.default))

object TapirRoutes {

  /** The routes of `/path0` to `/path{routes - 1}` and the others, interpreted once, before the server starts. */
  def apply(routes: Int, options: AkkaHttpServerOptions): Route =
    AkkaHttpServerInterpreter.toRoute(Endpoints.all(routes) ++ pushEndpoints)(options)

  private val pushEndpoints: List[ServerEndpoint[_, _, _, AkkaStreams with WebSockets, Future]] =
    Timestamps.all.map { case (name, timestamp) =>
      val logic: AkkaStreams.Pipe[String, String] = Flow.fromSinkAndSource(Sink.ignore, TimestampStream(timestamp))
      PushEndpoint(AkkaStreams)(name).serverLogic[Future](_ => Future.successful(Right(logic)))
    }

  val withoutLog: AkkaHttpServerOptions =
    AkkaHttpServerOptions.default.copy(logRequestHandling =
      AkkaHttpServerOptions.defaultLogRequestHandling.copy(logWhenHandled = false, logLogicExceptions = false)
    )
}
