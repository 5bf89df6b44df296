package tare.http4s

import scala.concurrent.duration.*

import cats.effect.IO
import cats.effect.unsafe.implicits.global
import com.comcast.ip4s.{Host, Port}
import fs2.io.net.SocketOption
import cats.syntax.all.*
import org.http4s.HttpRoutes
import org.http4s.ember.server.EmberServerBuilder
import org.http4s.server.websocket.WebSocketBuilder2

import tare.Launch

/** Serves `routes`, and those that `pushing` makes, by ember, with the same settings on both sides of a comparison.
  *
  * It runs on the thread pool that an `IOApp` has too. `IOApp` itself would add a watch that warns of starvation, which
  * here is the aim, and in cats-effect 3.5 it forgets its exit code on JDK 25, where the main thread's id is not 1.
  */
abstract class EmberServer(routes: HttpRoutes[IO], pushing: WebSocketBuilder2[IO] => HttpRoutes[IO]):

  def main(args: Array[String]): Unit = Launch.serve(args)(listen)

  private def listen(port: Int): Int =
    val (server, _) = builder(port).withHttpWebSocketApp(sockets =>
      (routes <+> pushing(sockets)).orNotFound
    ).build.allocated.unsafeRunSync()
    server.address.getPort

  /** Ember's own defaults written out, except where a comment gives the reason. */
  private def builder(port: Int): EmberServerBuilder[IO] =
    EmberServerBuilder
      .default[IO]
      .withHostOption(Host.fromString(Launch.Host))
      .withPort(Port.fromInt(port).get)
      .withoutHttp2
      // Enough for thousands of WebSocket users; the default is 1024.
      .withMaxConnections(16384)
      .withReceiveBufferSize(256 * 1024)
      .withMaxHeaderSize(40 * 1024)
      .withRequestHeaderReceiveTimeout(5.seconds)
      // A connection is idle while other servers have their turn. The default limit of one minute would close it.
      .withIdleTimeout(10.minutes)
      // Answers are written at once, without waiting for more.
      .withAdditionalSocketOptions(List(SocketOption.noDelay(true)))
