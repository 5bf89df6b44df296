package tare.zio

import sttp.tapir.server.ziohttp.{ZioHttpInterpreter, ZioHttpServerOptions}
import zio.Task
import zio.http.{Response, Routes}

import tare.{Answers, Endpoints}

/** ZIO HTTP wrapped by Tapir. Without an interceptor: Tapir's default ones but for the server log. */
object Tapir extends ZioServer(TapirRoutes(1, TapirRoutes.withoutLog))

object TapirMulti extends ZioServer(TapirRoutes(Answers.MultiRoutes, TapirRoutes.withoutLog))

object TapirInterceptor extends ZioServer(TapirRoutes(1, ZioHttpServerOptions.default[Any]))

object TapirInterceptorMulti extends ZioServer(TapirRoutes(Answers.MultiRoutes, ZioHttpServerOptions.default[Any]))

object TapirRoutes:
  def apply(routes: Int, options: ZioHttpServerOptions[Any]): Routes[Any, Response] =
    ZioHttpInterpreter(options).toHttp(Endpoints.served[Task](routes))

  val withoutLog: ZioHttpServerOptions[Any] = ZioHttpServerOptions.customiseInterceptors[Any].serverLog(None).options
