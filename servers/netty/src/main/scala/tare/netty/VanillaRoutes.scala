package tare.netty

import java.nio.charset.StandardCharsets.UTF_8

import io.circe.parser.decode
import io.circe.syntax.*
import io.netty.buffer.ByteBufUtil
import io.netty.handler.codec.http.{FullHttpRequest, HttpMethod, HttpResponseStatus, QueryStringDecoder}
import io.netty.handler.codec.http.HttpResponseStatus.{BAD_REQUEST, OK}

import tare.{Answers, Message, Order}

/** An answer, from which Netty's objects are made. */
final case class Reply(status: HttpResponseStatus, contentType: String, body: Array[Byte])

object Reply:
  def text(body: String): Reply = Reply(OK, "text/plain; charset=UTF-8", body.getBytes(UTF_8))
  def json(body: String): Reply = Reply(OK, "application/json", body.getBytes(UTF_8))
  def empty(status: HttpResponseStatus): Reply = Reply(status, "text/plain; charset=UTF-8", Array.emptyByteArray)

/** The routes of `/path0` to `/path{routes - 1}` and the others, and `more` routes for GET. Maps find them. */
final class VanillaRoutes(routes: Int, more: Map[String, () => Reply] = Map.empty):
  private val numbers: Map[String, Int] = List.tabulate(routes)(n => s"/path$n" -> n).toMap

  private val gets: Map[String, () => Reply] = Map(
    "/text" -> (() => Reply.text(Answers.Text)),
    "/json" -> (() => Reply.json(Message(Answers.Text).asJson.noSpaces))
  ) ++ more

  private val posts: Map[String, FullHttpRequest => Reply] =
    numbers.map((path, n) => path -> ((request: FullHttpRequest) => Reply.text(Answers.postString(n, string(request)))))
      ++ numbers.values.map(n =>
        s"/pathBytes$n" -> ((request: FullHttpRequest) => Reply.text(Answers.postBytes(n, bytes(request))))
      )
      ++ Map("/echo" -> echo, "/file" -> upload)

  /** `None` if there is no such route. */
  def answer(request: FullHttpRequest): Option[Reply] =
    val path = QueryStringDecoder(request.uri).path
    request.method match
      case HttpMethod.GET  => gets.get(path).map(_()).orElse(withId(path))
      case HttpMethod.POST => posts.get(path).map(_(request))
      case _               => None

  private def withId(path: String): Option[Reply] =
    val slash = path.lastIndexOf('/')
    for
      n <- numbers.get(path.substring(0, slash.max(0)))
      id <- path.substring(slash + 1).toIntOption
    yield Reply.text(Answers.get(n, id))

  private def echo(request: FullHttpRequest): Reply =
    decode[Order](string(request)).fold(_ => Reply.empty(BAD_REQUEST), order => Reply.json(order.asJson.noSpaces))

  private def upload(request: FullHttpRequest): Reply =
    val file = Answers.emptyFile()
    val out = java.io.FileOutputStream(file)
    try request.content.readBytes(out, request.content.readableBytes)
    finally out.close()
    Reply.text(Answers.upload(file))

  private def string(request: FullHttpRequest): String = request.content.toString(UTF_8)

  private def bytes(request: FullHttpRequest): Array[Byte] = ByteBufUtil.getBytes(request.content)
