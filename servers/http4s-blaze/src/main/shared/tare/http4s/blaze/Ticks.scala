package tare.http4s.blaze

import cats.effect.IO
import fs2.Stream

import tare.Stamps

/** fs2's timer. */
object Ticks {
  def apply(stamp: () => String): Stream[IO, String] =
    Stream.awakeEvery[IO](Stamps.Period).evalMap(_ => IO(stamp()))
}
