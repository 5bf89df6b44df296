import sbt._
import sbt.librarymanagement.InclExclRule

/** What the servers of one library have in common: their folder, their Scala, and what they are built on.
  *
  * @param versionOf whose version a target of this family has: Tapir's, or the library's own if Tapir is not used
  * @param libraries the direct dependencies, given that version; the vanilla servers get the same ones
  * @param reported the versions that a reader of a report wants to see: their names there, and the modules that have them
  * @param alike modules that are released together: each group is resolved to one version, since libraries that ask for
  *   different ones would otherwise leave, say, the newer half of cats-effect beside the older one
  * @param javaRelease the oldest Java whose classes it may be built on
  */
final case class Family(
    name: String,
    versionOf: String,
    scalaVersion: String,
    libraries: String => Seq[ModuleID],
    reported: Seq[(String, String)],
    alike: Seq[Set[InclExclRule]] = Nil,
    javaRelease: Int = Versions.JavaRelease
) {

  /** Bytecode for the oldest supported JVM, whichever JDK runs sbt. */
  def scalacOptions: Seq[String] = {
    val release =
      if (scalaVersion.startsWith("3.")) Seq("-java-output-version", javaRelease.toString)
      else if (scalaVersion.startsWith("2.13.")) Seq("-release", javaRelease.toString)
      // Scala 2.12 writes nothing newer than Java 8's, which every JVM runs.
      else Seq("-release", "8")
    release ++ Seq("-deprecation", "-feature", "-unchecked", "-language:higherKinds")
  }

  /** `core_3` for `core` with Scala 3. */
  def suffix: String = scalaVersion.split('.') match {
    case Array("3", _*)          => "_3"
    case Array(major, minor, _*) => s"_$major.$minor"
  }
}
