//! Planning: what a number of forks may have missed. Forecasts, never verdicts.

/// The share of starts below which a mode may exist that `forks` forks have missed, with 95 % confidence.
///
/// Ten forks can have missed a behaviour that shows in up to 26 % of the starts. With no fork it is 1: anything may exist.
///
/// # Source
/// (1 − p)^K = 0.05, solved for p.
pub fn rare_mode_share(forks: u32) -> f64 {
    if forks == 0 { 1.0 } else { 1.0 - 0.05f64.powf(1.0 / f64::from(forks)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_modes_follow_the_rule() {
        // By hand: K = 1 → 95 %, 5 → 45.1 %, 10 → 25.9 %, 59 → 4.95 %.
        for (forks, share) in [(0, 1.0), (1, 0.95), (5, 0.4507), (10, 0.2589), (59, 0.0495)] {
            assert!((rare_mode_share(forks) - share).abs() < 1e-4, "{forks}");
        }
    }
}
