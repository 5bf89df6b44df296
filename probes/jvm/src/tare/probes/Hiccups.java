package tare.probes;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.LockSupport;

/**
 * A meter of hiccups inside a JVM, started as an agent: how late a thread is woken that wants to run in every millisecond.
 *
 * <p>It measures only while tare wants it to, and says what it saw in a file that both map. The file's layout stands in
 * crates/sut/src/probe/hiccup/inside.rs, which reads it.
 */
public final class Hiccups implements Runnable {
  private static final long MAGIC = ByteBuffer.wrap("tarehic1".getBytes()).order(ByteOrder.LITTLE_ENDIAN).getLong();
  private static final int WORD = Long.BYTES;
  private static final int WANTED = WORD;
  private static final int RECORDING = 2 * WORD;
  private static final int COUNT = 3 * WORD;
  private static final int HEAD = 4 * WORD;

  /** 17 minutes, far beyond the longest slice; pages that are not written to take no memory. */
  private static final int MOST = 1 << 20;

  private static final long INTERVAL_NS = 1_000_000;
  /** How often a meter at rest looks whether it is wanted. */
  private static final long REST_NS = 10_000_000;

  private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final ByteBuffer file;

  private Hiccups(ByteBuffer file) {
    this.file = file;
  }

  /** Starts the meter; its file is put into {@code folder} and named after the process. */
  public static void premain(String folder) {
    try {
      var meter = new Thread(new Hiccups(map(Path.of(folder))), "tare-hiccups");
      meter.setDaemon(true);
      meter.start();
    } catch (IOException | RuntimeException refused) {
      // The server is worth more than its meter: without a file, tare says that there is none.
      System.err.println("tare: no meter of hiccups in this JVM: " + refused);
    }
  }

  private static ByteBuffer map(Path folder) throws IOException {
    var path = folder.resolve(ProcessHandle.current().pid() + ".hiccups");
    var options = new StandardOpenOption[] {
      StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE
    };
    try (var channel = FileChannel.open(path, options)) {
      var file = channel.map(FileChannel.MapMode.READ_WRITE, 0, HEAD + 2L * WORD * MOST);
      LONG.setRelease(file, 0, MAGIC);
      return file;
    }
  }

  @Override
  public void run() {
    while (true) {
      long wanted = (long) LONG.getAcquire(file, WANTED);
      if (wanted == 0) {
        LockSupport.parkNanos(REST_NS);
      } else {
        record(wanted);
      }
    }
  }

  /** Measures at deadlines that do not move, until another recording is wanted, or none. */
  private void record(long recording) {
    LONG.setRelease(file, COUNT, 0L);
    LONG.setRelease(file, RECORDING, recording);
    long count = 0;
    long due = System.nanoTime();
    while ((long) LONG.getAcquire(file, WANTED) == recording) {
      due += INTERVAL_NS;
      long now = sleepUntil(due);
      if (count < MOST) {
        int at = HEAD + (int) count * 2 * WORD;
        LONG.set(file, at, due);
        LONG.set(file, at + WORD, now - due);
        LONG.setRelease(file, COUNT, ++count);
      }
    }
  }

  /** Returns when {@code due} has passed, with the time that it is then. */
  private static long sleepUntil(long due) {
    long now = System.nanoTime();
    while (now < due) {
      LockSupport.parkNanos(due - now);
      now = System.nanoTime();
    }
    return now;
  }
}
