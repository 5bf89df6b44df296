import sbt._

import scala.sys.process.Process

/** A family at a version, with the fingerprint of what it is built from (`./build --fingerprint`). */
final case class Target(family: Family, version: String, fingerprint: String) {

  /** sbt's name for the module: letters, digits, `-` and `_` only. */
  def projectId: String = toString.replaceAll("[^A-Za-z0-9-]", "_")

  /** The version of Tapir, if the family uses Tapir. */
  def tapir: Option[String] = Some(version).filter(_ => family.versionOf == "tapir")

  override def toString: String = s"${family.name}@$version"
}

object Target {

  /** The targets of `-Dtare.targets=FAMILY@VERSION=FINGERPRINT,…`. Without that, every family at its default version, so
    * that an IDE can open the build. Such targets have no fingerprint, so their manifests count as stale.
    */
  def requested(servers: File): Seq[Target] =
    sys.props.get("tare.targets").filter(_.nonEmpty).map(_.split(",").toSeq).getOrElse(defaults(servers)).map(parse)

  private val Spec = "([^@]+)@([^=]+)(?:=(.*))?".r

  private def parse(spec: String): Target = spec match {
    case Spec(name, version, fingerprint) =>
      val family = Families.all.find(_.name == name).getOrElse {
        sys.error(s"unknown family $name: project/Families.scala has ${Families.all.map(_.name).mkString(", ")}")
      }
      Target(family, version, Option(fingerprint).getOrElse(""))
    case _ => sys.error(s"not a target: $spec (expected FAMILY@VERSION, such as http4s@1.11.15)")
  }

  private val BySbt = "(.+) (.+) sbt".r

  /** The default targets. `./build` reads the catalog, so that this build does not need to. */
  private def defaults(servers: File): Seq[String] =
    Process(Seq((servers / "build").getPath, "--families")).lineStream.collect {
      case BySbt(name, version) => s"$name@$version"
    }
}
