package tare.zio

import zio.{Duration, Schedule, ZIO}
import zio.stream.ZStream

import tare.Timestamps

/** ZIO's timer. */
object TimestampStream:
  def apply(timestamp: () => String): ZStream[Any, Nothing, String] =
    ZStream.fromSchedule(Schedule.fixed(Duration.fromScala(Timestamps.Period))).mapZIO(_ => ZIO.succeed(timestamp()))
