package tare

import sttp.tapir._
import sttp.tapir.generic.auto._
import sttp.tapir.server.ServerEndpoint

import tare.JsonBody.circe

/** The endpoints of the servers of a ladder: those of other servers, then a document at `/ladder`. */
object Ladder {

  /** The document as text. */
  val Text: String = """{"message":"Hello, World!"}"""

  /** The endpoints of `routes` routes. The last one answers with text, or with an object that is encoded. */
  def endpoints[F[_]](routes: Int, encoded: Boolean): List[ServerEndpoint[Any, F]] =
    Endpoints.all[F](routes) :+ {
      if (encoded) ofObject.serverLogicPure[F](_ => Right(Message(Answers.Text)))
      else ofText.serverLogicPure[F](_ => Right(Text))
    }

  private val ofText: PublicEndpoint[Unit, Unit, String, Any] = endpoint.get.in("ladder").out(stringJsonBody)

  private val ofObject: PublicEndpoint[Unit, Unit, Message, Any] =
    endpoint.get.in("ladder").out(customCodecJsonBody[Message])
}
