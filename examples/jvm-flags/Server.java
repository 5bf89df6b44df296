import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;

/** Answers every request with a small text, for which it makes some garbage: a collector has something to do. */
public final class Server {
  private static final byte[] HELLO = "hello".getBytes(StandardCharsets.UTF_8);

  public static void main(String[] args) throws Exception {
    System.setProperty("sun.net.httpserver.nodelay", "true");
    int port = Integer.parseInt(System.getenv("PORT"));
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1024);
    server.setExecutor(Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors()));
    server.createContext("/", exchange -> {
      exchange.getResponseHeaders().set("Content-Type", "text/plain");
      exchange.getResponseHeaders().set("X-Garbage", Integer.toString(garbage().size()));
      exchange.sendResponseHeaders(200, HELLO.length);
      try (var body = exchange.getResponseBody()) {
        body.write(HELLO);
      }
    });
    server.start();
  }

  /** About 64 KiB of objects that are dead after the request. */
  private static List<byte[]> garbage() {
    var all = new ArrayList<byte[]>();
    for (int count = 0; count < 64; count++) {
      all.add(new byte[1024]);
    }
    return all;
  }
}
