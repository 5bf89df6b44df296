package tare.netty

import sttp.tapir.server.netty.NettyConfig

/** This Tapir has no limit for how long a connection may rest. */
object Rest:
  def allowed(config: NettyConfig): NettyConfig = config
