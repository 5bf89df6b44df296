package tare.zio

import zio.*
import zio.http.{Response, Routes, Server}
import zio.http.Server.RequestStreaming

import tare.{Answers, Launch}

/** Serves `routes` by ZIO HTTP, with the same settings on both sides of a comparison: its own defaults, except where a
  * comment gives the reason.
  */
abstract class ZioServer(routes: Routes[Any, Response]):

  def main(args: Array[String]): Unit = Launch.serve(args)(listen)

  private def listen(port: Int): Int =
    val config = Server.Config.default
      .binding(Launch.Host, port)
      // A handler gets the whole body, up to the limit.
      .requestStreaming(RequestStreaming.Disabled(Answers.MaxBodyBytes))
    val started =
      for
        scope <- Scope.make
        environment <- (ZLayer.succeed(config) >>> Server.live).build(scope)
        bound <- Server.install(routes).provideEnvironment(environment)
      yield bound
    Unsafe.unsafe(implicit unsafe => Runtime.default.unsafe.run(started).getOrThrowFiberFailure())
