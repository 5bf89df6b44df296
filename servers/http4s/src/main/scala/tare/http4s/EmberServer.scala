package tare.http4s

import scala.concurrent.duration.*

import cats.effect.IO
import cats.effect.unsafe.implicits.global
import com.comcast.ip4s.{Host, Port}
import fs2.io.net.{Network, SocketOption}
import cats.syntax.all.*
import org.http4s.HttpRoutes
import org.http4s.ember.server.EmberServerBuilder
import org.http4s.server.websocket.WebSocketBuilder2

import tare.{Launch, Protocol}

/** Serves `routes` and the WebSockets of `webSocketRoutes` by ember, with the same settings on both sides of a comparison.
  *
  * It runs on the same thread pool as an `IOApp`. `IOApp` itself would also warn of starvation, which a saturating load
  * causes. And in cats-effect 3.5 it loses its exit code on JDK 25, where the id of the main thread is not 1.
  */
abstract class EmberServer(routes: HttpRoutes[IO], webSocketRoutes: WebSocketBuilder2[IO] => HttpRoutes[IO]):

  def main(args: Array[String]): Unit = Launch.serve(args)(listen)

  private def listen(port: Int): Int =
    val (server, _) = withProtocol(builder(port)).withHttpWebSocketApp(sockets =>
      (routes <+> webSocketRoutes(sockets)).orNotFound
    ).build.allocated.unsafeRunSync()
    server.address.getPort

  private def withProtocol(builder: EmberServerBuilder[IO]): EmberServerBuilder[IO] =
    val plain = if Protocol.IsHttp2 then builder.withHttp2 else builder.withoutHttp2
    Protocol.Tls.fold(plain)(context => plain.withTLS(Network[IO].tlsContext.fromSSLContext(context)))

  /** Ember's defaults, written out, except where a comment gives the reason. */
  private def builder(port: Int): EmberServerBuilder[IO] =
    EmberServerBuilder
      .default[IO]
      .withHostOption(Host.fromString(Launch.Host))
      .withPort(Port.fromInt(port).get)
      // Enough for thousands of WebSocket users; the default is 1024.
      .withMaxConnections(16384)
      .withReceiveBufferSize(256 * 1024)
      .withMaxHeaderSize(40 * 1024)
      .withRequestHeaderReceiveTimeout(5.seconds)
      // A connection is idle while other servers have their turn. The default limit of one minute would close it.
      .withIdleTimeout(10.minutes)
      // Sends each answer at once, without waiting for more data.
      .withAdditionalSocketOptions(List(SocketOption.noDelay(true)))
