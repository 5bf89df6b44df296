import sttp.tapir.Endpoint

package object tare {

  /** An endpoint without authentication. Later versions of Tapir have it themselves. */
  type PublicEndpoint[I, E, O, -R] = Endpoint[I, E, O, R]
}
