import java.io.File
import java.nio.file.{Files, StandardCopyOption}

import sbt.{IO, fileToRichFile}
import sjsonnew.shaded.scalajson.ast.unsafe._
import sjsonnew.support.scalajson.unsafe.PrettyPrinter

/** JSON documents, built with sbt's JSON library and written atomically. */
object Json {
  type Document = JValue

  def string(text: String): Document = JString(text)
  def number(value: Int): Document = JNumber(value)
  def array(values: Seq[Document]): Document = JArray(values.toArray)
  def obj(fields: (String, Document)*): Document =
    JObject(fields.map { case (name, value) => JField(name, value) }.toArray)

  /** Replaces `file` atomically and returns it: a reader sees the old document or the new one. */
  def write(file: File, document: Document): File = {
    IO.createDirectory(file.getParentFile)
    val draft = File.createTempFile(file.name, ".tmp", file.getParentFile)
    IO.write(draft, PrettyPrinter(document) + "\n")
    Files.move(draft.toPath, file.toPath, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING)
    file
  }
}
