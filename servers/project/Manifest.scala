import sbt._
import sbt.librarymanagement.{ResolveException, UpdateReport}

import Json._

/** The manifest of a target: all that tare needs to start its servers, and the versions that a report shows. */
object Manifest {
  def directory(servers: File): File = servers / "target" / "manifests"

  /** Writes `FAMILY@VERSION.json` and returns it. A server is named after its main class: `tare.http4s.Vanilla` is
    * `http4s.Vanilla`.
    */
  def write(out: File, target: Target, report: UpdateReport, classpath: Seq[File], mains: Seq[String]): File = {
    val modules = report.configurations.find(_.configuration.name == "runtime").toSeq.flatMap(_.modules.map(_.module))
    Unavailable.file(out, target).delete()
    Json.write(
      out / s"$target.json",
      obj(
        "schema" -> number(1),
        "family" -> string(target.family.name),
        "version" -> string(target.version),
        "sources_sha256" -> string(target.fingerprint),
        "java_release" -> number(target.family.javaRelease),
        "resolved" -> obj(resolved(target, modules): _*),
        "all_modules" -> array(modules.map(coordinates).sorted.map(string)),
        "classpath" -> array(classpath.map(file => string(file.getAbsolutePath))),
        "servers" -> array(
          mains.sorted.map(main => obj("name" -> string(main.stripPrefix("tare.")), "main" -> string(main)))
        )
      )
    )
  }

  private def resolved(target: Target, modules: Seq[ModuleID]): Seq[(String, Document)] =
    (target.family.versionOf -> string(target.version)) +: target.family.reported.flatMap { case (name, module) =>
      modules.find(_.name == module).map(found => name -> string(found.revision))
    }

  private def coordinates(module: ModuleID): String = s"${module.organization}:${module.name}:${module.revision}"
}

/** Records why a target is not available here, so that `tare list` can show it. */
object Unavailable {
  def file(out: File, target: Target): File = out / s"$target.unavailable.json"

  /** Writes `FAMILY@VERSION.unavailable.json` and returns the reason in one line. */
  def write(out: File, target: Target, cause: Incomplete): String = {
    val failures = Incomplete.linearize(cause).flatMap(_.directCause).collect { case e: ResolveException => e }
    val missing = failures.flatMap(_.failed).map(m => s"${m.organization}:${m.name}:${m.revision}")
    val artifact = missing.headOption.getOrElse("a library")
    // Without a network, the reason must not be that a version does not exist.
    val offline = failures.flatMap(_.messages).exists(_.contains("download error"))
    val reason = artifact + (if (offline) ": cannot be downloaded, check the network" else ": cannot be resolved")
    (out / s"$target.json").delete()
    Json.write(file(out, target), obj("reason" -> string(reason), "artifact" -> string(artifact)))
    s"$target: $reason"
  }
}
