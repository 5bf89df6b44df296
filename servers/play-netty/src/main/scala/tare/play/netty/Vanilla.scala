package tare.play.netty

import play.api.routing.Router
import play.core.server.{DefaultNettyServerComponents, ServerConfig}

import tare.{Answers, Launch}
import tare.play.{Settings, VanillaRoutes}

/** Play alone, on its Netty back end. */
object Vanilla extends NettyPlayServer(1)

object VanillaMulti extends NettyPlayServer(Answers.MultiRoutes)

abstract class NettyPlayServer(routes: Int):
  def main(args: Array[String]): Unit = Launch.serve(args) { port =>
    val components = new DefaultNettyServerComponents:
      override lazy val serverConfig: ServerConfig = Settings(port)
      // Built once. `fromRouterWithComponents` would build the routes anew for each request.
      override lazy val router: Router = VanillaRoutes(this)(routes)
    components.server.mainAddress.getPort
  }
