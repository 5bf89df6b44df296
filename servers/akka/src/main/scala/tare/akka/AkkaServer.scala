package tare.akka

import scala.concurrent.Await
import scala.concurrent.duration._

import com.typesafe.config.ConfigFactory
import akka.actor.ActorSystem
import akka.http.scaladsl.Http
import akka.http.scaladsl.server.Route

import tare.{Answers, Launch}

/** Serves `route` by akka-http, with the same settings on both sides of a comparison: its own defaults, except where a
  * comment gives the reason.
  */
abstract class AkkaServer(route: ActorSystem => Route) {

  def main(args: Array[String]): Unit = Launch.serve(args)(listen)

  private def listen(port: Int): Int = {
    implicit val system: ActorSystem =
      ActorSystem("tare", ConfigFactory.parseString(settings).withFallback(ConfigFactory.load()))
    Await.result(Http().newServerAt(Launch.Host, port).bind(route(system)), 30.seconds).localAddress.getPort
  }

  private val settings = s"""
    |akka.http.server {
    |  # A connection is idle while other servers have their turn. The default limit of one minute would close it.
    |  idle-timeout = 10 minutes
    |  # Enough for thousands of users; the default is 1024.
    |  max-connections = 16384
    |  parsing.max-content-length = ${Answers.MaxBodyBytes}
    |  socket-options.tcp-no-delay = true
    |}""".stripMargin
}
