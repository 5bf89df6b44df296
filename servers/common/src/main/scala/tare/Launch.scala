package tare

import java.net.BindException

import scala.util.Try

/** Starts a server. Its one argument is the port. It prints a line when it listens. SIGTERM ends it. */
object Launch {

  /** Servers under test are reachable from another machine only where tare asks for it. */
  val Host = sys.env.getOrElse("TARE_ADDRESS", "127.0.0.1")

  /** Calls `listen` with the port in the arguments (0 = any free one), prints the returned port, and waits forever.
    *
    * A wrong argument ends the process with exit code 2, a port in use with 1, each with one line on standard error.
    */
  def serve(args: Array[String])(listen: Int => Int): Unit = {
    val port = parse(args.toList).fold(exit(2, _), identity)
    val bound =
      try listen(port)
      catch { case e: BindException => exit(1, s"cannot listen on $Host:$port: ${e.getMessage}") }
    println(s"tare: ready on $Host:$bound")
    // The servers run on their own threads. A signal ends the JVM, and there is nothing to clean up.
    Thread.currentThread.join()
  }

  private def parse(args: List[String]): Either[String, Int] = args match {
    case List(text) =>
      Try(text.toInt).toOption
        .filter(port => port >= 0 && port <= 65535)
        .toRight(s""""$text" is not a port: give a number from 0 (any free port) to 65535""")
    case _ => Left("expected one argument, the port to listen on (0 = any free port)")
  }

  private def exit(code: Int, message: String): Nothing = {
    System.err.println(s"error: $message")
    sys.exit(code)
  }
}
