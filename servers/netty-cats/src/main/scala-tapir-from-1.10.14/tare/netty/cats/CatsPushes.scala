package tare.netty.cats

import cats.effect.IO
import fs2.Stream
import sttp.capabilities.WebSockets
import sttp.capabilities.fs2.Fs2Streams
import sttp.tapir.server.ServerEndpoint

import tare.{Pushes, Stamps}

/** The pushed messages, by fs2's timer; messages from the client are read and discarded. */
object CatsPushes:
  val all: List[ServerEndpoint[Fs2Streams[IO] & WebSockets, IO]] =
    Stamps.all.map { (name, stamp) =>
      val ticks = Stream.awakeEvery[IO](Stamps.Period).evalMap(_ => IO(stamp()))
      Pushes.described(Fs2Streams[IO])(name).serverLogicSuccess[IO](_ => IO.pure(in => ticks.concurrently(in.drain)))
    }
