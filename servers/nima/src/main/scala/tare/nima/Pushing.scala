package tare.nima

import io.helidon.webserver.websocket.WsRouting
import io.helidon.websocket.{WsListener, WsSession}

import tare.Stamps

/** The WebSockets of Helidon's web server alone: one virtual thread for each, which sleeps from stamp to stamp. */
object Pushing:
  def routing: WsRouting.Builder =
    val routing = WsRouting.builder()
    for (name, stamp) <- Stamps.all do routing.endpoint(s"/ws/$name", () => Pushing(stamp))
    routing

/** Pushes `stamp` while the connection is open. Messages from the client are discarded. */
final class Pushing(stamp: () => String) extends WsListener:

  private var ticks: Option[Thread] = None

  override def onOpen(session: WsSession): Unit = ticks = Some(Thread.startVirtualThread(() => push(session)))

  override def onClose(session: WsSession, status: Int, reason: String): Unit = ticks.foreach(_.interrupt())

  override def onError(session: WsSession, error: Throwable): Unit = ticks.foreach(_.interrupt())

  /** Each stamp is due one period after the due time of the previous one, so errors do not accumulate. */
  private def push(session: WsSession): Unit =
    val period = Stamps.Period.toNanos
    var due = System.nanoTime + period
    try
      while true do
        Thread.sleep(java.time.Duration.ofNanos(due - System.nanoTime))
        session.send(stamp(), true)
        due += period
    catch case _: InterruptedException => ()
