package tare.nima

import io.helidon.webserver.http.{Handler, HttpRouting}
import sttp.shared.Identity
import sttp.tapir.server.nima.{NimaServerInterpreter, NimaServerOptions}

import tare.{Answers, Endpoints}

/** Helidon's web server wrapped by Tapir. `Tapir` has Tapir's default interceptors except the server log. */
object Tapir extends NimaServer(TapirRoutes(1, TapirRoutes.withoutLog))

object TapirMulti extends NimaServer(TapirRoutes(Answers.MultiRoutes, TapirRoutes.withoutLog))

object TapirInterceptor extends NimaServer(TapirRoutes(1, NimaServerOptions.Default))

object TapirInterceptorMulti extends NimaServer(TapirRoutes(Answers.MultiRoutes, NimaServerOptions.Default))

object TapirRoutes:
  def apply(routes: Int, options: NimaServerOptions)(routing: HttpRouting.Builder): Unit =
    val handler: Handler = NimaServerInterpreter(options).toHandler(Endpoints.all[Identity](routes))
    routing.any(handler)

  val withoutLog: NimaServerOptions = NimaServerOptions.customiseInterceptors.serverLog(None).options
