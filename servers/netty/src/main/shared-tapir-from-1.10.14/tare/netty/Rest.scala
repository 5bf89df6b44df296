package tare.netty

import scala.concurrent.duration.*

import sttp.tapir.server.netty.NettyConfig

/** A connection rests while it is the other servers' turn; the default of a minute would close it meanwhile. */
object Rest:
  def allowed(config: NettyConfig): NettyConfig = config.idleTimeout(10.minutes)
