import sbt._
import sbt.librarymanagement.InclExclRule

/** The servers of one library: their folder, their Scala version and their dependencies.
  *
  * @param versionOf the library whose version a target of this family has: Tapir, or its own library without Tapir
  * @param libraries the direct dependencies for a version, which the vanilla servers have too
  * @param reported the versions that a report shows: the name in the report, and the module that has the version
  * @param alike groups of modules that are released together. Each group is resolved to one version. Otherwise
  *   libraries that ask for different ones could mix, for example, modules of two versions of cats-effect
  * @param javaRelease the oldest Java on which it runs
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
