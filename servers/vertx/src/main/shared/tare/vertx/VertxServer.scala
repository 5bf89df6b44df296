package tare.vertx

import java.util.concurrent.TimeUnit

import io.vertx.core.Vertx
import io.vertx.core.buffer.Buffer
import io.vertx.core.http.HttpServerOptions
import io.vertx.core.net.PemKeyCertOptions
import io.vertx.ext.web.Router

import tare.{Launch, Protocol}

/** Serves the routes that `fill` puts into Vert.x's router, with the same settings on both sides of a comparison: Vert.x's
  * own defaults, except where a comment gives the reason. One server has one event loop, as it has for Vert.x's own users.
  */
abstract class VertxServer(fill: (Vertx, Router) => Unit):

  def main(args: Array[String]): Unit = Launch.serve(args)(listen)

  private def listen(port: Int): Int =
    val vertx = Vertx.vertx()
    val router = Router.router(vertx)
    fill(vertx, router)
    val options = HttpServerOptions()
      .setHost(Launch.Host)
      .setPort(port)
      // This is Vert.x's default. It is written out so that a comparison does not depend on it.
      .setTcpNoDelay(true)
    // Without TLS it also answers in HTTP/2 those clients that begin with it.
    Protocol.Certificate.map(Buffer.buffer(_)).foreach { pem =>
      val identity = PemKeyCertOptions().setCertValue(pem).setKeyValue(pem)
      options.setSsl(true).setUseAlpn(true).setKeyCertOptions(identity)
    }
    val started = vertx.createHttpServer(options).requestHandler(router).listen()
    started.toCompletionStage.toCompletableFuture.get(30, TimeUnit.SECONDS).actualPort
