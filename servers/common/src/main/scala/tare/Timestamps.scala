package tare

import java.time.Instant

import scala.concurrent.duration._

/** The messages that WebSockets push every [[Period]]: the time since 1970 by the server's clock, as text. */
object Timestamps {

  /** The time from one timestamp to the next. Each library uses its own timer or stream. */
  val Period: FiniteDuration = 100.millis

  /** The paths below `/ws`, each with a function that makes the next message. */
  val all: List[(String, () => String)] = List(
    "ts" -> (() => System.currentTimeMillis.toString),
    "ts-ns" -> (() => nanos(Instant.now()).toString)
  )

  private def nanos(time: Instant): Long = time.getEpochSecond * 1000000000L + time.getNano
}
