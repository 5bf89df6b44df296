package tare

import sttp.tapir._
import sttp.tapir.server.ServerEndpoint

/** The endpoints as Tapir describes them, for every server that Tapir wraps. */
object Endpoints {

  /** The endpoints of `/path0` to `/path{routes - 1}`, in the order in which the vanilla servers try them. */
  def served[F[_]](routes: Int): List[ServerEndpoint[Any, F]] =
    List.range(0, routes).flatMap { n =>
      List(
        get(n).serverLogicPure[F](id => Right(Answers.get(n, id))),
        postString(n).serverLogicPure[F](body => Right(Answers.postString(n, body))),
        postBytes(n).serverLogicPure[F](body => Right(Answers.postBytes(n, body)))
      )
    }

  private def get(n: Int): PublicEndpoint[Int, Unit, String, Any] =
    endpoint.get.in(s"path$n" / path[Int]("id")).out(stringBody)

  private def postString(n: Int): PublicEndpoint[String, Unit, String, Any] =
    endpoint.post.in(s"path$n").in(stringBody).out(stringBody)

  private def postBytes(n: Int): PublicEndpoint[Array[Byte], Unit, String, Any] =
    endpoint.post.in(s"pathBytes$n").in(byteArrayBody).out(stringBody)
}
