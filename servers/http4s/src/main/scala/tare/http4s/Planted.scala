package tare.http4s

import cats.data.Kleisli
import cats.effect.IO
import org.http4s.HttpRoutes

/** The baseline with a known cost: each request runs a busy loop of `-Dtare.planted.ns` nanoseconds first. It is in no
  * catalog; bench/decide compares it with itself without the loop, to see whether a cost of known size is found.
  */
object Planted extends EmberServer(PlantedRoutes(VanillaRoutes(1)), VanillaPushes(_))

object PlantedRoutes:
  def apply(routes: HttpRoutes[IO]): HttpRoutes[IO] =
    val loop = BusyLoop.lasting(java.lang.Long.getLong("tare.planted.ns", 0L))
    Kleisli { request =>
      loop.run()
      routes.run(request)
    }

/** A loop of a fixed number of steps. It takes CPU, not time, so it slows down with the core like all other code. */
final class BusyLoop(steps: Long):
  @volatile private var seed = 1L

  /** Runs all steps. */
  def run(): Unit =
    var value = seed
    var left = steps
    while left > 0 do
      value = value * 6364136223846793005L + 1442695040888963407L
      left -= 1
    if steps > 0 then seed = value

object BusyLoop:
  private val Steps = 100_000L
  private val TrialNs = 2_000_000_000L

  /** The loop that takes this long on a core at full speed. The fastest round of two seconds gives the time of a step: the
    * compilers share the cores with other servers that start, and a core may be slow for a while.
    */
  def lasting(ns: Long): BusyLoop =
    if ns <= 0 then BusyLoop(0)
    else
      val (trial, end) = (BusyLoop(Steps), System.nanoTime() + TrialNs)
      val quickest = Iterator.continually(time(trial)).takeWhile(_ => System.nanoTime() < end).min
      BusyLoop(math.round(ns.toDouble * Steps / quickest))

  private def time(loop: BusyLoop): Long =
    val begin = System.nanoTime()
    loop.run()
    System.nanoTime() - begin
