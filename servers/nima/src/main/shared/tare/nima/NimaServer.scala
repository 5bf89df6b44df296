package tare.nima

import java.time.Duration

import io.helidon.common.Builder
import io.helidon.common.socket.SocketOptions
import io.helidon.common.tls.Tls
import io.helidon.webserver.{Routing, WebServer}
import io.helidon.webserver.http.HttpRouting

import tare.{Answers, Launch, Protocol}

/** Serves the routes that `fill` puts into Helidon's routing, each request on a virtual thread, with the same settings on
  * both sides of a comparison: Helidon's own defaults, except where a comment gives the reason. `otherRoutings` are
  * those of other protocols.
  */
abstract class NimaServer(fill: HttpRouting.Builder => Unit, otherRoutings: Builder[?, ? <: Routing]*):

  def main(args: Array[String]): Unit = Launch.serve(args)(listen)

  private def listen(port: Int): Int =
    val routing = HttpRouting.builder()
    fill(routing)
    val server = WebServer
      .builder()
      .host(Launch.Host)
      .port(port)
      .maxPayloadSize(Answers.MaxBodyBytes.toLong)
      // A connection is idle while other servers have their turn. The default limit of five minutes would close it.
      .idleConnectionTimeout(Duration.ofMinutes(10))
      .connectionOptions(SocketOptions.builder().tcpNoDelay(true).build())
      .routing(routing)
    // Helidon speaks HTTP/2 as soon as its module is there: a client chooses it by how it begins, or by ALPN.
    Protocol.Tls.foreach(context => server.tls(Tls.builder().sslContext(context).build()))
    otherRoutings.foreach(server.addRouting(_))
    server.build().start().port
