package tare.http4s

import cats.effect.IO
import cats.syntax.all.*
import org.http4s.HttpRoutes
import org.http4s.dsl.io.*

import tare.Answers

/** The baselines: http4s alone, written with its routes and its DSL. */
object Vanilla extends EmberServer(VanillaRoutes(1))

object VanillaMulti extends EmberServer(VanillaRoutes(Answers.MultiRoutes))

object VanillaRoutes:

  /** The routes of `/path0` to `/path{routes - 1}`, tried one after another as http4s does. */
  def apply(routes: Int): HttpRoutes[IO] = List.range(0, routes).map(route).reduceLeft(_ <+> _)

  private def route(n: Int): HttpRoutes[IO] =
    val path = s"path$n"
    val pathBytes = s"pathBytes$n"
    HttpRoutes.of[IO] {
      case GET -> Root / `path` / IntVar(id)    => Ok(Answers.get(n, id))
      case request @ POST -> Root / `path`      => request.as[String].flatMap(body => Ok(Answers.postString(n, body)))
      case request @ POST -> Root / `pathBytes` =>
        request.as[Array[Byte]].flatMap(body => Ok(Answers.postBytes(n, body)))
    }
