package tare.netty

import sttp.tapir.server.netty.NettyConfig

/** What this Tapir adds by default and the bare server lacks: a limit of a connection's idle time, and a header with
  * Tapir's version.
  */
object Additions:
  def without(config: NettyConfig): NettyConfig = config.copy(idleTimeout = None, serverHeader = None)
