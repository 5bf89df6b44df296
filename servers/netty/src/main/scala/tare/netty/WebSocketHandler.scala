package tare.netty

import java.util.concurrent.{ScheduledFuture, TimeUnit}

import io.netty.channel.{ChannelHandlerContext, SimpleChannelInboundHandler}
import io.netty.handler.codec.http.FullHttpRequest
import io.netty.handler.codec.http.websocketx.*

import tare.Timestamps

/** WebSockets with Netty alone, by the timer of the connection's event loop. */
object WebSocketHandler:
  private val timestamps: Map[String, () => String] =
    Timestamps.all.map((name, timestamp) => s"/ws/$name" -> timestamp).toMap

  /** The text to push at this path; `None` if it is not a path of WebSockets. */
  def timestampAt(path: String): Option[() => String] = timestamps.get(path)

  /** Turns the connection of `request` into a WebSocket. */
  def upgrade(context: ChannelHandlerContext, request: FullHttpRequest, timestamp: () => String): Unit =
    val channel = context.channel
    Option(WebSocketServerHandshakerFactory(request.uri, null, false).newHandshaker(request)) match
      case None             => WebSocketServerHandshakerFactory.sendUnsupportedVersionResponse(channel)
      case Some(handshaker) =>
        handshaker.handshake(channel, request)
        context.pipeline.replace(context.handler, "websocket", WebSocketHandler(handshaker, timestamp))

/** Pushes `timestamp` while the connection is open. Answers pings and closing, and discards all other messages. */
final class WebSocketHandler(handshaker: WebSocketServerHandshaker, timestamp: () => String)
    extends SimpleChannelInboundHandler[WebSocketFrame]:

  private var timer: Option[ScheduledFuture[?]] = None

  override def handlerAdded(context: ChannelHandlerContext): Unit =
    val push: Runnable = () => context.writeAndFlush(TextWebSocketFrame(timestamp()))
    val period = Timestamps.Period.toMillis
    timer = Some(context.executor.scheduleAtFixedRate(push, period, period, TimeUnit.MILLISECONDS))

  override def handlerRemoved(context: ChannelHandlerContext): Unit = timer.foreach(_.cancel(false))

  override def channelRead0(context: ChannelHandlerContext, frame: WebSocketFrame): Unit = frame match
    case close: CloseWebSocketFrame => handshaker.close(context, close.retain())
    case ping: PingWebSocketFrame   => context.writeAndFlush(PongWebSocketFrame(ping.content.retain()))
    case _                          => ()

  override def exceptionCaught(context: ChannelHandlerContext, cause: Throwable): Unit = context.close()
