package tare.pekko

import io.circe.Encoder
import io.circe.parser.decode
import io.circe.syntax._
import org.apache.pekko.http.scaladsl.marshalling.{Marshaller, ToEntityMarshaller}
import org.apache.pekko.http.scaladsl.model.MediaTypes.`application/json`
import org.apache.pekko.http.scaladsl.model.ws.TextMessage
import org.apache.pekko.http.scaladsl.server.Directives._
import org.apache.pekko.http.scaladsl.server.Route
import org.apache.pekko.http.scaladsl.unmarshalling.{FromEntityUnmarshaller, Unmarshaller}
import org.apache.pekko.stream.scaladsl.{FileIO, Flow, Sink}

import tare.{Answers, Message, Order, Timestamps}

/** pekko-http alone, with its routing DSL. */
object VanillaRoutes {

  /** The routes of `/path0` to `/path{routes - 1}`, then the others, tried one after another as pekko-http does.
    *
    * The path is outermost, so that it is built once. What is inside a directive without parameters, such as `get`, is
    * built again for each request that reaches it.
    */
  def apply(routes: Int): Route = concat(List.range(0, routes).map(route) :+ others: _*)

  private def route(n: Int): Route = concat(
    path(s"path$n" / IntNumber)(id => get(complete(Answers.get(n, id)))),
    path(s"path$n")(post(entity(as[String])(body => complete(Answers.postString(n, body))))),
    path(s"pathBytes$n")(post(entity(as[Array[Byte]])(body => complete(Answers.postBytes(n, body)))))
  )

  private def others: Route = concat(
    path("text")(get(complete(Answers.Text))),
    path("json")(get(complete(Message(Answers.Text)))),
    path("echo")(post(entity(as[Order])(order => complete(order)))),
    path("file")(post(upload)),
    pathPrefix("ws")(concat(Timestamps.all.map { case (name, timestamp) => path(name)(push(timestamp)) }: _*))
  )

  private def upload: Route =
    (extractRequestEntity & extractMaterializer) { (entity, materializer) =>
      val file = Answers.emptyFile()
      val saved = entity.dataBytes.runWith(FileIO.toPath(file.toPath))(materializer)
      onSuccess(saved)(_ => complete(Answers.upload(file)))
    }

  /** Messages from the client are read and discarded. */
  private def push(timestamp: () => String): Route =
    handleWebSocketMessages(Flow.fromSinkAndSource(Sink.ignore, TimestampStream(timestamp).map(TextMessage(_))))

  implicit private val messages: ToEntityMarshaller[Message] = toJson
  implicit private val orders: ToEntityMarshaller[Order] = toJson

  implicit private val order: FromEntityUnmarshaller[Order] =
    Unmarshaller.stringUnmarshaller.forContentTypes(`application/json`).map(decode[Order](_).fold(throw _, identity))

  private def toJson[T: Encoder]: ToEntityMarshaller[T] =
    Marshaller.stringMarshaller(`application/json`).compose(_.asJson.noSpaces)
}
