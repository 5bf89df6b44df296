package tare.http4s

import cats.data.Kleisli
import cats.effect.IO
import org.http4s.HttpRoutes

import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.LongAdder

/** The baseline with a known cost: each request runs a busy loop of `-Dtare.planted.ns` nanoseconds first. It is in no
  * catalog; bench/decide compares it with itself without the loop, to see whether a cost of known size is found. It prints what the
  * loop has cost when it ends.
  */
object Planted extends EmberServer(PlantedRoutes(VanillaRoutes(1)), VanillaPushes(_))

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

/** A loop that times one run in sixteen. It was calibrated on a core at full speed; during a measurement cores are slower for a good
  * part of the time, and so is the rest of a request.
  */
final class TimedLoop(loop: BusyLoop, expectedNs: Long):
  private val runs = LongAdder()
  private val timedNs = LongAdder()

  /** Runs the loop. */
  def run(): Unit =
    if ThreadLocalRandom.current().nextInt(TimedLoop.OneIn) == 0 then
      val ns = BusyLoop.time(loop)
      if ns < expectedNs * TimedLoop.Longest then
        runs.increment()
        timedNs.add(ns)
    else loop.run()

  /** What a run has cost on average. */
  def summary: String =
    val timed = runs.sum()
    f"planted: ${timedNs.sum().toDouble / timed.max(1)}%.1f ns a request, from $timed timed ones"

object TimedLoop:
  private val OneIn = 16

  /** A run that takes so many times what is expected was interrupted by another thread, and says nothing. */
  private val Longest = 20

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

  /** The loop that takes this long on a core at full speed. The fastest round of two seconds gives the time of a step: the
    * compilers share the cores with other servers that start, and a core may be slow for a while.
    */
  def lasting(ns: Long): BusyLoop =
    val (trial, end) = (BusyLoop(Steps), System.nanoTime() + TrialNs)
    val quickest = Iterator.continually(time(trial)).takeWhile(_ => System.nanoTime() < end).min
    BusyLoop(math.round(ns.toDouble * Steps / quickest))

  /** The nanoseconds of one run. */
  def time(loop: BusyLoop): Long =
    val begin = System.nanoTime()
    loop.run()
    System.nanoTime() - begin
