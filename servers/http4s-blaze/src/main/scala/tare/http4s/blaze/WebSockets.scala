package tare.http4s.blaze

import cats.effect.IO
import fs2.Stream
import org.http4s.{HttpRoutes, Method}
import org.http4s.server.websocket.WebSocketBuilder2
import org.http4s.websocket.WebSocketFrame

import tare.Timestamps

/** The WebSockets of http4s on blaze: messages from clients are read and discarded. */
object VanillaWebSockets {
  def apply(sockets: WebSocketBuilder2[IO]): HttpRoutes[IO] = HttpRoutes.of[IO] {
    case MethodAndPath(Method.GET, Segments("ws", name)) if timestamps.contains(name) =>
      sockets.build(
        TimestampStream(timestamps(name)).map(WebSocketFrame.Text(_)),
        (incoming: Stream[IO, WebSocketFrame]) => incoming.drain
      )
  }

  private val timestamps: Map[String, () => String] = Timestamps.all.toMap
}
