name := "scala-http4s"
scalaVersion := "3.3.6"
enablePlugins(JavaAppPackaging)
libraryDependencies ++= Seq(
  "org.http4s" %% "http4s-ember-server" % "0.23.30",
  "org.http4s" %% "http4s-dsl" % "0.23.30",
)
