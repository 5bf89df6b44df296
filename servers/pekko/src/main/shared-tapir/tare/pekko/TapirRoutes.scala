package tare.pekko

import scala.concurrent.{ExecutionContext, Future}

import org.apache.pekko.actor.ActorSystem
import org.apache.pekko.http.scaladsl.server.Route
import sttp.tapir.server.pekkohttp.{PekkoHttpServerInterpreter, PekkoHttpServerOptions}

import tare.{Answers, Endpoints}

/** pekko-http wrapped by Tapir. */
object TapirRoutes {
  type Options = ExecutionContext => PekkoHttpServerOptions

  /** The routes of `/path0` to `/path{routes - 1}` and the others, interpreted once, before the server starts. */
  def apply(routes: Int, options: Options)(system: ActorSystem): Route = {
    implicit val executor: ExecutionContext = system.dispatcher
    PekkoHttpServerInterpreter(options(executor)).toRoute(Endpoints.served[Future](routes))
  }

  val default: Options = executor => PekkoHttpServerOptions.default(executor)

  val withoutLog: Options = executor => PekkoHttpServerOptions.customiseInterceptors(executor).serverLog(None).options
}
