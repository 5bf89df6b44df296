import sbt._
import sbt.Keys._

/** The source folders of a module: those of its family and of common, without copies.
  *
  * In both, `src/main/scala-tapir` has code that needs Tapir, `scala-tapir-from-1.10` code for Tapir 1.10 and later,
  * and `scala-tapir-before-1.10` its replacement for earlier versions. `netty-cats` also uses the code in `shared`,
  * `shared-tapir` and so on, and the `resources`, of `netty/src/main`. `http4s-blaze-tapir` uses those of `http4s` and
  * of `http4s-blaze`.
  */
object SharedSources {
  def settings(target: Target): Seq[Setting[_]] = {
    val family = target.family.name
    val main = Def.setting((folder: String) => (ThisBuild / baseDirectory).value / folder / "src" / "main")
    val own = Def.setting(Seq("common", family).map(main.value))
    val stems = Def.setting(family.split('-').inits.filter(_.nonEmpty).map(_.mkString("-")).toSeq.map(main.value))
    Seq(
      Compile / unmanagedSourceDirectories := {
        val ofFamily = own.value.flatMap(root => (root / "java") +: sources(target, root, "scala"))
        ofFamily ++ stems.value.flatMap(root => sources(target, root, "shared"))
      },
      Compile / unmanagedResourceDirectories := (own.value ++ stems.value).distinct.map(_ / "resources"),
      Test / unmanagedSourceDirectories := Nil
    )
  }

  private def sources(target: Target, root: File, name: String): Seq[File] = {
    def fits(folder: File) = folder.name == name || target.tapir.exists(isFor(folder.name, s"$name-tapir", _))
    IO.listFiles(root).filter(fits)
  }

  private val From = "(.+)-from-(.+)".r
  private val Before = "(.+)-before-(.+)".r

  private def isFor(folder: String, name: String, version: String): Boolean = folder match {
    case `name`              => true
    case From(`name`, first) => !isBefore(version, first)
    case Before(`name`, end) => isBefore(version, end)
    case _                   => false
  }

  private def isBefore(version: String, other: String): Boolean =
    numbers(version).zipAll(numbers(other), 0, 0).find { case (a, b) => a != b }.exists { case (a, b) => a < b }

  private def numbers(version: String): Seq[Int] = version.split("[^0-9]+").filter(_.nonEmpty).map(_.toInt)
}
