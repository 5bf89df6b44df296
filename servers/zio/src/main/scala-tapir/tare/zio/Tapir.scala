package tare.zio

import sttp.capabilities.WebSockets
import sttp.capabilities.zio.ZioStreams
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.ziohttp.{ZioHttpInterpreter, ZioHttpServerOptions}
import zio.{Task, ZIO}
import zio.http.{Response, Routes}

import tare.{Answers, Endpoints, Pushes, Stamps}

/** ZIO HTTP wrapped by Tapir. `Tapir` has Tapir's default interceptors except the server log. */
object Tapir extends ZioServer(TapirRoutes(1, TapirRoutes.withoutLog))

object TapirMulti extends ZioServer(TapirRoutes(Answers.MultiRoutes, TapirRoutes.withoutLog))

object TapirInterceptor extends ZioServer(TapirRoutes(1, ZioHttpServerOptions.default[Any]))

object TapirInterceptorMulti extends ZioServer(TapirRoutes(Answers.MultiRoutes, ZioHttpServerOptions.default[Any]))

object TapirRoutes:
  def apply(routes: Int, options: ZioHttpServerOptions[Any]): Routes[Any, Response] =
    ZioHttpInterpreter(options).toHttp(Endpoints.served[Task](routes) ++ pushes)

  private val pushes: List[ServerEndpoint[ZioStreams & WebSockets, Task]] =
    Stamps.all.map { (name, stamp) =>
      val logic: ZioStreams.Pipe[String, String] = in => Ticks(stamp).drainFork(in)
      Pushes.described(ZioStreams)(name).serverLogicSuccess[Task](_ => ZIO.succeed(logic))
    }

  val withoutLog: ZioHttpServerOptions[Any] = ZioHttpServerOptions.customiseInterceptors[Any].serverLog(None).options
