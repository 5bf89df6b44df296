package tare

import java.net.BindException

import scala.util.Try

/** The life of every server: one argument, the port; one line on standard output once it listens; the end by SIGTERM. */
object Launch {

  /** Servers under test are never reachable from another machine. */
  val Host = "127.0.0.1"

  /** Has `listen` open the port that the arguments name (0 = any free one) and return the port it got, says so, and stays.
    *
    * A wrong argument ends the process with exit code 2, a port in use with 1, each with one line on standard error.
    */
  def serve(args: Array[String])(listen: Int => Int): Unit = {
    val port = parse(args.toList).fold(exit(2, _), identity)
    val bound =
      try listen(port)
      catch { case e: BindException => exit(1, s"cannot listen on $Host:$port: ${e.getMessage}") }
    println(s"tare: ready on $Host:$bound")
    // The servers run on threads of their own. A signal ends the JVM; nothing outlives it that would need tidying.
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
