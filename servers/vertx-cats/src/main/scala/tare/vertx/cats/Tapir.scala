package tare.vertx.cats

import cats.effect.IO
import cats.effect.std.Dispatcher
import cats.effect.unsafe.implicits.global
import fs2.Stream
import io.vertx.core.Vertx
import io.vertx.ext.web.Router
import sttp.capabilities.WebSockets
import sttp.capabilities.fs2.Fs2Streams
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.vertx.cats.{VertxCatsServerInterpreter, VertxCatsServerOptions}

import tare.{Answers, Endpoints, PushEndpoint, Timestamps}
import tare.vertx.VertxServer

/** Vert.x wrapped by Tapir, whose logic is an `IO`. `Tapir` has Tapir's default interceptors except the server log. */
object Tapir extends VertxServer(TapirRoutes(1, TapirRoutes.withoutLog))

object TapirMulti extends VertxServer(TapirRoutes(Answers.MultiRoutes, TapirRoutes.withoutLog))

object TapirInterceptor extends VertxServer(TapirRoutes(1, VertxCatsServerOptions.default[IO](_)))

object TapirInterceptorMulti
    extends VertxServer(TapirRoutes(Answers.MultiRoutes, VertxCatsServerOptions.default[IO](_)))

object TapirRoutes:
  def apply(routes: Int, options: Dispatcher[IO] => VertxCatsServerOptions[IO])(vertx: Vertx, router: Router): Unit =
    val (dispatcher, _) = Dispatcher.parallel[IO].allocated.unsafeRunSync()
    val interpreter = VertxCatsServerInterpreter[IO](options(dispatcher))
    Endpoints.all[IO](routes).foreach(endpoint => interpreter.route(endpoint)(router))
    pushEndpoints.foreach(endpoint => interpreter.route(endpoint)(router))

  private val pushEndpoints: List[ServerEndpoint[Fs2Streams[IO] & WebSockets, IO]] =
    Timestamps.all.map { (name, timestamp) =>
      val timestamps = Stream.awakeEvery[IO](Timestamps.Period).evalMap(_ => IO(timestamp()))
      PushEndpoint(Fs2Streams[IO])(name).serverLogicSuccess[IO](_ => IO.pure(in => timestamps.concurrently(in.drain)))
    }

  def withoutLog(dispatcher: Dispatcher[IO]): VertxCatsServerOptions[IO] =
    VertxCatsServerOptions.customiseInterceptors[IO](dispatcher).serverLog(None).options
