package tare.http4s

import cats.effect.IO
import fs2.Stream
import org.http4s.HttpRoutes
import org.http4s.dsl.io.*
import org.http4s.server.websocket.WebSocketBuilder2
import org.http4s.websocket.WebSocketFrame
import sttp.capabilities.fs2.Fs2Streams
import sttp.tapir.server.http4s.{Http4sServerInterpreter, Http4sServerOptions}

import tare.{Pushes, Stamps}

/** The WebSockets of http4s alone: messages from clients are read and discarded. */
object VanillaPushes:
  def apply(sockets: WebSocketBuilder2[IO]): HttpRoutes[IO] =
    val pushes = Stamps.all.toMap
    HttpRoutes.of[IO] {
      case GET -> Root / "ws" / name if pushes.contains(name) =>
        sockets.build(Ticks(pushes(name)).map(WebSocketFrame.Text(_)), _.drain)
    }

/** The same WebSockets by Tapir. */
object TapirPushes:
  def apply(options: Http4sServerOptions[IO]): WebSocketBuilder2[IO] => HttpRoutes[IO] =
    val endpoints = Stamps.all.map { (name, stamp) =>
      Pushes.described(Fs2Streams[IO])(name).serverLogicSuccess[IO](_ =>
        IO.pure(in => Ticks(stamp).concurrently(in.drain))
      )
    }
    Http4sServerInterpreter[IO](options).toWebSocketRoutes(endpoints)

/** fs2's timer. */
object Ticks:
  def apply(stamp: () => String): Stream[IO, String] =
    Stream.awakeEvery[IO](Stamps.Period).evalMap(_ => IO(stamp()))
