package tare.nima

import io.helidon.webserver.websocket.WsRouting
import io.helidon.websocket.{WsListener, WsSession}

import tare.Timestamps

/** The WebSockets of Helidon's web server alone: one virtual thread for each, which sleeps from timestamp to timestamp. */
object WebSocketListener:
  def routing: WsRouting.Builder =
    val routing = WsRouting.builder()
    for (name, timestamp) <- Timestamps.all do routing.endpoint(s"/ws/$name", () => WebSocketListener(timestamp))
    routing

/** Pushes `timestamp` while the connection is open. Messages from the client are discarded. */
final class WebSocketListener(timestamp: () => String) extends WsListener:

  private var pusher: Option[Thread] = None

  override def onOpen(session: WsSession): Unit = pusher = Some(Thread.startVirtualThread(() => push(session)))

  override def onClose(session: WsSession, status: Int, reason: String): Unit = pusher.foreach(_.interrupt())

  override def onError(session: WsSession, error: Throwable): Unit = pusher.foreach(_.interrupt())

  /** Each timestamp is due one period after the due time of the previous one, so errors do not accumulate. */
  private def push(session: WsSession): Unit =
    val period = Timestamps.Period.toNanos
    var due = System.nanoTime + period
    try
      while true do
        Thread.sleep(java.time.Duration.ofNanos(due - System.nanoTime))
        session.send(timestamp(), true)
        due += period
    catch case _: InterruptedException => ()
