package tare.pekko

import scala.concurrent.Await
import scala.concurrent.duration._

import com.typesafe.config.ConfigFactory
import org.apache.pekko.actor.ActorSystem
import org.apache.pekko.http.scaladsl.{ConnectionContext, Http}
import org.apache.pekko.http.scaladsl.server.Route

import tare.{Answers, Launch, Protocol}

/** Serves `route` by pekko-http, with the same settings on both sides of a comparison: its own defaults, except where a
  * comment gives the reason.
  */
abstract class PekkoServer(route: ActorSystem => Route) {

  def main(args: Array[String]): Unit = Launch.serve(args)(listen)

  private def listen(port: Int): Int = {
    implicit val system: ActorSystem =
      ActorSystem("tare", ConfigFactory.parseString(settings).withFallback(ConfigFactory.load()))
    val plain = Http().newServerAt(Launch.Host, port)
    val server = Protocol.Tls.fold(plain)(context => plain.enableHttps(ConnectionContext.httpsServer(context)))
    Await.result(server.bind(route(system)), 30.seconds).localAddress.getPort
  }

  private val settings = s"""
    |pekko.http.server {
    |  # A connection is idle while other servers have their turn. The default limit of one minute would close it.
    |  idle-timeout = 10 minutes
    |  # Enough for thousands of users; the default is 1024.
    |  max-connections = 16384
    |  # The name of this setting in all versions.
    |  preview.enable-http2 = ${Protocol.IsHttp2}
    |  parsing.max-content-length = ${Answers.MaxBodyBytes}
    |  socket-options.tcp-no-delay = true
    |}""".stripMargin
}
