package tare.netty

import io.netty.util.NetUtil
import sttp.tapir.server.netty.{NettyConfig, NettySocketConfig}

import tare.Launch

/** The settings of all of Tapir's servers on Netty: its defaults, except where a comment gives the reason. */
object Settings:
  def apply(port: Int): NettyConfig =
    IdleTimeout.extend(
      NettyConfig.default
        .host(Launch.Host)
        .port(port)
        // Netty's own defaults, as on the bare server. Tapir lets 128 connections wait to be accepted, and the end of an
        // answer that needs more than one segment wait until the client has confirmed the others.
        .socketBacklog(NetUtil.SOMAXCONN)
        .socketConfig(NettySocketConfig.default.withTcpNoDelay)
    )
