package tare.akka

import akka.http.scaladsl.server.Route
import sttp.tapir.server.akkahttp.{AkkaHttpServerInterpreter, AkkaHttpServerOptions}

import tare.{Answers, Endpoints}

/** Akka HTTP wrapped by Tapir. This Tapir has no interceptors yet: the log of requests is a setting. */
object Tapir extends AkkaServer(_ => TapirRoutes(1, TapirRoutes.withoutLog))

object TapirMulti extends AkkaServer(_ => TapirRoutes(Answers.MultiRoutes, TapirRoutes.withoutLog))

object TapirInterceptor extends AkkaServer(_ => TapirRoutes(1, AkkaHttpServerOptions.default))

object TapirInterceptorMulti extends AkkaServer(_ => TapirRoutes(Answers.MultiRoutes, AkkaHttpServerOptions.default))

object TapirRoutes {

  /** The routes of `/path0` to `/path{routes - 1}` and the others, interpreted once, before the server starts. */
  def apply(routes: Int, options: AkkaHttpServerOptions): Route =
    AkkaHttpServerInterpreter.toRoute(Endpoints.served(routes))(options)

  val withoutLog: AkkaHttpServerOptions =
    AkkaHttpServerOptions.default.copy(logRequestHandling =
      AkkaHttpServerOptions.defaultLogRequestHandling.copy(logWhenHandled = false, logLogicExceptions = false)
    )
}
