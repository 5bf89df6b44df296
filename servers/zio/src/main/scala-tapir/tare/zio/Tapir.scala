package tare.zio

import sttp.capabilities.WebSockets
import sttp.capabilities.zio.ZioStreams
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.ziohttp.{ZioHttpInterpreter, ZioHttpServerOptions}
import zio.{Task, ZIO}
import zio.http.{Response, Routes}

import tare.{Answers, Endpoints, PushEndpoint, Timestamps}

/** ZIO HTTP wrapped by Tapir. `Tapir` has Tapir's default interceptors except the server log. */
object Tapir extends ZioServer(TapirRoutes(1, TapirRoutes.withoutLog))

object TapirMulti extends ZioServer(TapirRoutes(Answers.MultiRoutes, TapirRoutes.withoutLog))

object TapirInterceptor extends ZioServer(TapirRoutes(1, ZioHttpServerOptions.default[Any]))

object TapirInterceptorMulti extends ZioServer(TapirRoutes(Answers.MultiRoutes, ZioHttpServerOptions.default[Any]))

object TapirRoutes:
  def apply(routes: Int, options: ZioHttpServerOptions[Any]): Routes[Any, Response] =
    ZioHttpInterpreter(options).toHttp(Endpoints.all[Task](routes) ++ pushEndpoints)

  private val pushEndpoints: List[ServerEndpoint[ZioStreams & WebSockets, Task]] =
    Timestamps.all.map { (name, timestamp) =>
      val logic: ZioStreams.Pipe[String, String] = in => TimestampStream(timestamp).drainFork(in)
      PushEndpoint(ZioStreams)(name).serverLogicSuccess[Task](_ => ZIO.succeed(logic))
    }

  val withoutLog: ZioHttpServerOptions[Any] = ZioHttpServerOptions.customiseInterceptors[Any].serverLog(None).options
