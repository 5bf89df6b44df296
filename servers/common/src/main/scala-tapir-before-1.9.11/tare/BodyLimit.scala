package tare

/** Endpoints of this Tapir cannot say what the limit of a body's length is. */
object BodyLimit {
  def limited[E](endpoint: E): E = endpoint
}
