package tare.netty.cats

import cats.effect.IO
import sttp.tapir.server.ServerEndpoint

/** This Tapir has no WebSockets on Netty. */
object PushEndpoints:
  val all: List[ServerEndpoint[Any, IO]] = Nil
