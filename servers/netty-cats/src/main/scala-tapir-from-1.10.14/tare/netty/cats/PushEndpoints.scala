package tare.netty.cats

import cats.effect.IO
import fs2.Stream
import sttp.capabilities.WebSockets
import sttp.capabilities.fs2.Fs2Streams
import sttp.tapir.server.ServerEndpoint

import tare.{PushEndpoint, Timestamps}

/** The pushed messages, by fs2's timer; messages from the client are read and discarded. */
object PushEndpoints:
  val all: List[ServerEndpoint[Fs2Streams[IO] & WebSockets, IO]] =
    Timestamps.all.map { (name, timestamp) =>
      val timestamps = Stream.awakeEvery[IO](Timestamps.Period).evalMap(_ => IO(timestamp()))
      PushEndpoint(Fs2Streams[IO])(name).serverLogicSuccess[IO](_ => IO.pure(in => timestamps.concurrently(in.drain)))
    }
