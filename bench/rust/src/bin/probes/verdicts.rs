//! What was planted, what the probes said, and whether the two agree: a line each.

/// How many did not hold so far.
#[derive(Default)]
pub struct Verdicts {
    failed: usize,
}

impl Verdicts {
    /// Heads a group of lines.
    pub fn head(&self, title: &str) {
        println!("\n{title}\n  {:44} {:>14} {:>14} {:>11}  of", "", "truth", "probe", "off by");
    }

    /// A figure that must lie within `tolerance` of the truth, in `unit`.
    pub fn close(&mut self, what: &str, unit: &str, truth: f64, said: f64, tolerance: f64) {
        let off = said - truth;
        let word = self.word(off.abs() <= tolerance);
        println!("  {what:44} {truth:>11.3} {unit:2} {said:>11.3} {unit:2} {off:>+11.3}  {tolerance:.3}  {word}");
    }

    /// A word that must be the right one.
    pub fn same(&mut self, what: &str, truth: &str, said: &str) {
        let word = self.word(truth == said);
        println!("  {what:44} {truth:>14} {said:>14} {:>11}  {word}", "");
    }

    /// A ratio with its interval, which must not lie above `limit` as a whole, where there is one.
    pub fn ratio(&mut self, what: &str, (ratio, lo, hi): (f64, f64, f64), pairs: usize, limit: Option<f64>) {
        let held = limit.map(|limit| format!(", below {limit:.2}  {}", self.word(lo <= limit))).unwrap_or_default();
        println!("  {what:44} {ratio:.4} [{lo:.4}, {hi:.4}] over {pairs} pairs{held}");
    }

    /// Something that could not be tried here.
    pub fn left_out(&self, what: &str, why: &str) {
        println!("  {what:44} not tried: {why}");
    }

    /// Says how it went.
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
