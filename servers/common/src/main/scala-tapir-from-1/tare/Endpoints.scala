package tare

import sttp.tapir._
import sttp.tapir.generic.auto._
import sttp.tapir.server.ServerEndpoint

import tare.BodyLimit.withBodyLimit
import tare.JsonBody.circe

/** The endpoints as Tapir describes them, for every server that Tapir wraps. */
object Endpoints {

  /** The endpoints of `/path0` to `/path{routes - 1}` and all others, in the order of the vanilla servers. */
  def all[F[_]](routes: Int): List[ServerEndpoint[Any, F]] =
    List.range(0, routes).flatMap { n =>
      List(
        get(n).serverLogicPure[F](id => Right(Answers.get(n, id))),
        withBodyLimit(postString(n)).serverLogicPure[F](body => Right(Answers.postString(n, body))),
        withBodyLimit(postBytes(n)).serverLogicPure[F](body => Right(Answers.postBytes(n, body)))
      )
    } ++ List(
      text.serverLogicPure[F](_ => Right(Answers.Text)),
      json.serverLogicPure[F](_ => Right(Message(Answers.Text))),
      withBodyLimit(echo).serverLogicPure[F](order => Right(order)),
      withBodyLimit(upload).serverLogicPure[F](file => Right(Answers.upload(file)))
    )

  private def get(n: Int): PublicEndpoint[Int, Unit, String, Any] =
    endpoint.get.in(s"path$n" / path[Int]("id")).out(stringBody)

  private def postString(n: Int): PublicEndpoint[String, Unit, String, Any] =
    endpoint.post.in(s"path$n").in(stringBody).out(stringBody)

  private def postBytes(n: Int): PublicEndpoint[Array[Byte], Unit, String, Any] =
    endpoint.post.in(s"pathBytes$n").in(byteArrayBody).out(stringBody)

  private val text: PublicEndpoint[Unit, Unit, String, Any] = endpoint.get.in("text").out(stringBody)

  private val json: PublicEndpoint[Unit, Unit, Message, Any] =
    endpoint.get.in("json").out(customCodecJsonBody[Message])

  private val echo: PublicEndpoint[Order, Unit, Order, Any] =
    endpoint.post.in("echo").in(customCodecJsonBody[Order]).out(customCodecJsonBody[Order])

  private val upload: PublicEndpoint[TapirFile, Unit, String, Any] =
    endpoint.post.in("file").in(fileBody).out(stringBody)
}
