package tare.http4s

import cats.effect.IO
import org.http4s.HttpRoutes
import sttp.tapir.server.http4s.{Http4sServerInterpreter, Http4sServerOptions}

import tare.{Answers, Endpoints}

/** http4s wrapped by Tapir. `Tapir` has its default interceptors except the server log, `TapirInterceptor` all. */
object Tapir extends TapirServer(1, TapirRoutes.withoutLog)

object TapirMulti extends TapirServer(Answers.MultiRoutes, TapirRoutes.withoutLog)

object TapirInterceptor extends TapirServer(1, TapirRoutes.default)

object TapirInterceptorMulti extends TapirServer(Answers.MultiRoutes, TapirRoutes.default)

abstract class TapirServer(routes: Int, options: Http4sServerOptions[IO])
    extends EmberServer(TapirRoutes(routes, options), TapirWebSockets(options))

object TapirRoutes:

  /** The routes of `/path0` to `/path{routes - 1}`, interpreted once, before the server starts. */
  def apply(routes: Int, options: Http4sServerOptions[IO]): HttpRoutes[IO] =
    Http4sServerInterpreter[IO](options).toRoutes(Endpoints.all[IO](routes))

  val default: Http4sServerOptions[IO] = Http4sServerOptions.default[IO]

  val withoutLog: Http4sServerOptions[IO] = Http4sServerOptions.customiseInterceptors[IO].serverLog(None).options
