package tare

import io.circe.parser.decode
import io.circe.syntax._
import io.circe.{Decoder, Encoder}
import sttp.tapir.{Codec, DecodeResult, Schema}
import sttp.tapir.Codec.JsonCodec

/** Tapir's glue for circe, as its own module has it: that module is not published for each version and each Scala. */
object JsonBody {
  implicit def circe[T: Encoder: Decoder: Schema]: JsonCodec[T] =
    Codec.json[T] { text =>
      decode[T](text).fold[DecodeResult[T]](error => DecodeResult.Error(text, error), DecodeResult.Value(_))
    }(_.asJson.noSpaces)
}
