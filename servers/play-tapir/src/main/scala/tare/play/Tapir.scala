package tare.play

import scala.concurrent.{ExecutionContext, Future}

import org.apache.pekko.stream.Materializer
import org.apache.pekko.stream.scaladsl.{Flow, Sink, Source}
import play.api.BuiltInComponents
import play.api.routing.Router
import play.core.server.{DefaultPekkoHttpServerComponents, ServerConfig}
import sttp.capabilities.WebSockets
import sttp.capabilities.pekko.PekkoStreams
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.play.{PlayServerInterpreter, PlayServerOptions}

import tare.{Answers, Endpoints, Launch, PushEndpoint, Timestamps}

/** Play wrapped by Tapir. `Tapir` has Tapir's default interceptors except the server log. */
object Tapir extends TapirPlayServer(1, TapirRoutes.withoutLog)

object TapirMulti extends TapirPlayServer(Answers.MultiRoutes, TapirRoutes.withoutLog)

object TapirInterceptor extends TapirPlayServer(1, TapirRoutes.default)

object TapirInterceptorMulti extends TapirPlayServer(Answers.MultiRoutes, TapirRoutes.default)

abstract class TapirPlayServer(routes: Int, options: TapirRoutes.Options):
  def main(args: Array[String]): Unit = Launch.serve(args) { port =>
    val components = new DefaultPekkoHttpServerComponents:
      override lazy val serverConfig: ServerConfig = Settings(port)
      // Built once. `fromRouterWithComponents` would build the routes anew for each request.
      override lazy val router: Router = Router.from(TapirRoutes(routes, options)(this))
    components.server.mainAddress.getPort
  }

object TapirRoutes:
  type Options = (Materializer, ExecutionContext) ?=> PlayServerOptions

  /** The routes of `/path0` to `/path{routes - 1}` and the others, interpreted once, before the server starts. */
  def apply(routes: Int, options: Options)(components: BuiltInComponents): Router.Routes =
    given Materializer = components.materializer
    given ExecutionContext = components.executionContext
    PlayServerInterpreter(options).toRoutes(Endpoints.all[Future](routes) ++ pushEndpoints)

  private val pushEndpoints: List[ServerEndpoint[PekkoStreams & WebSockets, Future]] =
    Timestamps.all.map { (name, timestamp) =>
      val timestamps = Source.tick(Timestamps.Period, Timestamps.Period, ()).map(_ => timestamp())
      val logic: PekkoStreams.Pipe[String, String] = Flow.fromSinkAndSource(Sink.ignore, timestamps)
      PushEndpoint(PekkoStreams)(name).serverLogicSuccess[Future](_ => Future.successful(logic))
    }

  val default: Options = PlayServerOptions.default

  val withoutLog: Options = PlayServerOptions.customiseInterceptors().serverLog(None).options
