package tare.vertx

import io.vertx.core.{Handler, Vertx}
import io.vertx.core.streams.ReadStream

import tare.Timestamps

/** A stream of timestamps by Vert.x's timer. Without a receiver or demand, a timestamp is dropped. */
final class TimestampStream(vertx: Vertx, timestamp: () => String) extends ReadStream[String]:
  // Tapir may request from a thread other than the timer's.
  @volatile private var demand = Long.MaxValue
  @volatile private var receiver: Option[Handler[String]] = None
  private val timer = vertx.setPeriodic(Timestamps.Period.toMillis, _ => tick())

  def cancel(): Unit = vertx.cancelTimer(timer)

  private def tick(): Unit =
    if demand > 0 then
      if demand < Long.MaxValue then demand -= 1
      receiver.foreach(_.handle(timestamp()))

  override def handler(handler: Handler[String]): ReadStream[String] =
    receiver = Option(handler)
    this

  override def fetch(amount: Long): ReadStream[String] =
    demand = if amount > Long.MaxValue - demand then Long.MaxValue else demand + amount
    this

  override def pause(): ReadStream[String] =
    demand = 0
    this

  override def resume(): ReadStream[String] = fetch(Long.MaxValue)

  // The stream neither ends nor fails.
  override def endHandler(handler: Handler[Void]): ReadStream[String] = this
  override def exceptionHandler(handler: Handler[Throwable]): ReadStream[String] = this

object TimestampStream:

  /** The pipe that Tapir expects, from the client's messages to the timestamps. The end of the messages stops the timer. */
  def pipe(vertx: Vertx, timestamp: () => String): ReadStream[String] => ReadStream[String] = incoming =>
    val timestamps = TimestampStream(vertx, timestamp)
    incoming.handler(_ => ()).endHandler(_ => timestamps.cancel())
    timestamps
