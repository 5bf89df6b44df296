package tare.play

import play.core.server.PekkoHttpServer

import tare.{Answers, Launch}

/** The baselines: Play alone, on its default back end. */
object Vanilla extends PekkoPlayServer(1)

object VanillaMulti extends PekkoPlayServer(Answers.MultiRoutes)

abstract class PekkoPlayServer(routes: Int):
  def main(args: Array[String]): Unit = Launch.serve(args) { port =>
    val server = PekkoHttpServer.fromRouterWithComponents(Settings(port))(VanillaRoutes(_)(routes).routes)
    server.mainAddress.getPort
  }
