package tare.play

import scala.concurrent.{ExecutionContext, Future}

import org.apache.pekko.stream.Materializer
import play.api.BuiltInComponents
import play.api.mvc.{DefaultActionBuilder, PlayBodyParsers}
import play.api.routing.Router
import play.core.server.PekkoHttpServer
import sttp.tapir.server.play.{PlayServerInterpreter, PlayServerOptions}

import tare.{Answers, Endpoints, Launch}

/** Play wrapped by Tapir. Without an interceptor: Tapir's default ones but for the server log. */
object Tapir extends TapirPlayServer(1, TapirRoutes.withoutLog)

object TapirMulti extends TapirPlayServer(Answers.MultiRoutes, TapirRoutes.withoutLog)

object TapirInterceptor extends TapirPlayServer(1, TapirRoutes.default)

object TapirInterceptorMulti extends TapirPlayServer(Answers.MultiRoutes, TapirRoutes.default)

abstract class TapirPlayServer(routes: Int, options: TapirRoutes.Options):
  def main(args: Array[String]): Unit = Launch.serve(args) { port =>
    val server = PekkoHttpServer.fromRouterWithComponents(Settings(port))(TapirRoutes(routes, options))
    server.mainAddress.getPort
  }

object TapirRoutes:
  type Options = (DefaultActionBuilder, PlayBodyParsers) => ExecutionContext ?=> PlayServerOptions

  /** Interpreted once, before the server starts: Play asks for `routes` anew with each request. */
  def apply(routes: Int, options: Options)(components: BuiltInComponents): Router.Routes =
    given Materializer = components.materializer
    given ExecutionContext = components.executionContext
    val chosen = options(components.defaultActionBuilder, components.playBodyParsers)
    PlayServerInterpreter(chosen).toRoutes(Endpoints.served[Future](routes))

  val default: Options = (action, parsers) => PlayServerOptions.default(action, parsers)

  val withoutLog: Options = (action, parsers) =>
    PlayServerOptions.customiseInterceptors(action, parsers).serverLog(None).options
