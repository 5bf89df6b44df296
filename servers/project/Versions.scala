import sbt._

/** The versions that do not follow Tapir's: one place, so that both sides of a comparison have the same. */
object Versions {
  val JavaRelease = 17
  val Scala3 = "3.3.7"
  val Http4s = "0.23.30"

  /** The log backend of every server, with the level that production has: common/src/main/resources/logback.xml. */
  val logback = "ch.qos.logback" % "logback-classic" % "1.5.16"
}
