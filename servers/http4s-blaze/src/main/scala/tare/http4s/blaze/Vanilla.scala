package tare.http4s.blaze

import cats.effect.IO
import fs2.io.file.{Files, Path => FilePath}
import io.circe.parser.decode
import io.circe.syntax._
import org.http4s.Uri.Path
import org.http4s.headers.`Content-Type`
import org.http4s.server.middleware.EntityLimiter
import org.http4s.server.middleware.EntityLimiter.EntityTooLarge
import org.http4s.{HttpApp, HttpRoutes, MediaType, Method, Request, Response, Status}

import tare.{Answers, Message, Order}

/** http4s on blaze, its former back end. The DSL exists for later versions only, so the routes match plain paths. */
object Vanilla extends BlazeServer(VanillaRoutes(1), VanillaWebSockets(_))

object VanillaMulti extends BlazeServer(VanillaRoutes(Answers.MultiRoutes), VanillaWebSockets(_))

/** Matches a request by its method and its path. */
object MethodAndPath {
  def unapply(request: Request[IO]): Some[(Method, Path)] = Some((request.method, request.pathInfo))
}

/** Matches a path by its segments. As with the DSL, those of another method's routes are not decoded. */
object Segments {
  def unapplySeq(path: Path): Some[List[String]] =
    Some(path.segments.map(_.decoded()).toList ++ (if (path.endsWithSlash) List("") else Nil))
}

object VanillaRoutes {
  private type Routes = PartialFunction[Request[IO], IO[Response[IO]]]

  /** The routes of `/path0` to `/path{routes - 1}`, then the others, tried one after another as http4s does.
    *
    * They are one service. Each service more would cost every request, also one that another service answers.
    */
  def apply(routes: Int): HttpRoutes[IO] =
    HttpRoutes.of[IO]((List.range(0, routes).map(route) :+ others).reduceLeft(_ orElse _))

  private object Number {
    def unapply(text: String): Option[Int] = text.toIntOption
  }

  private def route(n: Int): Routes = {
    val path = s"path$n"
    val pathBytes = s"pathBytes$n"

    {
      case MethodAndPath(Method.GET, Segments(`path`, Number(id))) => text(Answers.get(n, id))
      case request @ MethodAndPath(Method.POST, Segments(`path`))  =>
        limited(request)(_.as[String].flatMap(body => text(Answers.postString(n, body))))
      case request @ MethodAndPath(Method.POST, Segments(`pathBytes`)) =>
        limited(request)(_.as[Array[Byte]].flatMap(body => text(Answers.postBytes(n, body))))
    }
  }

  private val others: Routes = {
    case MethodAndPath(Method.GET, Segments("text"))            => text(Answers.Text)
    case MethodAndPath(Method.GET, Segments("json"))            => json(Message(Answers.Text).asJson.noSpaces)
    case request @ MethodAndPath(Method.POST, Segments("echo")) => limited(request)(_.as[String].flatMap(echo))
    case request @ MethodAndPath(Method.POST, Segments("file")) => limited(request)(upload)
  }

  private def text(body: String): IO[Response[IO]] = IO.pure(Response[IO]().withEntity(body))

  private def json(body: String): IO[Response[IO]] =
    text(body).map(_.withContentType(`Content-Type`(MediaType.application.json)))

  private def echo(body: String): IO[Response[IO]] =
    decode[Order](body).fold(_ => IO.pure(Response[IO](Status.BadRequest)), order => json(order.asJson.noSpaces))

  private def upload(request: Request[IO]): IO[Response[IO]] =
    for {
      file <- IO.blocking(Answers.emptyFile())
      _ <- request.body.through(Files[IO].writeAll(FilePath.fromNioPath(file.toPath))).compile.drain
      response <- text(Answers.upload(file))
    } yield response

  /** Answers 413 to a body over the limit.
    *
    * Only routes with a body have a limit, as with Tapir. It would cost every request of a service that has one.
    */
  private def limited(request: Request[IO])(answer: Request[IO] => IO[Response[IO]]): IO[Response[IO]] =
    EntityLimiter.httpApp(HttpApp[IO](answer), Answers.MaxBodyBytes.toLong).run(request).recoverWith {
      case EntityTooLarge(_) => IO.pure(Response[IO](Status.PayloadTooLarge))
    }
}
