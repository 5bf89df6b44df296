package tare.akka

import akka.actor.Cancellable
import akka.stream.scaladsl.Source

import tare.Stamps

/** Akka's timer. */
object Ticks {
  def apply(stamp: () => String): Source[String, Cancellable] =
    Source.tick(Stamps.Period, Stamps.Period, ()).map(_ => stamp())
}
