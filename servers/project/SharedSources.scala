import sbt._
import sbt.Keys._

/** Where a module finds its sources: in its family's folder and in common, never in a copy.
  *
  * A family (or common) may have `src/main/scala-tapir-1.9`, say, beside `src/main/scala`: it is compiled for Tapir 1.9.x only.
  */
object SharedSources {
  def settings(target: Target): Seq[Setting[_]] = Seq(
    Compile / unmanagedSourceDirectories := roots(target, (ThisBuild / baseDirectory).value).flatMap(sources(target, _)),
    Compile / unmanagedResourceDirectories := roots(target, (ThisBuild / baseDirectory).value).map(_ / "resources"),
    Test / unmanagedSourceDirectories := Nil
  )

  private def roots(target: Target, servers: File): Seq[File] =
    Seq("common", target.family.name).map(folder => servers / folder / "src" / "main")

  private def sources(target: Target, root: File): Seq[File] = {
    val adapters = IO.listFiles(root).filter { folder =>
      folder.name.startsWith("scala-tapir-") && s"${target.version}.".startsWith(folder.name.stripPrefix("scala-tapir-") + ".")
    }
    Seq(root / "java", root / "scala", root / "scala-tapir") ++ adapters
  }
}
