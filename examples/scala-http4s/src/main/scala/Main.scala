import cats.effect.{IO, IOApp}
import com.comcast.ip4s.{Port, host}
import org.http4s.{HttpApp, HttpRoutes}
import org.http4s.dsl.io.*
import org.http4s.ember.server.EmberServerBuilder
import org.http4s.server.middleware.RequestId
import org.typelevel.log4cats.LoggerFactory
import org.typelevel.log4cats.noop.NoOpFactory

/** A server of http4s. LAYER=1 puts http4s's own middleware for request ids around it. */
object Main extends IOApp.Simple:
  given LoggerFactory[IO] = NoOpFactory[IO]

  private val bare: HttpApp[IO] = HttpRoutes.of[IO] { case GET -> Root => Ok("hello") }.orNotFound

  private val app = if sys.env.contains("LAYER") then RequestId(bare) else bare

  override def run: IO[Unit] =
    val port = sys.env.get("PORT").flatMap(Port.fromString).getOrElse(sys.error("PORT is not set"))
    EmberServerBuilder.default[IO].withHost(host"127.0.0.1").withPort(port).withHttpApp(app).build.useForever
