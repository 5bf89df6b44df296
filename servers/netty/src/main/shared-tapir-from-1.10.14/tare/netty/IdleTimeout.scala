package tare.netty

import scala.concurrent.duration.*

import sttp.tapir.server.netty.NettyConfig

/** A connection is idle while other servers have their turn. The default limit of one minute would close it. */
object IdleTimeout:
  def extend(config: NettyConfig): NettyConfig = config.idleTimeout(10.minutes)
