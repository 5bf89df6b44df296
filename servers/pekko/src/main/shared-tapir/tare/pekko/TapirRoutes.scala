package tare.pekko

import scala.concurrent.{ExecutionContext, Future}

import org.apache.pekko.actor.ActorSystem
import org.apache.pekko.http.scaladsl.server.Route
import org.apache.pekko.stream.scaladsl.{Flow, Sink}
import sttp.capabilities.WebSockets
import sttp.capabilities.pekko.PekkoStreams
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.pekkohttp.{PekkoHttpServerInterpreter, PekkoHttpServerOptions}

import tare.{Answers, Endpoints, PushEndpoint, Timestamps}

/** pekko-http wrapped by Tapir. */
object TapirRoutes {
  type Options = ExecutionContext => PekkoHttpServerOptions

  /** The routes of `/path0` to `/path{routes - 1}` and the others, interpreted once, before the server starts. */
  def apply(routes: Int, options: Options)(system: ActorSystem): Route = {
    implicit val executor: ExecutionContext = system.dispatcher
    PekkoHttpServerInterpreter(options(executor)).toRoute(Endpoints.all[Future](routes) ++ pushEndpoints)
  }

  private val pushEndpoints: List[ServerEndpoint[PekkoStreams with WebSockets, Future]] =
    Timestamps.all.map { case (name, timestamp) =>
      val logic: PekkoStreams.Pipe[String, String] = Flow.fromSinkAndSource(Sink.ignore, TimestampStream(timestamp))
      PushEndpoint(PekkoStreams)(name).serverLogicSuccess[Future](_ => Future.successful(logic))
    }

  val default: Options = executor => PekkoHttpServerOptions.default(executor)

  val withoutLog: Options = executor => PekkoHttpServerOptions.customiseInterceptors(executor).serverLog(None).options
}
