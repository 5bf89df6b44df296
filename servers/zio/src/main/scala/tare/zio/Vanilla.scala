package tare.zio

import io.circe.parser.decode
import io.circe.syntax.*
import zio.*
import zio.http.*
import zio.stream.ZSink

import tare.{Answers, Message, Order, Timestamps}

/** The baselines: ZIO HTTP alone, with its routes. */
object Vanilla extends ZioServer(VanillaRoutes(1))

object VanillaMulti extends ZioServer(VanillaRoutes(Answers.MultiRoutes))

object VanillaRoutes:

  /** The routes of `/path0` to `/path{routes - 1}`, then the others. */
  def apply(routes: Int): Routes[Any, Response] =
    val numbered = Chunk.fromIterable(0 until routes).flatMap(route)
    Routes.fromIterable(numbered ++ others).handleError(error => Response.internalServerError(error.getMessage))

  private def route(n: Int): Chunk[Route[Any, Throwable]] = Chunk(
    Method.GET / s"path$n" / int("id") -> handler((id: Int, _: Request) => text(Answers.get(n, id))),
    Method.POST / s"path$n" -> handler((request: Request) =>
      request.body.asString.map(body => text(Answers.postString(n, body)))
    ),
    Method.POST / s"pathBytes$n" -> handler((request: Request) =>
      request.body.asArray.map(body => text(Answers.postBytes(n, body)))
    )
  )

  private val others: Chunk[Route[Any, Throwable]] = Chunk(
    Method.GET / "text" -> handler((_: Request) => text(Answers.Text)),
    Method.GET / "json" -> handler((_: Request) => Response.json(Message(Answers.Text).asJson.noSpaces)),
    Method.POST / "echo" -> handler((request: Request) => request.body.asString.map(echo)),
    Method.POST / "file" -> handler(upload(_))
  ) ++ Timestamps.all.map((name, timestamp) => Method.GET / "ws" / name -> handler(push(timestamp).toResponse))

  /** Messages from the client are read and discarded. When it disconnects, the timer stops. */
  private def push(timestamp: () => String): WebSocketApp[Any] = Handler.webSocket { channel =>
    val timestamps =
      TimestampStream(timestamp).foreach(text => channel.send(ChannelEvent.Read(WebSocketFrame.text(text))))
    timestamps.race(channel.receiveAll(_ => ZIO.unit))
  }

  /** A response with the character set, which `Response.text` omits and all other servers send. */
  private def text(body: String): Response = Response(headers = plain, body = Body.fromString(body))

  private lazy val plain = Headers("content-type", "text/plain; charset=UTF-8")

  private def echo(body: String): Response =
    decode[Order](body).fold(
      error => Response.badRequest(error.getMessage),
      order => Response.json(order.asJson.noSpaces)
    )

  private def upload(request: Request): Task[Response] =
    for
      file <- ZIO.attemptBlocking(Answers.emptyFile())
      _ <- request.body.asStream.run(ZSink.fromFile(file))
    yield text(Answers.upload(file))
