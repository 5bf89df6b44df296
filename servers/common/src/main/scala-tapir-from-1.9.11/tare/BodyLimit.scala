package tare

import sttp.tapir.PublicEndpoint
import sttp.tapir.server.model.EndpointExtensions._

/** The limit of a body's length, which endpoints of Tapir state. */
object BodyLimit {
  def limited[I, O](endpoint: PublicEndpoint[I, Unit, O, Any]): PublicEndpoint[I, Unit, O, Any] =
    endpoint.maxRequestBodyLength(Answers.MaxBodyBytes.toLong)
}
