package tare.http4s.blaze

import cats.effect.IO
import fs2.Pipe
import org.http4s.HttpRoutes
import org.http4s.server.websocket.WebSocketBuilder2
import sttp.capabilities.fs2.Fs2Streams
import sttp.tapir.server.http4s.{Http4sServerInterpreter, Http4sServerOptions}

import tare.{Answers, Endpoints, PushEndpoint, Timestamps}

/** http4s on blaze, wrapped by Tapir, whose interpreter makes routes for all servers of http4s. `Tapir` has Tapir's
  * default interceptors except the server log, `TapirInterceptor` has all.
  */
object Tapir extends TapirServer(1, TapirRoutes.withoutLog)

object TapirMulti extends TapirServer(Answers.MultiRoutes, TapirRoutes.withoutLog)

object TapirInterceptor extends TapirServer(1, TapirRoutes.default)

object TapirInterceptorMulti extends TapirServer(Answers.MultiRoutes, TapirRoutes.default)

abstract class TapirServer(routes: Int, options: Http4sServerOptions[IO])
    extends BlazeServer(TapirRoutes(routes, options), TapirRoutes.webSockets(options))

object TapirRoutes {

  /** The routes of `/path0` to `/path{routes - 1}`, interpreted once, before the server starts. */
  def apply(routes: Int, options: Http4sServerOptions[IO]): HttpRoutes[IO] =
    Http4sServerInterpreter[IO](options).toRoutes(Endpoints.all[IO](routes))

  /** The WebSockets; messages from clients are read and discarded. */
  def webSockets(options: Http4sServerOptions[IO]): WebSocketBuilder2[IO] => HttpRoutes[IO] = {
    val endpoints = Timestamps.all.map { case (name, timestamp) =>
      val logic: Pipe[IO, String, String] = in => TimestampStream(timestamp).concurrently(in.drain)
      PushEndpoint.withoutPongs(Fs2Streams[IO])(name).serverLogicSuccess[IO](_ => IO.pure(logic))
    }
    Http4sServerInterpreter[IO](options).toWebSocketRoutes(endpoints)
  }

  val default: Http4sServerOptions[IO] = Http4sServerOptions.default[IO]

  val withoutLog: Http4sServerOptions[IO] = Http4sServerOptions.customiseInterceptors[IO].serverLog(None).options
}
