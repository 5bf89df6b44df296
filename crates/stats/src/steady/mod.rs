//! Is a variant warm? Judged from short windows of load: by the JIT's share of CPU, the slope of the cost, and abrupt
//! shifts of it. The run decides when to stop waiting, and what an unsteady fork means.

use crate::error::{StatsError, require, require_finite};
use crate::interval::student_t_quantile;
use crate::quantile::mean;

/// One short window of warm-up load on one variant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// The window's middle, in seconds on any clock that all windows share.
    pub time_s: f64,
    /// ln(CPU per request), or ln(throughput) if CPU is not known. Only changes matter, so the unit does not.
    pub log_cost: f64,
    /// Time of the compiler threads, as a share of the window's time (2.0: two threads were busy all the time); `None`
    /// where there is no JIT compiler, or no way to see it. The caller decides whether waiting for a core counts.
    pub compiler_share: Option<f64>,
}

/// The stretch over which the compilers' share is averaged, and to which the drift refers.
const SPAN_S: f64 = 3.0;
/// The drift of the log cost per span that still counts as none.
const DRIFT_LIMIT: f64 = 0.003;
/// The compilers' share of the time below which their backlog counts as gone.
const COMPILER_SHARE_LIMIT: f64 = 0.02;
/// Error probability of each test for drift and shift: smaller is more patient with noise.
const ALPHA: f64 = 0.05;

/// Which windows are judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyRule {
    /// How far back slope and shifts are looked for. Default 5 s.
    pub look_back_s: f64,
    /// The least number of windows that are judged. If `look_back_s` has fewer, it is extended. Default 8.
    pub min_windows: usize,
}

impl Default for SteadyRule {
    fn default() -> Self {
        Self { look_back_s: 5.0, min_windows: 8 }
    }
}

/// Why a variant is not steady yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unsteady {
    /// The series does not cover the look-back yet, or has too few windows.
    TooShort,
    /// The JIT compilers still work, for this mean share of the time.
    CompilersBusy { share: f64 },
    /// The log cost drifts by more than the limit, beyond what its noise explains.
    Drifting { drift_per_span: f64, standard_error: f64 },
    /// The log cost moved abruptly by this much, from one level to another that began then.
    Shifted { at_s: f64, log_shift: f64 },
}

/// Judges the series of one variant, in order of time: the first test that failed; `None` when it is steady. The tests
/// allow for noise: a drift counts only if its one-sided interval lies beyond the limit. So a noisy server does not
/// warm up for ever. In return noise hides small drifts: "steady" means that none was seen. Errors: a time, cost or
/// share is not finite. Source: Barrett et al., OOPSLA 2017, show why
/// steadiness must be detected; the tests are least squares and Page's mean shift.
pub fn why_unsteady(windows: &[Window], rule: &SteadyRule) -> Result<Option<Unsteady>, StatsError> {
    let points: Vec<(f64, f64)> = windows.iter().map(|w| (w.time_s, w.log_cost)).collect();
    let given = windows.iter().flat_map(|w| [Some(w.time_s), Some(w.log_cost), w.compiler_share]);
    require_finite(&given.flatten().collect::<Vec<_>>())?;
    let Some(judged) = judged_points(&points, rule) else { return Ok(Some(Unsteady::TooShort)) };
    check_compilers(windows).map_or_else(|| find_change(judged), |busy| Ok(Some(busy)))
}

/// The points that are judged, or `None` while there are too few of them or too short a time.
fn judged_points<'a>(points: &'a [(f64, f64)], rule: &SteadyRule) -> Option<&'a [(f64, f64)]> {
    // A shift needs three windows on each side, even if the rule asks for fewer.
    let fewest = rule.min_windows.max(6);
    let (first, last) = (points.first()?.0, points.last()?.0);
    // Windows are stamped at their middle, so a series that covers the look-back ends one window before it.
    let window_s = (last - first) / (points.len() - 1).max(1) as f64;
    if points.len() < fewest || last - first + window_s < rule.look_back_s {
        return None;
    }
    let within = points.iter().filter(|(t, _)| *t > last - rule.look_back_s).count();
    Some(&points[points.len() - within.max(fewest)..])
}

fn check_compilers(windows: &[Window]) -> Option<Unsteady> {
    let last = windows.last()?.time_s;
    let in_span = windows.iter().filter(|w| w.time_s > last - SPAN_S);
    let shares: Vec<f64> = in_span.filter_map(|w| w.compiler_share).collect();
    let share = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    (share >= COMPILER_SHARE_LIMIT).then_some(Unsteady::CompilersBusy { share })
}

/// Drift and shift are two explanations of one movement: where both are significant, the one that fits better is named.
fn find_change(points: &[(f64, f64)]) -> Result<Option<Unsteady>, StatsError> {
    let found = [find_drift(points)?, find_shift(points)?].into_iter().flatten();
    Ok(found.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(reason, _)| reason))
}

/// A drift beyond limit and doubt, with its t statistic.
fn find_drift(points: &[(f64, f64)]) -> Result<Option<(Unsteady, f64)>, StatsError> {
    let (slope, slope_error) = fit_slope(points)?;
    let (drift_per_span, standard_error) = (slope * SPAN_S, slope_error * SPAN_S);
    let doubt = standard_error * student_t_quantile(1.0 - ALPHA, (points.len() - 2) as f64)?;
    let drifts = drift_per_span.abs() - doubt > DRIFT_LIMIT;
    let score = drift_per_span.abs() / standard_error;
    Ok(drifts.then_some((Unsteady::Drifting { drift_per_span, standard_error }, score)))
}

/// The most significant split into an old and a new level, if it is significant after all and more than drift allows,
/// with its t statistic.
fn find_shift(points: &[(f64, f64)]) -> Result<Option<(Unsteady, f64)>, StatsError> {
    const SIDE: usize = 3;
    let splits = points.len() + 1 - 2 * SIDE;
    // Every split is a chance to be wrong: the error probability is shared among them, and between both directions.
    let critical = student_t_quantile(1.0 - ALPHA / (2.0 * splits as f64), (points.len() - 2) as f64)?;
    let split = |at: usize| (at, mean_shift(points, at));
    let strongest = (SIDE..=points.len() - SIDE).map(split).max_by(|(_, (_, a)), (_, (_, b))| a.total_cmp(b));
    let certain = strongest.filter(|(_, (size, score))| *score > critical && size.abs() > DRIFT_LIMIT);
    Ok(certain.map(|(at, (log_shift, score))| (Unsteady::Shifted { at_s: points[at].0, log_shift }, score)))
}

/// The difference of the means before and from `at` on, and its t statistic by the pooled variance of two samples.
fn mean_shift(points: &[(f64, f64)], at: usize) -> (f64, f64) {
    let (old, new) = points.split_at(at);
    let level = |side: &[(f64, f64)]| side.iter().map(|(_, y)| y).sum::<f64>() / side.len() as f64;
    let (a, b) = (level(old), level(new));
    let squares = |side: &[(f64, f64)], level: f64| side.iter().map(|(_, y)| (y - level).powi(2)).sum::<f64>();
    let variance = (squares(old, a) + squares(new, b)) / (points.len() - 2) as f64;
    let standard_error = (variance * (1.0 / old.len() as f64 + 1.0 / new.len() as f64)).sqrt();
    let size = b - a;
    (size, if size == 0.0 { 0.0 } else { size.abs() / standard_error })
}

/// The slope of the least-squares line through `(x, y)` points, and its standard error from the scatter about the line.
/// Errors: there are fewer than three points (two always fit exactly, and leave no scatter to judge by), one is not
/// finite, or all share the same x.
fn fit_slope(points: &[(f64, f64)]) -> Result<(f64, f64), StatsError> {
    let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    require("a trend", 3, &xs)?;
    require_finite(&ys)?;
    let (mean_x, mean_y) = (mean(&xs)?, mean(&ys)?);
    let sxx: f64 = xs.iter().map(|x| (x - mean_x).powi(2)).sum();
    if sxx <= 0.0 {
        return Err(StatsError::BadParameter { name: "spread of x", value: sxx, expected: "above 0" });
    }
    let sxy: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let slope = sxy / sxx;
    let residual: f64 = points.iter().map(|(x, y)| (y - mean_y - slope * (x - mean_x)).powi(2)).sum();
    Ok((slope, (residual / (points.len() - 2) as f64 / sxx).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of 0.5 s whose log cost is `cost(time)`, with a noise that alternates so that it has no trend of its
    /// own.
    fn series(seconds: f64, noise: f64, cost: impl Fn(f64) -> f64) -> Vec<Window> {
        let zigzag = [1.0, -1.0, -1.0, 1.0];
        let at = |i: usize| 0.25 + i as f64 * 0.5;
        let window =
            |i| Window { time_s: at(i), log_cost: cost(at(i)) + noise * zigzag[i % 4], compiler_share: Some(0.001) };
        (0..(seconds * 2.0) as usize).map(window).collect()
    }

    fn reason(windows: &[Window]) -> Option<Unsteady> {
        why_unsteady(windows, &SteadyRule::default()).unwrap()
    }

    #[test]
    fn a_flat_series_is_steady_whatever_its_noise() {
        for noise in [0.0, 0.01, 0.15] {
            assert_eq!(reason(&series(5.0, noise, |_| 4.0)), None, "noise {noise}");
        }
    }

    #[test]
    fn a_short_series_is_not_judged() {
        assert_eq!(reason(&series(4.0, 0.01, |_| 4.0)), Some(Unsteady::TooShort));
        assert_eq!(reason(&[]), Some(Unsteady::TooShort));
        let sparse: Vec<Window> = series(20.0, 0.0, |_| 4.0).into_iter().step_by(8).collect();
        assert_eq!(reason(&sparse), Some(Unsteady::TooShort), "five windows are too few, however long they took");
    }

    #[test]
    fn a_drift_beyond_the_limit_is_seen_and_one_within_it_is_not() {
        // 1 % and 0.2 % per 3 s, against a limit of 0.3 %.
        let falling = reason(&series(10.0, 0.0005, |t| -0.01 / 3.0 * t));
        assert!(matches!(falling, Some(Unsteady::Drifting { .. })), "{falling:?}");
        assert_eq!(reason(&series(10.0, 0.0005, |t| -0.002 / 3.0 * t)), None);
    }

    #[test]
    fn a_drift_is_reported_per_span() {
        let points: Vec<(f64, f64)> = (0..10).map(|i| (f64::from(i) * 0.5, f64::from(i) * 0.005)).collect();
        let Some(Unsteady::Drifting { drift_per_span, .. }) = find_change(&points).unwrap() else {
            panic!("1 % per second is a drift")
        };
        assert!((drift_per_span - 0.03).abs() < 1e-9);
    }

    #[test]
    fn a_noisy_drift_within_its_own_error_does_not_block_for_ever() {
        assert_eq!(reason(&series(10.0, 0.1, |t| -0.01 / 3.0 * t)), None);
    }

    #[test]
    fn a_step_is_found_where_it_happened_and_forgotten_in_time() {
        let step = |t: f64| if t < 10.0 { 4.0 } else { 3.8 };
        let Some(Unsteady::Shifted { at_s, log_shift }) = reason(&series(12.0, 0.01, step)) else {
            panic!("a step of 20 % two seconds ago is a shift")
        };
        assert_eq!(at_s, 10.25);
        assert!((log_shift + 0.2).abs() < 0.02);
        assert_eq!(reason(&series(15.0, 0.01, step)), None, "five seconds later it is history");
        assert!(matches!(reason(&series(12.0, 0.0, step)), Some(Unsteady::Shifted { .. })), "also without any noise");
    }

    #[test]
    fn a_busy_jit_is_not_warm_and_an_absent_one_does_not_matter() {
        let mut windows = series(6.0, 0.01, |_| 4.0);
        windows.iter_mut().for_each(|w| w.compiler_share = Some(0.05));
        assert!(matches!(reason(&windows), Some(Unsteady::CompilersBusy { share }) if (share - 0.05).abs() < 1e-12));
        windows.iter_mut().rev().take(6).for_each(|w| w.compiler_share = Some(0.005));
        assert_eq!(reason(&windows), None, "what the JIT did before the last 3 s is over");
        windows.iter_mut().for_each(|w| w.compiler_share = None);
        assert_eq!(reason(&windows), None);
    }

    #[test]
    fn slow_windows_extend_the_look_back() {
        // One window a second: 5 s hold five of them, so the last eight are judged.
        let windows: Vec<Window> =
            series(20.0, 0.001, |t| if t < 15.0 { 4.0 } else { 3.8 }).into_iter().step_by(2).collect();
        assert!(matches!(reason(&windows), Some(Unsteady::Shifted { .. })));
    }

    #[test]
    fn a_cost_that_is_no_number_is_an_error() {
        let mut windows = series(6.0, 0.0, |_| 4.0);
        windows[3].log_cost = f64::NAN;
        assert!(why_unsteady(&windows, &SteadyRule::default()).is_err());
    }

    #[test]
    fn slope_and_error_agree_with_a_fit_by_hand() {
        // x̄ = 3, ȳ = 4, Sxx = 10, Sxy = 6: slope 0.6, residual sum 2.4, se = √(2.4 / 3 / 10).
        let (slope, error) = fit_slope(&[(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 4.0), (5.0, 5.0)]).unwrap();
        assert!((slope - 0.6).abs() < 1e-12);
        assert!((error - 0.08f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_perfect_line_has_no_error() {
        assert_eq!(fit_slope(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]), Ok((2.0, 0.0)));
    }

    #[test]
    fn points_that_define_no_line_are_refused() {
        assert!(matches!(fit_slope(&[(0.0, 1.0), (1.0, 2.0)]), Err(StatsError::TooFew { .. })));
        assert!(matches!(fit_slope(&[(1.0, 1.0); 3]), Err(StatsError::BadParameter { .. })));
        assert!(matches!(
            fit_slope(&[(0.0, 1.0), (1.0, f64::INFINITY), (2.0, 1.0)]),
            Err(StatsError::NotFinite { .. })
        ));
    }
}
