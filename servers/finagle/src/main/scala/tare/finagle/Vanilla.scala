package tare.finagle

import java.net.InetSocketAddress

import com.twitter.conversions.StorageUnitOps._
import com.twitter.finagle.http.path._
import com.twitter.finagle.http.service.RoutingService
import com.twitter.finagle.http.{Method, Request, Response, Status, Version}
import com.twitter.finagle.{Http, Service}
import com.twitter.io.Buf
import com.twitter.util.Future
import io.circe.parser.decode
import io.circe.syntax._

import tare.{Answers, Launch, Message, Order}

/** Finagle alone, with the routing of its own HTTP package. */
object Vanilla extends FinagleServer(1)

object VanillaMulti extends FinagleServer(Answers.MultiRoutes)

abstract class FinagleServer(routes: Int) {

  def main(args: Array[String]): Unit = Launch.serve(args) { port =>
    val server = Http.server
      .withLabel("tare")
      .withMaxRequestSize(Answers.MaxBodyBytes.bytes)
      .serve(new InetSocketAddress(Launch.Host, port), VanillaRoutes(routes))
    server.boundAddress.asInstanceOf[InetSocketAddress].getPort
  }
}

object VanillaRoutes {
  private type Routes = PartialFunction[(Method, Path), Service[Request, Response]]

  /** The routes of `/path0` to `/path{routes - 1}`, then the others, tried one after another. */
  def apply(routes: Int): Service[Request, Response] =
    RoutingService.byMethodAndPathObject((List.range(0, routes).map(route) :+ others).reduceLeft(_ orElse _))

  private def route(n: Int): Routes = {
    val path = s"path$n"
    val pathBytes = s"pathBytes$n"

    {
      case Method.Get -> Root / `path` / Integer(id) => service(_ => text(Answers.get(n, id)))
      case Method.Post -> Root / `path`      => service(request => text(Answers.postString(n, request.contentString)))
      case Method.Post -> Root / `pathBytes` => service(request => text(Answers.postBytes(n, bytes(request))))
    }
  }

  private val others: Routes = {
    case Method.Get -> Root / "text"  => service(_ => text(Answers.Text))
    case Method.Get -> Root / "json"  => service(_ => json(Message(Answers.Text).asJson.noSpaces))
    case Method.Post -> Root / "echo" => service(echo)
    case Method.Post -> Root / "file" => service(upload)
  }

  private def service(answer: Request => Response): Service[Request, Response] =
    Service.mk(request => Future.value(answer(request)))

  private def bytes(request: Request): Array[Byte] = Buf.ByteArray.Owned.extract(request.content)

  private def echo(request: Request): Response =
    decode[Order](request.contentString).fold(_ => Response(Status.BadRequest), order => json(order.asJson.noSpaces))

  private def upload(request: Request): Response = {
    val file = Answers.emptyFile()
    java.nio.file.Files.write(file.toPath, bytes(request))
    text(Answers.upload(file))
  }

  private def text(body: String): Response = respond("text/plain; charset=UTF-8", body)

  private def json(body: String): Response = respond("application/json", body)

  private def respond(contentType: String, body: String): Response = {
    val response = Response(Version.Http11, Status.Ok)
    response.headerMap.setUnsafe("Content-Type", contentType)
    response.contentString = body
    response
  }
}
