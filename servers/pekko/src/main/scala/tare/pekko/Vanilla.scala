package tare.pekko

import tare.Answers

/** The baselines: pekko-http alone, with its routing DSL. */
object Vanilla extends PekkoServer(_ => VanillaRoutes(1))

object VanillaMulti extends PekkoServer(_ => VanillaRoutes(Answers.MultiRoutes))
