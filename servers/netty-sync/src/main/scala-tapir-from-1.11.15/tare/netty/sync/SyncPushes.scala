package tare.netty.sync

import ox.flow.Flow
import sttp.capabilities.WebSockets
import sttp.shared.Identity
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.netty.sync.OxStreams

import tare.{Pushes, Stamps}

/** The pushed messages, by ox's timer. Messages from the client are discarded. When it disconnects, the flow ends. */
object SyncPushes:
  val all: List[ServerEndpoint[OxStreams & WebSockets, Identity]] =
    Stamps.all.map { (name, stamp) =>
      val logic: OxStreams.Pipe[String, String] = in => in.drain().merge(ticks(stamp), propagateDoneLeft = true)
      Pushes.described(OxStreams)(name).serverLogicSuccess[Identity](_ => logic)
    }

  private def ticks(stamp: () => String): Flow[String] = Flow.tick(Stamps.Period).map(_ => stamp())
