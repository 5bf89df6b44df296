package tare

/** What the endpoints answer, as contract.toml has it: the work proper, the same on both sides of a comparison. */
object Answers {

  /** How many routes a server named `Multi` has: `/path0` to `/path127`. */
  val MultiRoutes = 128

  def get(n: Int, id: Int): String = (n + id).toString

  def postString(n: Int, body: String): String = s"Ok [$n], string length = ${body.length}"

  def postBytes(n: Int, body: Array[Byte]): String = s"Ok [$n], bytes length = ${body.length}"
}
