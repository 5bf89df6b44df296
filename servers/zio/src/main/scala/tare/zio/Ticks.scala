package tare.zio

import zio.{Duration, Schedule, ZIO}
import zio.stream.ZStream

import tare.Stamps

/** ZIO's timer. */
object Ticks:
  def apply(stamp: () => String): ZStream[Any, Nothing, String] =
    ZStream.fromSchedule(Schedule.fixed(Duration.fromScala(Stamps.Period))).mapZIO(_ => ZIO.succeed(stamp()))
