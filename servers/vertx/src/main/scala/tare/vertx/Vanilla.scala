package tare.vertx

import io.circe.parser.decode
import io.circe.syntax.*
import io.vertx.core.Vertx
import io.vertx.core.file.OpenOptions
import io.vertx.ext.web.handler.BodyHandler
import io.vertx.ext.web.{Router, RoutingContext}

import tare.{Answers, Message, Order, Timestamps}

/** The baselines: Vert.x alone, with its router. */
object Vanilla extends VertxServer(VanillaRoutes(1))

object VanillaMulti extends VertxServer(VanillaRoutes(Answers.MultiRoutes))

object VanillaRoutes:

  /** The routes of `/path0` to `/path{routes - 1}`, then the others. */
  def apply(routes: Int)(vertx: Vertx, router: Router): Unit =
    val body = BodyHandler.create(false).setBodyLimit(Answers.MaxBodyBytes.toLong)
    for n <- 0 until routes do
      router.get(s"/path$n/:id").handler(withId(_, id => Answers.get(n, id)))
      router.post(s"/path$n").handler(body).handler(context => text(context, Answers.postString(n, string(context))))
      router.post(s"/pathBytes$n").handler(body).handler(context => text(context, Answers.postBytes(n, bytes(context))))
    router.get("/text").handler(text(_, Answers.Text))
    router.get("/json").handler(json(_, Message(Answers.Text).asJson.noSpaces))
    router.post("/echo").handler(body).handler(echo)
    router.post("/file").handler(upload(vertx, _))
    for (name, timestamp) <- Timestamps.all do router.get(s"/ws/$name").handler(push(vertx, timestamp, _))

  private def withId(context: RoutingContext, answer: Int => String): Unit =
    context.pathParam("id").toIntOption.fold(context.fail(400))(id => text(context, answer(id)))

  private def string(context: RoutingContext): String = Option(context.body.asString).getOrElse("")

  private def bytes(context: RoutingContext): Array[Byte] =
    Option(context.body.buffer).fold(Array.emptyByteArray)(_.getBytes)

  private def echo(context: RoutingContext): Unit =
    decode[Order](string(context)).fold(_ => context.fail(400), order => json(context, order.asJson.noSpaces))

  private def upload(vertx: Vertx, context: RoutingContext): Unit =
    val (request, saved) = (context.request, Answers.emptyFile())
    // No data may arrive before the file is open.
    request.pause()
    vertx.fileSystem
      .open(saved.getPath, OpenOptions().setTruncateExisting(true))
      .compose(file => request.pipeTo(file))
      .onSuccess(_ => text(context, Answers.upload(saved)))
      .onFailure(context.fail(_))

  private def push(vertx: Vertx, timestamp: () => String, context: RoutingContext): Unit =
    context.request.toWebSocket
      .onSuccess { socket =>
        val timer = vertx.setPeriodic(Timestamps.Period.toMillis, _ => socket.writeTextMessage(timestamp()))
        socket.closeHandler(_ => vertx.cancelTimer(timer))
      }
      .onFailure(context.fail(400, _))

  private def text(context: RoutingContext, body: String): Unit = end(context, "text/plain; charset=UTF-8", body)

  private def json(context: RoutingContext, body: String): Unit = end(context, "application/json", body)

  private def end(context: RoutingContext, contentType: String, body: String): Unit =
    context.response.putHeader("content-type", contentType).end(body)
