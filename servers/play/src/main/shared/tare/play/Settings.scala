package tare.play

import java.io.File

import play.api.Mode
import play.core.server.ServerConfig

import tare.Launch

/** The address and port of all servers of Play. Their other settings are in application.conf. */
object Settings:
  def apply(port: Int): ServerConfig =
    ServerConfig(rootDir = File("."), port = Some(port), address = Launch.Host, mode = Mode.Prod)
