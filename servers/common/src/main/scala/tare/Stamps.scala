package tare

import java.time.Instant

import scala.concurrent.duration._

/** What a WebSocket is sent every [[Period]]: the time since 1970 by the server's clock, as text. */
object Stamps {

  /** The time from one stamp to the next; each library keeps it by its own timer or stream. */
  val Period: FiniteDuration = 100.millis

  /** A path below `/ws` with what is pushed there, read anew for each message. */
  val all: List[(String, () => String)] = List(
    "ts" -> (() => System.currentTimeMillis.toString),
    "ts-ns" -> (() => nanos(Instant.now()).toString)
  )

  private def nanos(time: Instant): Long = time.getEpochSecond * 1000000000L + time.getNano
}
