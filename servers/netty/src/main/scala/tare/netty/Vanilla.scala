package tare.netty

import tare.Answers

/** The baseline of every server on Netty: its HTTP codec alone. Netty has no router, so a map finds the route. */
object Vanilla extends NettyServer(VanillaRoutes(1))

object VanillaMulti extends NettyServer(VanillaRoutes(Answers.MultiRoutes))
