package tare

/** No limit: endpoints of this Tapir cannot state one. */
object BodyLimit {
  def limited[E](endpoint: E): E = endpoint
}
