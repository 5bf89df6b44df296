package tare.netty

import java.util.concurrent.{ScheduledFuture, TimeUnit}

import io.netty.channel.{ChannelHandlerContext, SimpleChannelInboundHandler}
import io.netty.handler.codec.http.FullHttpRequest
import io.netty.handler.codec.http.websocketx.*

import tare.Stamps

/** WebSockets with Netty alone, by the timer of the connection's event loop. */
object Pushing:
  private val pushes: Map[String, () => String] = Stamps.all.map((name, stamp) => s"/ws/$name" -> stamp).toMap

  /** The text to push at this path; `None` if it is not a path of WebSockets. */
  def at(path: String): Option[() => String] = pushes.get(path)

  /** Turns the connection of `request` into a WebSocket. */
  def begin(context: ChannelHandlerContext, request: FullHttpRequest, stamp: () => String): Unit =
    val channel = context.channel
    Option(WebSocketServerHandshakerFactory(request.uri, null, false).newHandshaker(request)) match
      case None             => WebSocketServerHandshakerFactory.sendUnsupportedVersionResponse(channel)
      case Some(handshaker) =>
        handshaker.handshake(channel, request)
        context.pipeline.replace(context.handler, "pushing", Pushing(handshaker, stamp))

/** Pushes `stamp` while the connection is open. Answers pings and closing, and discards all other messages. */
final class Pushing(handshaker: WebSocketServerHandshaker, stamp: () => String)
    extends SimpleChannelInboundHandler[WebSocketFrame]:

  private var ticks: Option[ScheduledFuture[?]] = None

  override def handlerAdded(context: ChannelHandlerContext): Unit =
    val push: Runnable = () => context.writeAndFlush(TextWebSocketFrame(stamp()))
    val period = Stamps.Period.toMillis
    ticks = Some(context.executor.scheduleAtFixedRate(push, period, period, TimeUnit.MILLISECONDS))

  override def handlerRemoved(context: ChannelHandlerContext): Unit = ticks.foreach(_.cancel(false))

  override def channelRead0(context: ChannelHandlerContext, frame: WebSocketFrame): Unit = frame match
    case close: CloseWebSocketFrame => handshaker.close(context, close.retain())
    case ping: PingWebSocketFrame   => context.writeAndFlush(PongWebSocketFrame(ping.content.retain()))
    case _                          => ()

  override def exceptionCaught(context: ChannelHandlerContext, cause: Throwable): Unit = context.close()
