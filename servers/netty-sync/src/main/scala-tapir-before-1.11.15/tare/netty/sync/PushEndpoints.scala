package tare.netty.sync

import sttp.shared.Identity
import sttp.tapir.server.ServerEndpoint

/** No WebSockets: this Tapir needs the streams of another version of ox than the one that is built here. */
object PushEndpoints:
  val all: List[ServerEndpoint[Any, Identity]] = Nil
