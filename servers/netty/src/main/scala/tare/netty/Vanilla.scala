package tare.netty

import tare.Answers

/** The floor beneath every server on Netty: its HTTP codec, bare. Netty brings no router, so a map finds the route. */
object Vanilla extends NettyServer(VanillaRoutes(1))

object VanillaMulti extends NettyServer(VanillaRoutes(Answers.MultiRoutes))
