package tare.gatling;

import io.gatling.app.Gatling;

/** Runs the simulation, and lets Gatling write its report into a folder below the results. */
public final class Main {
  private Main() {}

  public static void main(String[] args) {
    Arguments.current = Arguments.of(args);
    Gatling.main(
        new String[] {
          "--simulation", ClosedLoop.class.getName(), "--results-folder", Arguments.current.results().toString()
        });
  }
}
