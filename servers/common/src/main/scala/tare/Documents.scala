package tare

import io.circe.Codec
import io.circe.generic.semiauto.deriveCodec

/** The JSON documents of `/json` and `/echo`. All servers use circe, so that no comparison measures a JSON library. */
final case class Message(message: String)

object Message {
  implicit val codec: Codec[Message] = deriveCodec
}

final case class Item(id: Int, name: String, tags: List[String], active: Boolean)

object Item {
  implicit val codec: Codec[Item] = deriveCodec
}

final case class Order(items: List[Item], note: String)

object Order {
  implicit val codec: Codec[Order] = deriveCodec
}
