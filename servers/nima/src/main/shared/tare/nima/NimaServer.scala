package tare.nima

import java.time.Duration

import io.helidon.common.socket.SocketOptions
import io.helidon.webserver.WebServer
import io.helidon.webserver.http.HttpRouting

import tare.{Answers, Launch}

/** Serves the routes that `fill` puts into Helidon's routing, each request on a virtual thread, with the same settings on
  * both sides of a comparison: Helidon's own defaults, except where a comment says why not.
  */
abstract class NimaServer(fill: HttpRouting.Builder => Unit):

  def main(args: Array[String]): Unit = Launch.serve(args)(listen)

  private def listen(port: Int): Int =
    val routing = HttpRouting.builder()
    fill(routing)
    WebServer
      .builder()
      .host(Launch.Host)
      .port(port)
      .maxPayloadSize(Answers.MaxBodyBytes.toLong)
      // A connection rests while it is the other servers' turn; the default of five minutes would close it meanwhile.
      .idleConnectionTimeout(Duration.ofMinutes(10))
      .connectionOptions(SocketOptions.builder().tcpNoDelay(true).build())
      .routing(routing)
      .build()
      .start()
      .port
