package tare

import java.io.ByteArrayInputStream
import java.nio.charset.StandardCharsets.US_ASCII
import java.security.{KeyFactory, KeyStore}
import java.security.cert.CertificateFactory
import java.security.spec.PKCS8EncodedKeySpec
import java.util.Base64
import javax.net.ssl.{KeyManagerFactory, SSLContext}

/** What a server speaks: HTTP/1.1, or what `TARE_PROTOCOL` says instead. A server that does not ask speaks HTTP/1.1. */
object Protocol {

  /** Whether it is HTTP/2: `h2c` without TLS, `h2` over TLS. */
  val IsHttp2: Boolean = sys.env.get("TARE_PROTOCOL").exists(Set("h2c", "h2"))

  /** The certificate and its private key (PEM), where it is HTTP/2 over TLS. */
  val Certificate: Option[String] =
    sys.env.get("TARE_CERTIFICATE").filter(_ => sys.env.get("TARE_PROTOCOL").contains("h2"))

  /** The same for the TLS of the JDK. The library adds what it offers by ALPN. */
  lazy val Tls: Option[SSLContext] = Certificate.map(toContext)

  private def toContext(pem: String): SSLContext = {
    val bytes = new ByteArrayInputStream(pem.getBytes(US_ASCII))
    val certificate = CertificateFactory.getInstance("X.509").generateCertificate(bytes)
    val encoded = Base64.getMimeDecoder.decode(pem.split("-----(BEGIN|END) PRIVATE KEY-----")(1).trim)
    val key = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(encoded))
    val password = Array.emptyCharArray
    val store = KeyStore.getInstance(KeyStore.getDefaultType)
    store.load(null, password)
    store.setKeyEntry("server", key, password, Array(certificate))
    val managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm)
    managers.init(store, password)
    val context = SSLContext.getInstance("TLS")
    context.init(managers.getKeyManagers, null, null)
    context
  }
}
