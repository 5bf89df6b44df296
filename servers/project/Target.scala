import sbt._

/** A family at a version, with the fingerprint of what it is built from (`./build --fingerprint`). */
final case class Target(family: Family, version: String, fingerprint: String) {

  /** sbt's name for the module: letters, digits, `-` and `_` only. */
  def projectId: String = toString.replaceAll("[^A-Za-z0-9-]", "_")

  /** The version of Tapir, where the family has anything to do with it. */
  def tapir: Option[String] = Some(version).filter(_ => family.versionOf == "tapir")

  override def toString: String = s"${family.name}@$version"
}

object Target {

  /** The targets of `-Dtare.targets=FAMILY@VERSION=FINGERPRINT,…`, or else the defaults of the catalog as far as sbt builds
    * them, so that an IDE can open the build. Modules of the latter kind carry no fingerprint, hence count as stale.
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

  private val Header = """\s*\[families\.([\w-]+)\].*""".r
  private val Toolchain = """\s*toolchain\s*=\s*"([^"]+)".*""".r
  private val Default = """\s*default_version\s*=\s*"([^"]+)".*""".r

  private def defaults(servers: File): Seq[String] =
    IO.readLines(servers / "catalog.toml").foldLeft((Option.empty[String], Seq.empty[String])) {
      case ((_, found), Header(family))                     => (Some(family), found)
      case ((_, found), Toolchain(other)) if other != "sbt" => (None, found)
      case ((Some(family), found), Default(version))        => (Some(family), found :+ s"$family@$version")
      case (state, _)                                       => state
    }._2
}
