package tare.akka

import akka.actor.Cancellable
import akka.stream.scaladsl.Source

import tare.Timestamps

/** Akka's timer. */
object TimestampStream {
  def apply(timestamp: () => String): Source[String, Cancellable] =
    Source.tick(Timestamps.Period, Timestamps.Period, ()).map(_ => timestamp())
}
