package tare

import sttp.tapir.PublicEndpoint
import sttp.tapir.server.model.EndpointExtensions._

/** States the limit of the body length in an endpoint. */
object BodyLimit {
  def withBodyLimit[I, O](endpoint: PublicEndpoint[I, Unit, O, Any]): PublicEndpoint[I, Unit, O, Any] =
    endpoint.maxRequestBodyLength(Answers.MaxBodyBytes.toLong)
}
