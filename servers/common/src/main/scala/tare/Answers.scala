package tare

import java.io.File

/** What the endpoints answer, as contract.toml has it: the work proper, the same on both sides of a comparison. */
object Answers {

  /** How many routes a server named `Multi` has: `/path0` to `/path127`. */
  val MultiRoutes = 128

  /** A body beyond this is refused with 413, where the library can refuse one. */
  val MaxBodyBytes = 6 * 1024 * 1024

  /** What `/text` and, as a JSON document, `/json` say. */
  val Text = "Hello, World!"

  def get(n: Int, id: Int): String = (n + id).toString

  def postString(n: Int, body: String): String = s"Ok [$n], string length = ${body.length}"

  def postBytes(n: Int, body: Array[Byte]): String = s"Ok [$n], bytes length = ${body.length}"

  /** About an upload that has been saved; the file is not needed afterwards. */
  def upload(saved: File): String = {
    val length = saved.length
    saved.delete()
    s"Ok, file length = $length"
  }

  /** A new and empty file for an upload. */
  def emptyFile(): File = File.createTempFile("tare-upload-", null)
}
