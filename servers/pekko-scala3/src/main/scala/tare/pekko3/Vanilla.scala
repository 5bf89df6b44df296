package tare.pekko3

import tare.Answers
import tare.pekko.{PekkoServer, VanillaRoutes}

/** The baselines: pekko-http alone, on Scala 3. */
object Vanilla extends PekkoServer(_ => VanillaRoutes(1))

object VanillaMulti extends PekkoServer(_ => VanillaRoutes(Answers.MultiRoutes))
