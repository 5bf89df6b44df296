package tare.netty

import java.net.InetSocketAddress

import io.netty.bootstrap.ServerBootstrap
import io.netty.buffer.Unpooled
import io.netty.channel.ChannelHandler.Sharable
import io.netty.channel.{ChannelFutureListener, ChannelHandlerContext, ChannelInitializer, ChannelOption}
import io.netty.channel.SimpleChannelInboundHandler
import io.netty.channel.epoll.{Epoll, EpollEventLoopGroup, EpollServerSocketChannel}
import io.netty.channel.nio.NioEventLoopGroup
import io.netty.channel.socket.SocketChannel
import io.netty.channel.socket.nio.NioServerSocketChannel
import io.netty.handler.codec.http.*
import io.netty.handler.codec.http.HttpHeaderNames.{CONTENT_LENGTH, CONTENT_TYPE}

import tare.{Answers, Launch, Protocol}

/** Serves `routes` by Netty, with epoll if available, as Tapir's servers do. */
abstract class NettyServer(routes: VanillaRoutes):

  def main(args: Array[String]): Unit = Launch.serve(args)(listen)

  private def listen(port: Int): Int =
    val (group, channel) =
      if Epoll.isAvailable then (EpollEventLoopGroup(), classOf[EpollServerSocketChannel])
      else (NioEventLoopGroup(), classOf[NioServerSocketChannel])
    val bootstrap = ServerBootstrap()
      .group(group)
      .channel(channel)
      .childOption(ChannelOption.TCP_NODELAY, java.lang.Boolean.TRUE)
      .childHandler(
        if Protocol.IsHttp2 then Http2Initializer(RequestHandler(routes)) else Http1Initializer(RequestHandler(routes))
      )
    bootstrap.bind(Launch.Host, port).sync().channel.localAddress.asInstanceOf[InetSocketAddress].getPort

final private class Http1Initializer(handler: RequestHandler) extends ChannelInitializer[SocketChannel]:
  override def initChannel(channel: SocketChannel): Unit =
    channel.pipeline.addLast(HttpServerCodec(), HttpObjectAggregator(Answers.MaxBodyBytes), handler)

@Sharable
final private[netty] class RequestHandler(routes: VanillaRoutes) extends SimpleChannelInboundHandler[FullHttpRequest]:

  override def channelRead0(context: ChannelHandlerContext, request: FullHttpRequest): Unit =
    val reply =
      if request.decoderResult.isSuccess then routes.answer(request)
      else Some(Reply.empty(HttpResponseStatus.BAD_REQUEST))
    reply match
      case Some(reply) => send(context, request, reply)
      case None        => push(context, request)

  /** WebSockets are looked up last, so that they cost other requests nothing. */
  private def push(context: ChannelHandlerContext, request: FullHttpRequest): Unit =
    WebSocketHandler.timestampAt(request.uri) match
      case Some(timestamp) => WebSocketHandler.upgrade(context, request, timestamp)
      case None            => send(context, request, Reply.empty(HttpResponseStatus.NOT_FOUND))

  private def send(context: ChannelHandlerContext, request: FullHttpRequest, reply: Reply): Unit =
    val keepsAlive = HttpUtil.isKeepAlive(request)
    val response = DefaultFullHttpResponse(HttpVersion.HTTP_1_1, reply.status, Unpooled.wrappedBuffer(reply.body))
    response.headers.set(CONTENT_TYPE, reply.contentType).setInt(CONTENT_LENGTH, reply.body.length)
    HttpUtil.setKeepAlive(response, keepsAlive)
    val written = context.write(response)
    if !keepsAlive then written.addListener(ChannelFutureListener.CLOSE)

  override def channelReadComplete(context: ChannelHandlerContext): Unit = context.flush()

  override def exceptionCaught(context: ChannelHandlerContext, cause: Throwable): Unit = context.close()
