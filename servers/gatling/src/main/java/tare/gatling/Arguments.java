package tare.gatling;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The arguments from tare. Gatling creates its simulations itself and passes them no arguments, so {@link #current}
 * holds them.
 *
 * @param body the file with the request's body; null where it has none
 */
record Arguments(
    Path results,
    String url,
    String method,
    Path body,
    int status,
    int users,
    Duration length,
    Duration timeout,
    Map<String, String> headers) {

  /** The arguments of this process, for the simulation. */
  static Arguments current;

  /** The number of arguments before the headers. */
  private static final int FIXED = 8;

  static Arguments of(String[] args) {
    if (args.length < FIXED || (args.length - FIXED) % 2 != 0) {
      throw new IllegalArgumentException(
          "expected RESULTS URL METHOD BODY STATUS USERS SECONDS TIMEOUT_MS and NAME VALUE of headers");
    }
    var headers = new LinkedHashMap<String, String>();
    for (int i = FIXED; i < args.length; i += 2) {
      headers.put(args[i], args[i + 1]);
    }
    return new Arguments(
        Path.of(args[0]),
        args[1],
        args[2],
        args[3].equals("-") ? null : Path.of(args[3]),
        Integer.parseInt(args[4]),
        Integer.parseInt(args[5]),
        Duration.ofSeconds(Long.parseLong(args[6])),
        Duration.ofMillis(Long.parseLong(args[7])),
        headers);
  }
}
