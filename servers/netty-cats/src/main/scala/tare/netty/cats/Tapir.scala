package tare.netty.cats

import cats.effect.IO
import cats.effect.std.Dispatcher
import cats.effect.unsafe.implicits.global
import sttp.tapir.server.netty.cats.{NettyCatsServer, NettyCatsServerOptions}

import tare.{Answers, Endpoints, Launch}
import tare.netty.Settings

/** Netty by Tapir, whose logic is an `IO`. `Tapir` has Tapir's default interceptors except the server log. */
object Tapir extends CatsServer(1, CatsServer.withoutLog)

object TapirMulti extends CatsServer(Answers.MultiRoutes, CatsServer.withoutLog)

object TapirInterceptor extends CatsServer(1, NettyCatsServerOptions.default[IO](_))

object TapirInterceptorMulti extends CatsServer(Answers.MultiRoutes, NettyCatsServerOptions.default[IO](_))

abstract class CatsServer(routes: Int, options: Dispatcher[IO] => NettyCatsServerOptions[IO]):

  def main(args: Array[String]): Unit = Launch.serve(args) { port =>
    val (dispatcher, _) = Dispatcher.parallel[IO].allocated.unsafeRunSync()
    val server = NettyCatsServer[IO](
      options(dispatcher),
      Settings(port)
    ).addEndpoints(Endpoints.all[IO](routes) ++ PushEndpoints.all)
    server.start().unsafeRunSync().port
  }

object CatsServer:
  def withoutLog(dispatcher: Dispatcher[IO]): NettyCatsServerOptions[IO] =
    NettyCatsServerOptions.customiseInterceptors[IO](dispatcher).serverLog(None).options
