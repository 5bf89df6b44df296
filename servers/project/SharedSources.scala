import sbt._
import sbt.Keys._

/** Where a module finds its sources: in its family's folder and in common, never in a copy.
  *
  * Of each, `src/main/scala-tapir` is for what needs Tapir, and `src/main/scala-tapir-1.9`, say, for what only Tapir 1.9.x
  * needs.
  */
object SharedSources {
  def settings(target: Target): Seq[Setting[_]] = {
    val roots = Def.setting {
      Seq("common", target.family.name).map(folder => (ThisBuild / baseDirectory).value / folder / "src" / "main")
    }
    Seq(
      Compile / unmanagedSourceDirectories := roots.value.flatMap(sources(target, _)),
      Compile / unmanagedResourceDirectories := roots.value.map(_ / "resources"),
      Test / unmanagedSourceDirectories := Nil
    )
  }

  private def sources(target: Target, root: File): Seq[File] = {
    val prefix = "scala-tapir-"
    val adapters = IO.listFiles(root).filter { folder =>
      folder.name.startsWith(prefix) && s"${target.version}.".startsWith(s"${folder.name.stripPrefix(prefix)}.")
    }
    Seq(root / "java", root / "scala", root / "scala-tapir") ++ adapters
  }
}
