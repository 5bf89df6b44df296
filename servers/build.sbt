// One module per target. A target is a family at a version: `http4s@1.11.15`. The modules of a family compile
// the same sources, each against its own libraries, and each writes a manifest from which tare starts its servers.
// `./build` passes the targets. Without it, sbt builds the default versions of all families.

lazy val writeManifest = taskKey[Unit]("Builds the target's servers and writes their manifest.")

lazy val targets = Target.requested(file("."))

lazy val modules = new CompositeProject {
  def componentProjects: Seq[Project] = targets.map(module)
}

lazy val servers = project
  .in(file("."))
  .aggregate(targets.map(target => LocalProject(target.projectId)): _*)
  .settings(scalaVersion := Versions.Scala3)

def module(target: Target): Project =
  Project(target.projectId, file(s"target/modules/$target"))
    .settings(SharedSources.settings(target))
    .settings(
      name := target.toString,
      scalaVersion := target.family.scalaVersion,
      scalacOptions ++= target.family.scalacOptions,
      javacOptions ++= Seq("--release", target.family.javaRelease.toString),
      libraryDependencies ++= target.family.libraries(target.version) ++ Versions.circe(
        target.family
      ) :+ Versions.logback,
      csrSameVersions ++= target.family.alike,
      exportJars := true,
      Compile / packageBin / mainClass := None, // there are several
      writeManifest := Def.taskDyn {
        val out = Manifest.directory((ThisBuild / baseDirectory).value)
        update.result.value match {
          case Inc(cause) =>
            Def.task[Unit](throw new MessageOnlyException(Unavailable.write(out, target, cause)))
          case Value(report) =>
            Def.task {
              val classpath = (Runtime / fullClasspathAsJars).value.files
              val mains = (Compile / discoveredMainClasses).value
              val manifest = Manifest.write(out, target, report, classpath, mains)
              streams.value.log.info(s"$target: ${mains.size} servers, see $manifest")
            }
        }
      }.value
    )
