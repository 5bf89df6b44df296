package tare.nima

import java.nio.file.{Files, StandardCopyOption}

import io.circe.parser.decode
import io.circe.syntax.*
import io.helidon.http.{HeaderNames, Status}
import io.helidon.webserver.http.{HttpRouting, ServerRequest, ServerResponse}

import tare.{Answers, Message, Order}

/** The baselines: Helidon's web server alone, with its routing. */
object Vanilla extends NimaServer(VanillaRoutes(1), WebSocketListener.routing)

object VanillaMulti extends NimaServer(VanillaRoutes(Answers.MultiRoutes), WebSocketListener.routing)

object VanillaRoutes:

  /** The routes of `/path0` to `/path{routes - 1}`, then the others. */
  def apply(routes: Int)(routing: HttpRouting.Builder): Unit =
    for n <- 0 until routes do
      routing
        .get(s"/path$n/{id}", withId(_, _, id => Answers.get(n, id)))
        .post(s"/path$n", (request, response) => text(response, Answers.postString(n, string(request))))
        .post(s"/pathBytes$n", (request, response) => text(response, Answers.postBytes(n, bytes(request))))
    routing
      .get("/text", (_, response) => text(response, Answers.Text))
      .get("/json", (_, response) => json(response, Message(Answers.Text).asJson.noSpaces))
      .post("/echo", echo(_, _))
      .post("/file", upload(_, _))

  private def withId(request: ServerRequest, response: ServerResponse, answer: Int => String): Unit =
    val id = request.path.pathParameters.get("id").toIntOption
    id.fold(response.status(Status.BAD_REQUEST_400).send())(id => text(response, answer(id)))

  private def string(request: ServerRequest): String =
    if request.content.hasEntity then request.content.as(classOf[String]) else ""

  private def bytes(request: ServerRequest): Array[Byte] =
    if request.content.hasEntity then request.content.as(classOf[Array[Byte]]) else Array.emptyByteArray

  private def echo(request: ServerRequest, response: ServerResponse): Unit =
    decode[Order](string(request)) match
      case Left(_)      => response.status(Status.BAD_REQUEST_400).send()
      case Right(order) => json(response, order.asJson.noSpaces)

  private def upload(request: ServerRequest, response: ServerResponse): Unit =
    val file = Answers.emptyFile()
    val content = request.content.inputStream
    try Files.copy(content, file.toPath, StandardCopyOption.REPLACE_EXISTING)
    finally content.close()
    text(response, Answers.upload(file))

  private def text(response: ServerResponse, body: String): Unit = send(response, "text/plain; charset=UTF-8", body)

  private def json(response: ServerResponse, body: String): Unit = send(response, "application/json", body)

  private def send(response: ServerResponse, contentType: String, body: String): Unit =
    response.header(HeaderNames.CONTENT_TYPE, contentType).send(body)
