package tare.http4s.blaze

import cats.effect.IO
import fs2.Stream

import tare.Timestamps

/** fs2's timer. */
object TimestampStream {
  def apply(timestamp: () => String): Stream[IO, String] =
    Stream.awakeEvery[IO](Timestamps.Period).evalMap(_ => IO(timestamp()))
}
