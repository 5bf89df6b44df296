package tare

import sttp.capabilities.{Streams, WebSockets}
import sttp.tapir._

/** An endpoint that pushes, for every server whose Tapir has WebSockets. Each server brings its own stream. */
object PushEndpoint {

  /** An endpoint of `/ws/{name}`. Tapir sends no pings of its own and does not join fragments. */
  def apply[S](
      streams: Streams[S]
  )(name: String): PublicEndpoint[Unit, Unit, streams.Pipe[String, String], S with WebSockets] =
    endpoint.get.in("ws" / name).out(body(streams))

  /** The same for a library that answers pings before Tapir sees them. By default Tapir would join the messages with
    * answers of its own, of which there would be none.
    */
  def withoutPongs[S](
      streams: Streams[S]
  )(name: String): PublicEndpoint[Unit, Unit, streams.Pipe[String, String], S with WebSockets] =
    endpoint.get.in("ws" / name).out(body(streams).autoPongOnPing(false))

  private def body[S](
      streams: Streams[S]
  ): WebSocketBodyOutput[streams.Pipe[String, String], String, String, streams.Pipe[String, String], S] =
    webSocketBody[String, CodecFormat.TextPlain, String, CodecFormat.TextPlain](streams)
      .concatenateFragmentedFrames(false)
      .autoPing(None)
}
