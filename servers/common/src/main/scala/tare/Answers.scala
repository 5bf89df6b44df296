package tare

import java.io.File

/** The answers of the endpoints, as in contract.toml: the application's work, the same on both sides of a comparison. */
object Answers {

  /** The number of routes of a server named `Multi`: `/path0` to `/path127`. */
  val MultiRoutes = 128

  /** A longer body is answered with 413, if the library can do so. */
  val MaxBodyBytes = 6 * 1024 * 1024

  /** The text of `/text`, and of `/json` as a JSON document. */
  val Text = "Hello, World!"

  def get(n: Int, id: Int): String = (n + id).toString

  def postString(n: Int, body: String): String = s"Ok [$n], string length = ${body.length}"

  def postBytes(n: Int, body: Array[Byte]): String = s"Ok [$n], bytes length = ${body.length}"

  /** The answer to a saved upload. Removes the file. */
  def upload(saved: File): String = {
    val length = saved.length
    saved.delete()
    s"Ok, file length = $length"
  }

  /** A new and empty file for an upload. */
  def emptyFile(): File = File.createTempFile("tare-upload-", null)
}
