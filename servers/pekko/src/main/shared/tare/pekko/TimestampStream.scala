package tare.pekko

import org.apache.pekko.actor.Cancellable
import org.apache.pekko.stream.scaladsl.Source

import tare.Timestamps

/** Pekko's timer. */
object TimestampStream {
  def apply(timestamp: () => String): Source[String, Cancellable] =
    Source.tick(Timestamps.Period, Timestamps.Period, ()).map(_ => timestamp())
}
