package tare.netty

import io.netty.util.NetUtil
import sttp.tapir.server.netty.{NettyConfig, NettySocketConfig}

import tare.Launch

/** The settings of all of Tapir's servers on Netty: its defaults, except where a comment gives the reason. */
object Settings:
  def apply(port: Int): NettyConfig =
    Additions.without(
      NettyConfig.default
        .host(Launch.Host)
        .port(port)
        // Netty's own defaults, as on the bare server. Tapir lets 128 connections wait to be accepted, and the end of
        // an answer that needs more than one segment wait until the client has confirmed the others.
        .socketBacklog(NetUtil.SOMAXCONN)
        .socketConfig(NettySocketConfig.default.withTcpNoDelay)
        // The bare server has no limit. By default Tapir puts a handler with a timer into the pipeline for each
        // request. Before 1.10.14 it closes a connection that is idle for 20 seconds, while other servers have their
        // turn.
        .copy(requestTimeout = None)
    )
