package tare.netty

import scala.concurrent.duration.*

import sttp.tapir.server.netty.NettyConfig

import tare.Launch

/** What all of Tapir's servers on Netty run with: its own defaults, except where a comment says why not. */
object Settings:
  def apply(port: Int): NettyConfig =
    NettyConfig.default
      .host(Launch.Host)
      .port(port)
      // A connection rests while it is the other servers' turn; the default of a minute would close it meanwhile.
      .idleTimeout(10.minutes)
