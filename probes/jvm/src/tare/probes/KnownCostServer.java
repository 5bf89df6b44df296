package tare.probes;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * A server of known cost on a JVM: each request burns and allocates what was planted, {@code /gc} collects a heap of
 * planted size, and {@code /cpu-totals} returns the sums by the JVM's own counters.
 *
 * <p>One thread, one request at a time on a connection, no bodies: what is not planted is to be as little as possible.
 * Arguments: port, CPU of a request in microseconds, bytes that it allocates, live objects of the heap in thousands.
 */
public final class KnownCostServer {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final byte[] HELLO = answer("Hello, tare");

  private final long spinNs;
  private final int allocate;
  /** What the collector has to mark and move. */
  private final Object[][] live;
  private final ByteBuffer in = ByteBuffer.allocateDirect(16 * 1024);
  private final ByteBuffer out = ByteBuffer.allocateDirect(16 * 1024);
  private final byte[] head = new byte[16];

  private long requests;
  private long collected;
  private long collectingNs;
  /** CPU burnt beyond what was planted so far, and owed by the next request. */
  private long overspentNs;
  /** Keeps what is allocated from being optimised away. */
  private byte[] garbage;

  private KnownCostServer(long spinNs, int allocate, int liveThousands) {
    this.spinNs = spinNs;
    this.allocate = allocate;
    this.live = new Object[liveThousands][];
    for (int i = 0; i < liveThousands; i++) {
      live[i] = new Object[1000];
      for (int k = 0; k < 1000; k++) live[i][k] = new int[2];
    }
  }

  public static void main(String[] arguments) throws IOException {
    var server =
        new KnownCostServer(
            Long.parseLong(arguments[1]) * 1000, Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]));
    Thread.currentThread().setName("server-loop");
    server.serve(Integer.parseInt(arguments[0]));
  }

  private void serve(int port) throws IOException {
    try (var selector = Selector.open();
        var listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1024);
      listener.configureBlocking(false);
      listener.register(selector, SelectionKey.OP_ACCEPT);
      System.out.println("tare: ready on 127.0.0.1:" + ((InetSocketAddress) listener.getLocalAddress()).getPort());
      while (true) selector.select(this::handle);
    }
  }

  private void handle(SelectionKey key) {
    try {
      if (key.isAcceptable()) {
        var connection = ((ServerSocketChannel) key.channel()).accept();
        connection.configureBlocking(false);
        connection.setOption(StandardSocketOptions.TCP_NODELAY, true);
        connection.register(key.selector(), SelectionKey.OP_READ);
      } else if (!read((SocketChannel) key.channel())) {
        key.channel().close();
      }
    } catch (IOException gone) {
      key.cancel();
    }
  }

  /** Answers what has come; false at its end. A request comes in one piece, or in pieces that are thrown away. */
  private boolean read(SocketChannel connection) throws IOException {
    in.clear();
    int count = connection.read(in);
    if (count < head.length) return count >= 0;
    in.get(0, head);
    if (head[5] == 'g' && head[6] == 'c') write(connection, answer(collect()));
    else if (head[5] == 'c' && head[6] == 'p') write(connection, answer(totals()));
    else {
      spend();
      write(connection, HELLO);
    }
    return true;
  }

  private void spend() {
    requests++;
    if (allocate > 0) garbage = new byte[allocate];
    if (spinNs > 0) {
      long begin = THREADS.getCurrentThreadCpuTime();
      long end = begin + spinNs - overspentNs;
      long now = begin;
      while (now < end) now = THREADS.getCurrentThreadCpuTime();
      overspentNs = now - end;
    }
  }

  private String collect() {
    long begin = System.nanoTime();
    System.gc();
    collectingNs += System.nanoTime() - begin;
    collected++;
    return "collected";
  }

  /** Requests, CPU and bytes of the thread that serves, collections and time in these, and nothing else. */
  private String totals() {
    return String.format(
        Locale.ROOT,
        "%d %d %d %d %d",
        requests,
        THREADS.getCurrentThreadCpuTime(),
        THREADS.getThreadAllocatedBytes(Thread.currentThread().getId()),
        collected,
        collectingNs);
  }

  private void write(SocketChannel connection, byte[] answer) throws IOException {
    out.clear();
    out.put(answer).flip();
    while (out.hasRemaining()) connection.write(out);
  }

  private static byte[] answer(String body) {
    var head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + body.length() + "\r\n\r\n";
    return (head + body).getBytes(StandardCharsets.US_ASCII);
  }
}
