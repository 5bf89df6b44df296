package tare.play

import java.io.File

import play.api.Mode
import play.core.server.ServerConfig

import tare.Launch

/** Where all servers of Play listen; what else they run with stands in application.conf. */
object Settings:
  def apply(port: Int): ServerConfig =
    ServerConfig(rootDir = File("."), port = Some(port), address = Launch.Host, mode = Mode.Prod)
