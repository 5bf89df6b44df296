package tare

/** Endpoints of this Tapir cannot state a limit of a body's length. */
object BodyLimit {
  def limited[E](endpoint: E): E = endpoint
}
