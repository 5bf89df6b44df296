package tare.http4s.blaze

import scala.concurrent.duration._

import cats.effect.IO
import cats.effect.unsafe.implicits.global
import cats.syntax.all._
import org.http4s.HttpRoutes
import org.http4s.blaze.server.BlazeServerBuilder
import org.http4s.server.websocket.WebSocketBuilder2

import tare.Launch

/** Serves `routes` and the WebSockets of `webSocketRoutes` by blaze, with the same settings on both sides of a comparison:
  * its own defaults, except where a comment gives the reason.
  */
abstract class BlazeServer(routes: HttpRoutes[IO], webSocketRoutes: WebSocketBuilder2[IO] => HttpRoutes[IO]) {

  def main(args: Array[String]): Unit = Launch.serve(args) { port =>
    val (server, _) = BlazeServerBuilder[IO]
      .bindHttp(port, Launch.Host)
      .withoutBanner
      // Enough for thousands of users; the default is 1024.
      .withMaxConnections(16384)
      // A connection is idle while other servers have their turn. The default limit of one minute would close it.
      .withIdleTimeout(10.minutes)
      .withHttpWebSocketApp(sockets => (routes <+> webSocketRoutes(sockets)).orNotFound)
      .resource
      .allocated
      .unsafeRunSync()
    server.address.getPort
  }
}
