package tare.play.netty

import play.core.server.NettyServer

import tare.{Answers, Launch}
import tare.play.{Settings, VanillaRoutes}

/** Play alone, on its Netty back end. */
object Vanilla extends NettyPlayServer(1)

object VanillaMulti extends NettyPlayServer(Answers.MultiRoutes)

abstract class NettyPlayServer(routes: Int):
  def main(args: Array[String]): Unit = Launch.serve(args) { port =>
    val server = NettyServer.fromRouterWithComponents(Settings(port))(VanillaRoutes(_)(routes).routes)
    server.mainAddress.getPort
  }
