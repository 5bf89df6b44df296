import java.io.File;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/**
 * Reads an interval log with HdrHistogram's library. Prints the number of values of each interval, then for all values together a line
 * with count, least and largest value, mean and standard deviation in nanoseconds, and the percentile distribution in milliseconds.
 */
public final class ReadHistograms {
  private static final int DIGITS = 3;
  private static final int TICKS_PER_HALF_DISTANCE = 5;
  private static final double NS_PER_MS = 1e6;

  public static void main(String[] args) throws Exception {
    Histogram all = new Histogram(DIGITS);
    try (HistogramLogReader log = new HistogramLogReader(new File(args[0]))) {
      for (Histogram part = (Histogram) log.nextIntervalHistogram(); part != null; part = (Histogram) log.nextIntervalHistogram()) {
        System.out.println("interval " + part.getTotalCount());
        all.add(part);
      }
    }
    System.out.println(
        "all " + all.getTotalCount() + " " + all.getMinValue() + " " + all.getMaxValue() + " " + all.getMean() + " " + all.getStdDeviation());
    all.outputPercentileDistribution(System.out, TICKS_PER_HALF_DISTANCE, NS_PER_MS);
  }
}
