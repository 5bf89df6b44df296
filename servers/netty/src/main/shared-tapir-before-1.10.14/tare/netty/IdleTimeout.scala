package tare.netty

import sttp.tapir.server.netty.NettyConfig

/** This Tapir does not limit the idle time of a connection. */
object IdleTimeout:
  def extend(config: NettyConfig): NettyConfig = config
