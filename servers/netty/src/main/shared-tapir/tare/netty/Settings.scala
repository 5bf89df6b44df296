package tare.netty

import sttp.tapir.server.netty.NettyConfig

import tare.Launch

/** The settings of all of Tapir's servers on Netty: its defaults, except that connections may be idle. */
object Settings:
  def apply(port: Int): NettyConfig = IdleTimeout.extend(NettyConfig.default.host(Launch.Host).port(port))
