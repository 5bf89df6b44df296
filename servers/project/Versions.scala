import sbt._

/** The versions that do not depend on the target. Both sides of a comparison have the same. */
object Versions {
  val JavaRelease = 17
  val Scala3 = "3.3.7"
  val Scala213 = "2.13.16"
  val Scala212 = "2.12.20"
  val Http4s = "0.23.30"
  val Blaze = "0.23.17"
  val BlazeHttp4s = "0.23.29"
  val BlazeCatsEffect = "3.5.4"
  val Vertx = "4.5.13"
  val Pekko3 = "1.3.0"
  val Play = "3.0.11"
  val Helidon = "4.3.1"

  /** The JSON library of every server. */
  def circe(family: Family): Seq[ModuleID] = {
    val version = family.suffix match {
      case "_2.12" => "0.14.5"
      case "_2.13" => "0.14.1"
      case _       => "0.14.10"
    }
    Seq("circe-core", "circe-generic", "circe-parser").map(name => "io.circe" % s"$name${family.suffix}" % version)
  }

  /** The log back end of every server. common/src/main/resources/logback.xml sets the level of production. */
  val logback = "ch.qos.logback" % "logback-classic" % "1.5.16"
}
