package tare.netty

import sttp.tapir.server.netty.NettyConfig

/** This Tapir sends no header of its own, and has no limit of time but that of a request. */
object Additions:
  def without(config: NettyConfig): NettyConfig = config
