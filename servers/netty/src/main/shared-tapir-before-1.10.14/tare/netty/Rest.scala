package tare.netty

import sttp.tapir.server.netty.NettyConfig

/** This Tapir does not limit the idle time of a connection. */
object Rest:
  def allowed(config: NettyConfig): NettyConfig = config
