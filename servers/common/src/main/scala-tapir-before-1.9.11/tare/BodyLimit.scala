package tare

/** No limit: endpoints of this Tapir cannot state one. */
object BodyLimit {
  def withBodyLimit[E](endpoint: E): E = endpoint
}
