package tare.http4s

import cats.effect.IO
import fs2.Stream
import org.http4s.HttpRoutes
import org.http4s.dsl.io.*
import org.http4s.server.websocket.WebSocketBuilder2
import org.http4s.websocket.WebSocketFrame
import sttp.capabilities.fs2.Fs2Streams
import sttp.tapir.server.http4s.{Http4sServerInterpreter, Http4sServerOptions}

import tare.{PushEndpoint, Timestamps}

/** The WebSockets of http4s alone: messages from clients are read and discarded. */
object VanillaWebSockets:
  def apply(sockets: WebSocketBuilder2[IO]): HttpRoutes[IO] =
    val timestamps = Timestamps.all.toMap
    HttpRoutes.of[IO] {
      case GET -> Root / "ws" / name if timestamps.contains(name) =>
        sockets.build(TimestampStream(timestamps(name)).map(WebSocketFrame.Text(_)), _.drain)
    }

/** The same WebSockets by Tapir. */
object TapirWebSockets:
  def apply(options: Http4sServerOptions[IO]): WebSocketBuilder2[IO] => HttpRoutes[IO] =
    val endpoints = Timestamps.all.map { (name, timestamp) =>
      PushEndpoint.withoutPongs(Fs2Streams[IO])(name).serverLogicSuccess[IO](_ =>
        IO.pure(in => TimestampStream(timestamp).concurrently(in.drain))
      )
    }
    Http4sServerInterpreter[IO](options).toWebSocketRoutes(endpoints)

/** fs2's timer. */
object TimestampStream:
  def apply(timestamp: () => String): Stream[IO, String] =
    Stream.awakeEvery[IO](Timestamps.Period).evalMap(_ => IO(timestamp()))
