package tare.netty

import java.io.ByteArrayInputStream
import java.nio.charset.StandardCharsets.US_ASCII

import io.netty.channel.{Channel, ChannelInitializer}
import io.netty.channel.socket.SocketChannel
import io.netty.handler.codec.http.HttpObjectAggregator
import io.netty.handler.codec.http2.{Http2FrameCodecBuilder, Http2MultiplexHandler, Http2StreamFrameToHttpObjectCodec}
import io.netty.handler.ssl.{ApplicationProtocolConfig, ApplicationProtocolNames, SslContext, SslContextBuilder}
import io.netty.handler.ssl.ApplicationProtocolConfig.{SelectedListenerFailureBehavior, SelectorFailureBehavior}

import tare.{Answers, Protocol}

/** HTTP/2: each stream is a channel of its own, with the same handler as a connection of HTTP/1.1. */
final private[netty] class Http2Initializer(handler: RequestHandler) extends ChannelInitializer[SocketChannel]:
  private val tls = Protocol.Certificate.map(Http2Initializer.tlsContext)
  private val streams = StreamInitializer(handler)

  override def initChannel(channel: SocketChannel): Unit =
    tls.foreach(context => channel.pipeline.addLast(context.newHandler(channel.alloc)))
    channel.pipeline.addLast(Http2FrameCodecBuilder.forServer().build(), Http2MultiplexHandler(streams))

final private class StreamInitializer(handler: RequestHandler) extends ChannelInitializer[Channel]:
  override def initChannel(stream: Channel): Unit =
    stream.pipeline.addLast(
      Http2StreamFrameToHttpObjectCodec(true),
      HttpObjectAggregator(Answers.MaxBodyBytes),
      handler
    )

object Http2Initializer:
  private def tlsContext(pem: String): SslContext =
    def bytes = ByteArrayInputStream(pem.getBytes(US_ASCII))
    val alpn = ApplicationProtocolConfig(
      ApplicationProtocolConfig.Protocol.ALPN,
      SelectorFailureBehavior.NO_ADVERTISE,
      SelectedListenerFailureBehavior.ACCEPT,
      ApplicationProtocolNames.HTTP_2
    )
    SslContextBuilder.forServer(bytes, bytes).applicationProtocolConfig(alpn).build()
