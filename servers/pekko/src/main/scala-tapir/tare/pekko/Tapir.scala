package tare.pekko

import tare.Answers

/** pekko-http wrapped by Tapir. `Tapir` has Tapir's default interceptors except the server log. */
object Tapir extends PekkoServer(TapirRoutes(1, TapirRoutes.withoutLog))

object TapirMulti extends PekkoServer(TapirRoutes(Answers.MultiRoutes, TapirRoutes.withoutLog))

object TapirInterceptor extends PekkoServer(TapirRoutes(1, TapirRoutes.default))

object TapirInterceptorMulti extends PekkoServer(TapirRoutes(Answers.MultiRoutes, TapirRoutes.default))
