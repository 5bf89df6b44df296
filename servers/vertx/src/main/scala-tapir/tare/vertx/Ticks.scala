package tare.vertx

import io.vertx.core.{Handler, Vertx}
import io.vertx.core.streams.ReadStream

import tare.Stamps

/** A stream of stamps by Vert.x's timer. Without a receiver or demand, a stamp is dropped. */
final class Ticks(vertx: Vertx, stamp: () => String) extends ReadStream[String]:
  // Tapir may request from a thread other than the timer's.
  @volatile private var demand = Long.MaxValue
  @volatile private var receiver: Option[Handler[String]] = None
  private val timer = vertx.setPeriodic(Stamps.Period.toMillis, _ => tick())

  def cancel(): Unit = vertx.cancelTimer(timer)

  private def tick(): Unit =
    if demand > 0 then
      if demand < Long.MaxValue then demand -= 1
      receiver.foreach(_.handle(stamp()))

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

object Ticks:

  /** The pipe that Tapir expects, from the client's messages to the stamps. The end of the messages stops the timer. */
  def pushed(vertx: Vertx, stamp: () => String): ReadStream[String] => ReadStream[String] = incoming =>
    val ticks = Ticks(vertx, stamp)
    incoming.handler(_ => ()).endHandler(_ => ticks.cancel())
    ticks
