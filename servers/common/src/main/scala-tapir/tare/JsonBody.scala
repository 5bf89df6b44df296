package tare

import io.circe.parser.decode
import io.circe.syntax._
import io.circe.{Decoder, Encoder}
import sttp.tapir.{Codec, DecodeResult, Schema}
import sttp.tapir.Codec.JsonCodec

/** Tapir's integration of circe, copied from its own module, which is not published for every version and every Scala. */
object JsonBody {
  implicit def circe[T: Encoder: Decoder: Schema]: JsonCodec[T] =
    Codec.json[T] { text =>
      decode[T](text).fold[DecodeResult[T]](error => DecodeResult.Error(text, error), DecodeResult.Value(_))
    }(_.asJson.noSpaces)
}
