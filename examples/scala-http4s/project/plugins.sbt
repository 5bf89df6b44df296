addSbtPlugin("com.github.sbt" % "sbt-native-packager" % "1.11.4")
