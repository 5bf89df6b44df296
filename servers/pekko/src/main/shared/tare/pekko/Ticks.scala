package tare.pekko

import org.apache.pekko.actor.Cancellable
import org.apache.pekko.stream.scaladsl.Source

import tare.Stamps

/** Pekko's timer. */
object Ticks {
  def apply(stamp: () => String): Source[String, Cancellable] =
    Source.tick(Stamps.Period, Stamps.Period, ()).map(_ => stamp())
}
