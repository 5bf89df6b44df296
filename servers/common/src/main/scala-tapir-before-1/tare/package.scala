import sttp.tapir.Endpoint

package object tare {

  /** An endpoint that asks nobody who they are: later Tapirs have it of their own. */
  type PublicEndpoint[I, E, O, -R] = Endpoint[I, E, O, R]
}
