import sbt._
import sbt.librarymanagement.InclExclRule

/** What the servers of one library have in common: their folder, their Scala, and what they are built on.
  *
  * @param libraries the direct dependencies, given the Tapir version; the vanilla servers get the same ones
  * @param reported the versions that a reader of a report wants to see: their names there, and the modules that tell them
  * @param alike modules that are released together: each group is resolved to one version, since libraries that ask for
  *   different ones would otherwise leave, say, the newer half of cats-effect beside the older one
  */
final case class Family(
    name: String,
    scalaVersion: String,
    libraries: String => Seq[ModuleID],
    reported: Seq[(String, String)],
    alike: Seq[Set[InclExclRule]]
) {

  /** Bytecode for the oldest supported JVM, whichever JDK runs sbt. */
  def scalacOptions: Seq[String] = {
    val release = if (scalaVersion.startsWith("3.")) "-java-output-version" else "-release"
    Seq(release, Versions.JavaRelease.toString, "-deprecation", "-feature", "-unchecked")
  }
}

object Family {
  private val tapir = "com.softwaremill.sttp.tapir"

  private def group(organization: String, names: String*): Set[InclExclRule] =
    names.map(name => InclExclRule(organization, s"${name}_3")).toSet

  private val typelevel = Seq(
    group("org.typelevel", "cats-core", "cats-kernel"),
    group("org.typelevel", "cats-effect", "cats-effect-kernel", "cats-effect-std"),
    group("co.fs2", "fs2-core", "fs2-io"),
    group("org.http4s", "http4s-core", "http4s-server", "http4s-dsl", "http4s-ember-core", "http4s-ember-server")
  )

  val http4s: Family = Family(
    name = "http4s",
    scalaVersion = Versions.Scala3,
    libraries = version =>
      Seq(
        "org.http4s" % "http4s-ember-server_3" % Versions.Http4s,
        "org.http4s" % "http4s-dsl_3" % Versions.Http4s,
        tapir % "tapir-http4s-server_3" % version
      ),
    reported = Seq(
      "http4s-ember-server" -> "http4s-ember-server_3",
      "cats-effect" -> "cats-effect_3",
      "fs2" -> "fs2-core_3",
      "scala" -> "scala3-library_3"
    ),
    alike = typelevel
  )

  val all: Seq[Family] = Seq(http4s)
}
