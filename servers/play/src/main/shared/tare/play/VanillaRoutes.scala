package tare.play

import io.circe.parser.decode
import io.circe.syntax.*
import org.apache.pekko.stream.scaladsl.{Flow, Sink, Source}
import org.apache.pekko.util.ByteString
import play.api.BuiltInComponents
import play.api.libs.Files.TemporaryFile
import play.api.mvc.{BodyParser, Request, Result, WebSocket}
import play.api.mvc.Results.{BadRequest, Ok}
import play.api.routing.Router
import play.api.routing.sird.*

import tare.{Answers, Message, Order, Timestamps}

/** Play alone, with its String Interpolating Routing DSL. */
final class VanillaRoutes(components: BuiltInComponents):
  import components.{defaultActionBuilder as action, playBodyParsers as parse}

  /** The routes of `/path0` to `/path{routes - 1}`, then the others, tried one after another as Play does. */
  def apply(routes: Int): Router =
    Router.from((List.range(0, routes).map(route) :+ others :+ webSockets).reduceLeft(_ orElse _))

  // The types are written out, because without them Play's overloads take these values for functions.
  private val asString: BodyParser[String] = parse.tolerantText(Answers.MaxBodyBytes.toLong)
  private val asBytes: BodyParser[ByteString] = parse.byteString(Answers.MaxBodyBytes.toLong)
  private val asFile: BodyParser[TemporaryFile] = parse.temporaryFile(Answers.MaxBodyBytes.toLong)

  private def route(n: Int): Router.Routes =
    // As in `p"/path0/${int(id)}"`. The interpolator itself takes no number that is known at run time only.
    val withId = StringContext(s"/path$n/", "").p
    val path = StringContext(s"/path$n").p
    val pathBytes = StringContext(s"/pathBytes$n").p
    val postString = action(asString)((request: Request[String]) => text(Answers.postString(n, request.body)))
    val postBytes = action(asBytes)((request: Request[ByteString]) => text(Answers.postBytes(n, request.body.toArray)))

    {
      case GET(withId(int(id))) => action(text(Answers.get(n, id)))
      case POST(path())         => postString
      case POST(pathBytes())    => postBytes
    }

  private def others: Router.Routes =
    val textAction = action(text(Answers.Text))
    val jsonAction = action(json(Message(Answers.Text).asJson.noSpaces))
    val echoAction = action(asString)((request: Request[String]) => echo(request.body))
    val fileAction = action(asFile)((request: Request[TemporaryFile]) => text(Answers.upload(request.body.path.toFile)))

    {
      case GET(p"/text")  => textAction
      case GET(p"/json")  => jsonAction
      case POST(p"/echo") => echoAction
      case POST(p"/file") => fileAction
    }

  /** Messages from the client are read and discarded. */
  private def webSockets: Router.Routes =
    val sockets =
      Timestamps.all.map((name, timestamp) => name -> WebSocket.accept[String, String](_ => push(timestamp))).toMap

    { case GET(p"/ws/$name") if sockets.contains(name) => sockets(name) }

  private def push(timestamp: () => String): Flow[String, String, ?] =
    Flow.fromSinkAndSource(Sink.ignore, Source.tick(Timestamps.Period, Timestamps.Period, ()).map(_ => timestamp()))

  private def echo(body: String): Result =
    decode[Order](body).fold(_ => BadRequest, order => json(order.asJson.noSpaces))

  private def text(body: String): Result = Ok(body).as("text/plain; charset=UTF-8")

  private def json(body: String): Result = Ok(body).as("application/json")
