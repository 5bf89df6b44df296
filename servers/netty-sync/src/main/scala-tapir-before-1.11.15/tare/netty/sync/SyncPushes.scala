package tare.netty.sync

import sttp.shared.Identity
import sttp.tapir.server.ServerEndpoint

/** The streams of this Tapir are not those of the version of ox that it is built with here. */
object SyncPushes:
  val all: List[ServerEndpoint[Any, Identity]] = Nil
