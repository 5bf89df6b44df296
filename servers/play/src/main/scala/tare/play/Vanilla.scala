package tare.play

import play.api.routing.Router
import play.core.server.{DefaultPekkoHttpServerComponents, ServerConfig}

import tare.{Answers, Launch}

/** The baselines: Play alone, on its default back end. */
object Vanilla extends PekkoPlayServer(1)

object VanillaMulti extends PekkoPlayServer(Answers.MultiRoutes)

abstract class PekkoPlayServer(routes: Int):
  def main(args: Array[String]): Unit = Launch.serve(args) { port =>
    val components = new DefaultPekkoHttpServerComponents:
      override lazy val serverConfig: ServerConfig = Settings(port)
      // Built once. `fromRouterWithComponents` would build the routes anew for each request.
      override lazy val router: Router = VanillaRoutes(this)(routes)
    components.server.mainAddress.getPort
  }
