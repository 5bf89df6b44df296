package tare.http4s

import cats.effect.IO
import fs2.io.file.{Files, Path}
import org.http4s.{EntityDecoder, EntityEncoder, HttpApp, HttpRoutes, MessageFailure, Request, Response}
import org.http4s.circe.{jsonEncoderOf, jsonOf}
import org.http4s.dsl.io.*
import org.http4s.server.middleware.EntityLimiter
import org.http4s.server.middleware.EntityLimiter.EntityTooLarge

import tare.{Answers, Message, Order}

/** The baselines: http4s alone, written with its routes and its DSL. */
object Vanilla extends EmberServer(VanillaRoutes(1), VanillaWebSockets(_))

object VanillaMulti extends EmberServer(VanillaRoutes(Answers.MultiRoutes), VanillaWebSockets(_))

object VanillaRoutes:
  type Routes = PartialFunction[Request[IO], IO[Response[IO]]]

  /** The routes of `/path0` to `/path{routes - 1}`, then the others and `more`, tried one after another as http4s does.
    *
    * They are one service. Each service more would cost every request, also one that another service answers.
    */
  def apply(routes: Int, more: Routes = PartialFunction.empty): HttpRoutes[IO] =
    HttpRoutes.of[IO]((List.range(0, routes).map(route) :+ others :+ more).reduceLeft(_ orElse _))

  private def route(n: Int): Routes =
    val path = s"path$n"
    val pathBytes = s"pathBytes$n"

    {
      case GET -> Root / `path` / IntVar(id) => Ok(Answers.get(n, id))
      case request @ POST -> Root / `path`   =>
        limited(request)(_.as[String].flatMap(body => Ok(Answers.postString(n, body))))
      case request @ POST -> Root / `pathBytes` =>
        limited(request)(_.as[Array[Byte]].flatMap(body => Ok(Answers.postBytes(n, body))))
    }

  private given EntityEncoder[IO, Message] = jsonEncoderOf
  private given EntityEncoder[IO, Order] = jsonEncoderOf
  private given EntityDecoder[IO, Order] = jsonOf

  private val others: Routes = {
    case GET -> Root / "text"            => Ok(Answers.Text)
    case GET -> Root / "json"            => Ok(Message(Answers.Text))
    case request @ POST -> Root / "echo" => limited(request)(_.as[Order].flatMap(order => Ok(order)))
    case request @ POST -> Root / "file" => limited(request)(upload)
  }

  private def upload(request: Request[IO]): IO[Response[IO]] =
    for
      file <- IO.blocking(Answers.emptyFile())
      _ <- request.body.through(Files[IO].writeAll(Path.fromNioPath(file.toPath))).compile.drain
      response <- Ok(Answers.upload(file))
    yield response

  /** Answers 413 to a body over the limit, and 4xx to one that cannot be decoded.
    *
    * Only routes with a body have a limit, as with Tapir. It would cost every request of a service that has one.
    */
  private def limited(request: Request[IO])(answer: Request[IO] => IO[Response[IO]]): IO[Response[IO]] =
    EntityLimiter.httpApp(HttpApp[IO](answer), Answers.MaxBodyBytes.toLong).run(request).recoverWith {
      case EntityTooLarge(_)       => PayloadTooLarge()
      case failure: MessageFailure => IO.pure(failure.toHttpResponse[IO](request.httpVersion))
    }
