package tare.http4s.ladder

import cats.effect.IO
import org.http4s.MediaType
import org.http4s.dsl.io.*
import org.http4s.headers.`Content-Type`
import sttp.tapir.server.http4s.{Http4sServerInterpreter, Http4sServerOptions}

import tare.{Answers, Ladder}
import tare.http4s.{EmberServer, TapirRoutes, TapirWebSockets, VanillaRoutes, VanillaWebSockets}

/** http4s alone. */
object Bare extends EmberServer(VanillaRoutes(1, Step.document), VanillaWebSockets(_))

/** Tapir with one route and no interceptor. */
object Route extends Step(1, encoded = false, Step.withoutInterceptors)

/** 128 routes; the last one serves the document. */
object Routes extends Step(Answers.MultiRoutes, encoded = false, Step.withoutInterceptors)

/** The document is encoded for each request. The steps before send ready-made text. */
object Json extends Step(Answers.MultiRoutes, encoded = true, Step.withoutInterceptors)

/** Tapir's default interceptors except the server log. */
object Interceptors extends Step(Answers.MultiRoutes, encoded = true, TapirRoutes.withoutLog)

/** All default interceptors. */
object ServerLog extends Step(Answers.MultiRoutes, encoded = true, TapirRoutes.default)

abstract class Step(routes: Int, encoded: Boolean, options: Http4sServerOptions[IO])
    extends EmberServer(
      Http4sServerInterpreter[IO](options).toRoutes(Ladder.endpoints[IO](routes, encoded)),
      TapirWebSockets(options)
    )

object Step:
  val withoutInterceptors: Http4sServerOptions[IO] = TapirRoutes.default.copy(interceptors = Nil)

  val document: VanillaRoutes.Routes = { case GET -> Root / "ladder" =>
    Ok(Ladder.Text, `Content-Type`(MediaType.application.json))
  }
