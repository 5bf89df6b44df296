package tare.http4s

import cats.data.Kleisli
import cats.effect.IO
import org.http4s.HttpRoutes

import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.LongAdder

/** The baseline with a known cost: each request first runs a busy loop of `-Dtare.planted.ns` nanoseconds. It is in no
  * catalog. bench/decide compares it with itself without the loop, to test whether tare finds a cost of known size. At
  * its end it prints the measured cost of the loop.
  */
object Planted extends EmberServer(PlantedRoutes(VanillaRoutes(1)), VanillaWebSockets(_))

object PlantedRoutes:
  def apply(routes: HttpRoutes[IO]): HttpRoutes[IO] =
    val ns = java.lang.Long.getLong("tare.planted.ns", 0L)
    if ns <= 0 then routes
    else
      val loop = TimedLoop(BusyLoop.lasting(ns), ns)
      sys.addShutdownHook(println(loop.summary))
      Kleisli { request =>
        loop.run()
        routes.run(request)
      }

/** A loop that times one run in sixteen. The calibration assumes a core at full speed. During a measurement cores are
  * often slower, which slows the rest of a request as well, so the real cost must be measured.
  */
final class TimedLoop(loop: BusyLoop, expectedNs: Long):
  private val runs = LongAdder()
  private val timedNs = LongAdder()

  /** Runs the loop. */
  def run(): Unit =
    if ThreadLocalRandom.current().nextInt(TimedLoop.OneIn) == 0 then
      val ns = BusyLoop.time(loop)
      if ns < expectedNs * TimedLoop.MaxFactor then
        runs.increment()
        timedNs.add(ns)
    else loop.run()

  /** The average cost of a run, as text. */
  def summary: String =
    val timed = runs.sum()
    f"planted: ${timedNs.sum().toDouble / timed.max(1)}%.1f ns a request, from $timed timed ones"

object TimedLoop:
  private val OneIn = 16

  /** A run that takes this many times the expected time was interrupted by another thread, and does not count. */
  private val MaxFactor = 20

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
    seed = value

object BusyLoop:
  private val Steps = 100_000L
  private val TrialNs = 2_000_000_000L

  /** The loop that takes `ns` nanoseconds on a core at full speed. The fastest trial in two seconds gives the time of a
    * step, because compilers and other starting servers use the cores too, and a core can be slow for a while.
    */
  def lasting(ns: Long): BusyLoop =
    val (trial, end) = (BusyLoop(Steps), System.nanoTime() + TrialNs)
    val fastest = Iterator.continually(time(trial)).takeWhile(_ => System.nanoTime() < end).min
    BusyLoop(math.round(ns.toDouble * Steps / fastest))

  /** The nanoseconds of one run. */
  def time(loop: BusyLoop): Long =
    val begin = System.nanoTime()
    loop.run()
    System.nanoTime() - begin
