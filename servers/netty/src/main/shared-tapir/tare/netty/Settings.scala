package tare.netty

import sttp.tapir.server.netty.NettyConfig

import tare.Launch

/** What all of Tapir's servers on Netty run with: its own defaults, except that connections may rest. */
object Settings:
  def apply(port: Int): NettyConfig = Rest.allowed(NettyConfig.default.host(Launch.Host).port(port))
