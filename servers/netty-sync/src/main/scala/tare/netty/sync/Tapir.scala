package tare.netty.sync

import ox.supervised
import sttp.shared.Identity
import sttp.tapir.server.netty.sync.{NettySyncServer, NettySyncServerOptions}

import tare.{Answers, Endpoints, Launch}
import tare.netty.Settings

/** Netty by Tapir, whose logic runs on virtual threads. `Tapir` has Tapir's default interceptors except the server log. */
object Tapir extends SyncServer(1, SyncServer.withoutLog)

object TapirMulti extends SyncServer(Answers.MultiRoutes, SyncServer.withoutLog)

object TapirInterceptor extends SyncServer(1, NettySyncServerOptions.default)

object TapirInterceptorMulti extends SyncServer(Answers.MultiRoutes, NettySyncServerOptions.default)

abstract class SyncServer(routes: Int, options: NettySyncServerOptions):

  /** The scope ends with the process, because `serve` never returns. */
  def main(args: Array[String]): Unit = supervised {
    Launch.serve(args) { port =>
      NettySyncServer(
        options,
        Settings(port)
      ).addEndpoints(Endpoints.all[Identity](routes) ++ PushEndpoints.all).start().port
    }
  }

object SyncServer:
  val withoutLog: NettySyncServerOptions = NettySyncServerOptions.customiseInterceptors.serverLog(None).options
