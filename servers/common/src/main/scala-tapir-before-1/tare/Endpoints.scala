package tare

import java.io.File

import scala.concurrent.Future

import sttp.tapir._
import sttp.tapir.generic.auto._
import sttp.tapir.server.ServerEndpoint

import tare.JsonBody.circe

/** The endpoints for Tapir before 1.0, which has other types and no pure logic. */
object Endpoints {

  /** The endpoints of `/path0` to `/path{routes - 1}` and all others, in the order of the vanilla servers. */
  def all(routes: Int): List[ServerEndpoint[_, _, _, Any, Future]] =
    List.range(0, routes).flatMap { n =>
      List[ServerEndpoint[_, _, _, Any, Future]](
        get(n).serverLogic(id => answer(Answers.get(n, id))),
        postString(n).serverLogic(body => answer(Answers.postString(n, body))),
        postBytes(n).serverLogic(body => answer(Answers.postBytes(n, body)))
      )
    } ++ List[ServerEndpoint[_, _, _, Any, Future]](
      text.serverLogic(_ => answer(Answers.Text)),
      json.serverLogic(_ => answer(Message(Answers.Text))),
      echo.serverLogic(order => answer(order)),
      upload.serverLogic(file => answer(Answers.upload(file)))
    )

  private def answer[A](value: A): Future[Either[Unit, A]] = Future.successful(Right(value))

  private def get(n: Int): Endpoint[Int, Unit, String, Any] =
    endpoint.get.in(s"path$n" / path[Int]("id")).out(stringBody)

  private def postString(n: Int): Endpoint[String, Unit, String, Any] =
    endpoint.post.in(s"path$n").in(stringBody).out(stringBody)

  private def postBytes(n: Int): Endpoint[Array[Byte], Unit, String, Any] =
    endpoint.post.in(s"pathBytes$n").in(byteArrayBody).out(stringBody)

  private val text: Endpoint[Unit, Unit, String, Any] = endpoint.get.in("text").out(stringBody)

  private val json: Endpoint[Unit, Unit, Message, Any] = endpoint.get.in("json").out(anyJsonBody[Message])

  private val echo: Endpoint[Order, Unit, Order, Any] =
    endpoint.post.in("echo").in(anyJsonBody[Order]).out(anyJsonBody[Order])

  private val upload: Endpoint[File, Unit, String, Any] = endpoint.post.in("file").in(fileBody).out(stringBody)
}
