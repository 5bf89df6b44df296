package tare.netty.sync

import ox.flow.Flow
import sttp.capabilities.WebSockets
import sttp.shared.Identity
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.netty.sync.OxStreams

import tare.{PushEndpoint, Timestamps}

/** The pushed messages, by ox's timer. Messages from the client are discarded. When it disconnects, the flow ends. */
object PushEndpoints:
  val all: List[ServerEndpoint[OxStreams & WebSockets, Identity]] =
    Timestamps.all.map { (name, timestamp) =>
      val logic: OxStreams.Pipe[String, String] =
        in => in.drain().merge(timestamps(timestamp), propagateDoneLeft = true)
      PushEndpoint(OxStreams)(name).serverLogicSuccess[Identity](_ => logic)
    }

  private def timestamps(timestamp: () => String): Flow[String] = Flow.tick(Timestamps.Period).map(_ => timestamp())
