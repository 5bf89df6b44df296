import sbt._
import sbt.librarymanagement.InclExclRule

/** The families that sbt builds. catalog.toml describes them. */
object Families {
  private val Tapir = "com.softwaremill.sttp.tapir"

  private def group(organization: String, names: String*): Set[InclExclRule] =
    names.map(name => InclExclRule(organization, s"${name}_3")).toSet

  private val typelevel = Seq(
    group("org.typelevel", "cats-core", "cats-kernel"),
    group("org.typelevel", "cats-effect", "cats-effect-kernel", "cats-effect-std"),
    group("co.fs2", "fs2-core", "fs2-io")
  )

  // Without its circe module, which is not published for every version.
  private val http4sModules =
    group("org.http4s", "http4s-core", "http4s-server", "http4s-dsl", "http4s-ember-core", "http4s-ember-server")

  private val scala3 = "scala" -> "scala3-library_3"
  private val scala2 = "scala" -> "scala-library"
  private val catsEffect = "cats-effect" -> "cats-effect_3"
  private val fs2 = "fs2" -> "fs2-core_3"
  private val netty = "netty" -> "netty-codec-http"

  /** A family that Tapir wraps, on Scala 3. */
  private def tapir(name: String, libraries: String => Seq[ModuleID], reported: (String, String)*): Family =
    Family(name, "tapir", Versions.Scala3, libraries, reported :+ scala3)

  /** A family without Tapir. It has the versions of its library. */
  private def plain(
      name: String,
      versionOf: String,
      scala: String,
      libraries: String => Seq[ModuleID],
      reported: (String, String)*
  ): Family =
    Family(name, versionOf, scala, libraries, reported :+ (if (scala.startsWith("3.")) scala3 else scala2))

  private val http4s = tapir(
    "http4s",
    version =>
      Seq(
        "org.http4s" % "http4s-ember-server_3" % Versions.Http4s,
        "org.http4s" % "http4s-dsl_3" % Versions.Http4s,
        "org.http4s" % "http4s-circe_3" % Versions.Http4s,
        Tapir % "tapir-http4s-server_3" % version
      ),
    "http4s-ember-server" -> "http4s-ember-server_3",
    catsEffect,
    fs2
  ).copy(alike = typelevel :+ http4sModules)

  private val blazeReported =
    Seq("http4s-server" -> "http4s-server_2.13", "cats-effect" -> "cats-effect_2.13")

  private val http4sBlaze = plain(
    "http4s-blaze",
    "http4s-blaze-server",
    Versions.Scala213,
    version => Seq("org.http4s" % "http4s-blaze-server_2.13" % version),
    blazeReported: _*
  )

  // The http4s and the cats-effect of the vanilla servers are forced, because Tapir asks for later ones.
  private val http4sBlazeTapir = Family(
    "http4s-blaze-tapir",
    "tapir",
    Versions.Scala213,
    version =>
      Seq(
        "org.http4s" % "http4s-blaze-server_2.13" % Versions.Blaze,
        ("org.http4s" % "http4s-server_2.13" % Versions.BlazeHttp4s).force(),
        ("org.typelevel" % "cats-effect_2.13" % Versions.BlazeCatsEffect).force(),
        Tapir % "tapir-http4s-server_2.13" % version
      ),
    ("http4s-blaze-server" -> "http4s-blaze-server_2.13") +: blazeReported :+ scala2
  )

  private val nettyFuture = tapir("netty", version => Seq(Tapir % "tapir-netty-server_3" % version), netty)

  private val nettyCats =
    tapir("netty-cats", version => Seq(Tapir % "tapir-netty-server-cats_3" % version), netty, catsEffect, fs2)
      .copy(alike = typelevel)

  // Ox before 1.0 uses the structured concurrency of an earlier JDK, and does not start on JDK 25.
  private val nettySync = tapir(
    "netty-sync",
    version => Seq(Tapir % "tapir-netty-server-sync_3" % version, ("com.softwaremill.ox" % "core_3" % "1.0.0").force()),
    netty,
    "ox" -> "core_3"
  ).copy(javaRelease = 21)

  private val vertx = tapir(
    "vertx",
    version => Seq("io.vertx" % "vertx-web" % Versions.Vertx, Tapir % "tapir-vertx-server_3" % version),
    "vertx-web" -> "vertx-web",
    netty
  )

  private val vertxCats = tapir(
    "vertx-cats",
    version => Seq("io.vertx" % "vertx-web" % Versions.Vertx, Tapir % "tapir-vertx-server-cats_3" % version),
    "vertx-web" -> "vertx-web",
    netty,
    catsEffect,
    fs2
  ).copy(alike = typelevel)

  private val zio = tapir(
    "zio",
    version => Seq(Tapir % "tapir-zio-http-server_3" % version) ++ zioForced(version),
    "zio-http" -> "zio-http_3",
    "zio" -> "zio_3",
    netty
  )

  // The version that 1.11.x depends on is not available.
  private def zioForced(version: String): Seq[ModuleID] =
    if (version.startsWith("1.11.")) Seq(("dev.zio" % "zio-json_3" % "0.7.3").force()) else Nil

  private val pekko = Family(
    "pekko",
    "tapir",
    Versions.Scala212,
    version =>
      Seq(
        "org.apache.pekko" % "pekko-http_2.12" % "1.0.0",
        "org.apache.pekko" % "pekko-stream_2.12" % "1.0.1",
        Tapir % "tapir-pekko-http-server_2.12" % version
      ),
    Seq("pekko-http" -> "pekko-http_2.12", "pekko-stream" -> "pekko-stream_2.12", scala2)
  )

  private val akka = Family(
    "akka",
    "tapir",
    Versions.Scala213,
    version =>
      Seq(
        "com.typesafe.akka" % "akka-http_2.13" % "10.2.10",
        "com.typesafe.akka" % "akka-stream_2.13" % "2.6.20",
        Tapir % "tapir-akka-http-server_2.13" % version
      ),
    Seq("akka-http" -> "akka-http_2.13", "akka-stream" -> "akka-stream_2.13", scala2)
  )

  private val pekko3Libraries =
    Seq("org.apache.pekko" % "pekko-http_3" % Versions.Pekko3, "org.apache.pekko" % "pekko-stream_3" % Versions.Pekko3)

  private val pekko3 =
    plain("pekko-scala3", "pekko-http", Versions.Scala3, _ => pekko3Libraries, "pekko-stream" -> "pekko-stream_3")

  private val pekko3Tapir = tapir(
    "pekko-scala3-tapir",
    version => pekko3Libraries :+ Tapir % "tapir-pekko-http-server_3" % version,
    "pekko-http" -> "pekko-http_3"
  )

  private val play = plain(
    "play",
    "play-pekko-http-server",
    Versions.Scala3,
    version => Seq("org.playframework" % "play-pekko-http-server_3" % version),
    "pekko-http" -> "pekko-http_3"
  )

  private val playNetty =
    plain(
      "play-netty",
      "play-netty-server",
      Versions.Scala3,
      version => Seq("org.playframework" % "play-netty-server_3" % version),
      netty
    )

  private val playTapir = tapir(
    "play-tapir",
    version =>
      Seq(
        "org.playframework" % "play-pekko-http-server_3" % Versions.Play,
        Tapir % "tapir-play-server_3" % version
      ),
    "play-pekko-http-server" -> "play-pekko-http-server_3"
  )

  private def helidon(version: String): Seq[ModuleID] =
    Seq("helidon-webserver", "helidon-webserver-http2").map("io.helidon.webserver" % _ % version)

  private val nima =
    plain(
      "nima",
      "helidon-webserver",
      Versions.Scala3,
      version => helidon(version) :+ "io.helidon.webserver" % "helidon-webserver-websocket" % version
    ).copy(javaRelease = 21)

  private val nimaTapir = tapir(
    "nima-tapir",
    version => helidon(Versions.Helidon) :+ Tapir % "tapir-nima-server_3" % version,
    "helidon-webserver" -> "helidon-webserver"
  ).copy(javaRelease = 21)

  private val finagle = plain(
    "finagle",
    "finagle-http",
    Versions.Scala213,
    version => Seq("com.twitter" % "finagle-http_2.13" % version),
    netty
  )

  // Not a server, but the load tool of the published articles, with one simulation.
  private val gatling = plain(
    "gatling",
    "gatling",
    Versions.Scala3,
    version => Seq("io.gatling.highcharts" % "gatling-charts-highcharts" % version),
    "gatling-core" -> "gatling-core",
    "gatling-http-java" -> "gatling-http-java"
  )

  val all: Seq[Family] = Seq(
    http4s,
    http4sBlaze,
    http4sBlazeTapir,
    nettyFuture,
    nettyCats,
    nettySync,
    vertx,
    vertxCats,
    zio,
    pekko,
    pekko3,
    pekko3Tapir,
    akka,
    play,
    playNetty,
    playTapir,
    nima,
    nimaTapir,
    finagle,
    gatling
  )
}
