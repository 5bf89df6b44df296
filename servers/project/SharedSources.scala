import sbt._
import sbt.Keys._

/** Where a module finds its sources: in its family's folder and in common, never in a copy.
  *
  * Of each, `src/main/scala-tapir` is for what needs Tapir, `scala-tapir-from-1.10` for what only Tapir 1.10 and later
  * have, `scala-tapir-before-1.10` for what takes its place in those before. A family `netty-cats` finds what it shares with
  * `netty` in `netty/src/main/shared`, in `shared-tapir` where it needs Tapir, and in `resources`.
  */
object SharedSources {
  def settings(target: Target): Seq[Setting[_]] = {
    val family = target.family.name
    val main = Def.setting((folder: String) => (ThisBuild / baseDirectory).value / folder / "src" / "main")
    val roots = Def.setting(Seq("common", family).map(main.value))
    val shared =
      Def.setting(("shared" +: target.tapir.map(_ => "shared-tapir").toSeq).map(main.value(stem(family)) / _))
    Seq(
      Compile / unmanagedSourceDirectories := roots.value.flatMap(sources(target, _)) ++ shared.value,
      Compile / unmanagedResourceDirectories := (roots.value :+ main.value(stem(family))).distinct.map(_ / "resources"),
      Test / unmanagedSourceDirectories := Nil
    )
  }

  private def stem(family: String): String = family.takeWhile(_ != '-')

  private def sources(target: Target, root: File): Seq[File] = {
    val plain = Seq(root / "java", root / "scala")
    target.tapir.fold(plain) { version =>
      plain ++ IO.listFiles(root).filter(folder => serves(folder.name, numbers(version)))
    }
  }

  private val From = "scala-tapir-from-(.+)".r
  private val Before = "scala-tapir-before-(.+)".r

  private def serves(folder: String, version: Seq[Int]): Boolean = folder match {
    case "scala-tapir" => true
    case From(first)   => !isBefore(version, numbers(first))
    case Before(end)   => isBefore(version, numbers(end))
    case _             => false
  }

  private def numbers(version: String): Seq[Int] = version.split("[^0-9]+").filter(_.nonEmpty).map(_.toInt)

  private def isBefore(version: Seq[Int], other: Seq[Int]): Boolean =
    version.zipAll(other, 0, 0).find { case (a, b) => a != b }.exists { case (a, b) => a < b }
}
