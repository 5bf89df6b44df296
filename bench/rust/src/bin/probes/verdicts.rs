//! One line per check: the planted value, the value of the probes, and whether they agree.

/// Number of failed checks.
#[derive(Default)]
pub struct Verdicts {
    failed: usize,
}

impl Verdicts {
    /// Prints the title of a group.
    pub fn head(&self, title: &str) {
        println!("\n{title}\n  {:44} {:>14} {:>14} {:>11}  of", "", "truth", "probe", "off by");
    }

    /// Checks that a figure is within `tolerance` of the truth, in `unit`.
    pub fn close(&mut self, what: &str, unit: &str, truth: f64, said: f64, tolerance: f64) {
        let off = said - truth;
        let word = self.word(off.abs() <= tolerance);
        println!("  {what:44} {truth:>11.3} {unit:2} {said:>11.3} {unit:2} {off:>+11.3}  {tolerance:.3}  {word}");
    }

    /// Checks that a word is the right one.
    pub fn same(&mut self, what: &str, truth: &str, said: &str) {
        let word = self.word(truth == said);
        println!("  {what:44} {truth:>14} {said:>14} {:>11}  {word}", "");
    }

    /// Prints a ratio with its interval. It fails if the whole interval is above `limit`, if there is one.
    pub fn ratio(&mut self, what: &str, (ratio, lo, hi): (f64, f64, f64), pairs: usize, limit: Option<f64>) {
        let held = limit.map(|limit| format!(", below {limit:.2}  {}", self.word(lo <= limit))).unwrap_or_default();
        println!("  {what:44} {ratio:.4} [{lo:.4}, {hi:.4}] over {pairs} pairs{held}");
    }

    /// Reports a check that is not possible on this machine.
    pub fn left_out(&self, what: &str, why: &str) {
        println!("  {what:44} not tried: {why}");
    }

    /// Prints the overall result.
    pub fn conclude(&self) -> bool {
        println!(
            "\n{}",
            if self.failed == 0 { "all of it holds".into() } else { format!("{} do not hold", self.failed) }
        );
        self.failed == 0
    }

    fn word(&mut self, holds: bool) -> &'static str {
        self.failed += usize::from(!holds);
        if holds { "PASS" } else { "FAIL" }
    }
}
