//! Repeated confidence intervals of a mean: one looks after each fork up to a number declared beforehand, and all
//! intervals hold together. The boundaries are computed exactly, not simulated: see `crossing_chance`.

use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::error::{StatsError, require_alpha};
use crate::interval::{student_t_p_value, student_t_quantile};

/// The largest number of forks with boundaries; a longer run continues with the confidence sequence.
pub const MAX_LOOKS: u32 = 200;

/// What was computed for a schedule: by first look, last look, prior degrees of freedom, and what is asked of it.
type Known = HashMap<(u32, u32, u64, Asked), Arc<Vec<f64>>>;

/// A figure of a schedule.
#[derive(PartialEq, Eq, Hash)]
enum Asked {
    /// The factors of all looks, at the error probability with these bits.
    Factors(u64),
    /// The chance to leave the limits of a nominal level, as [`LEVELS_PER_E`]ths of its logarithm.
    Chance(i64),
}

/// A p-value is rounded up to the next of so many levels between a number and e times it: by 0.8 % at most.
const LEVELS_PER_E: f64 = 128.0;

/// Below it, the chance of any look is taken to be the sum of those of all looks.
const NEXT_TO_NOTHING: f64 = 1e-7;

/// When one looks at the t statistic of a mean: after each fork from the first look to the last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LookSchedule {
    min_forks: u32,
    max_forks: u32,
    /// Degrees of freedom that the standard deviation has from earlier forks.
    prior_df: f64,
}

impl LookSchedule {
    /// Looks after each fork from `min_forks` to `max_forks`. `prior_df` counts the degrees of freedom that a moderated
    /// variance has before the first fork; 0 for the plain standard deviation. Errors: `min_forks` is below 2,
    /// `max_forks` is below it or above [`MAX_LOOKS`], or `prior_df` is negative or not finite.
    pub fn new(min_forks: u32, max_forks: u32, prior_df: f64) -> Result<Self, StatsError> {
        let refuse = |name, value, expected| Err(StatsError::BadParameter { name, value, expected });
        if min_forks < 2 {
            return refuse("first look", f64::from(min_forks), "at least 2 forks");
        }
        if !(min_forks..=MAX_LOOKS).contains(&max_forks) {
            return refuse("last look", f64::from(max_forks), "at least the first look and at most 200 forks");
        }
        if !(prior_df.is_finite() && prior_df >= 0.0) {
            return refuse("degrees of freedom", prior_df, "0 or more");
        }
        Ok(Self { min_forks, max_forks, prior_df })
    }

    /// The half-width of the interval after `forks` forks of standard deviation `sd`, such that all intervals of the
    /// schedule hold together with probability 1 − `alpha`. Infinite before the first look and after the last. Errors:
    /// `alpha` is outside (0, 1). Source: Jennison & Turnbull, JRSS B 51 (1989), 305–361; for t statistics Rom &
    /// McTague, 10.1080/10543406.2020.1730878.
    pub fn half_width(&self, forks: u32, sd: f64, alpha: f64) -> Result<f64, StatsError> {
        let factors = self.factors(alpha)?;
        let at = forks.checked_sub(self.min_forks).map(|at| at as usize);
        Ok(at.and_then(|at| factors.get(at)).map_or(f64::INFINITY, |factor| factor * sd))
    }

    /// The smallest error probability at which the interval after `forks` forks excludes a value that lies `t` standard
    /// errors from their mean. It is a p-value at any look: with probability a, no look has one below a. After the last
    /// look it is that of the last; before the first it is 1. Errors: none for a schedule that [`LookSchedule::new`]
    /// made.
    pub fn p_value(&self, forks: u32, t: f64) -> Result<f64, StatsError> {
        let forks = forks.min(self.max_forks);
        let nominal = student_t_p_value(t, self.df(forks)) / self.weight(forks);
        if forks < self.min_forks || nominal >= 0.5 {
            return Ok(1.0);
        }
        // Any look excludes the truth no more often than all looks together: close enough where both are next to nothing.
        let bound = nominal * self.weight_of_all();
        if bound < NEXT_TO_NOTHING {
            return Ok(bound);
        }
        let level = (nominal.ln() * LEVELS_PER_E).ceil();
        let chance = self.remember(Asked::Chance(level as i64), || {
            Ok(vec![crossing_chance(self, &self.limits((level / LEVELS_PER_E).exp().min(1.0 - 1e-9))?)?])
        });
        Ok(chance?.first().map_or(1.0, |chance| chance.min(bound)))
    }

    fn df(&self, forks: u32) -> f64 {
        f64::from(forks) - 1.0 + self.prior_df
    }

    /// The nominal level of a look, relative to the last one's: (n / N)². An early look knows the standard deviation
    /// badly and pays for it with a far boundary; it gets little of α, so that the last interval is nearly as narrow as
    /// if there had been one look only.
    fn weight(&self, forks: u32) -> f64 {
        (f64::from(forks) / f64::from(self.max_forks)).powi(2)
    }

    /// The limits of all looks at a nominal level of the last, as angles: arctan(t / √df).
    fn limits(&self, nominal: f64) -> Result<Vec<f64>, StatsError> {
        let limit = |forks: u32| {
            let (p, df) = (nominal * self.weight(forks), self.df(forks));
            Ok((student_t_quantile(1.0 - p / 2.0, df)? / df.sqrt()).atan())
        };
        (self.min_forks..=self.max_forks).map(limit).collect()
    }

    fn weight_of_all(&self) -> f64 {
        (self.min_forks..=self.max_forks).map(|forks| self.weight(forks)).sum()
    }

    /// Half-widths for a standard deviation of 1, from the first look on.
    fn factors(&self, alpha: f64) -> Result<Arc<Vec<f64>>, StatsError> {
        require_alpha(alpha)?;
        self.remember(Asked::Factors(alpha.to_bits()), || {
            let limits = self.limits(self.calibrate(alpha)?)?;
            let factor = |(forks, limit): (u32, f64)| limit.tan() * (self.df(forks) / f64::from(forks)).sqrt();
            Ok((self.min_forks..).zip(limits).map(factor).collect())
        })
    }

    /// What is asked of this schedule, computed once.
    fn remember(
        &self,
        asked: Asked,
        compute: impl FnOnce() -> Result<Vec<f64>, StatsError>,
    ) -> Result<Arc<Vec<f64>>, StatsError> {
        static KNOWN: OnceLock<Mutex<Known>> = OnceLock::new();
        let key = (self.min_forks, self.max_forks, self.prior_df.to_bits(), asked);
        let known = KNOWN.get_or_init(Mutex::default);
        if let Some(figures) = known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(figures));
        }
        let figures = Arc::new(compute()?);
        known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&figures));
        Ok(figures)
    }

    /// The nominal level of the last look at which any look excludes the truth with probability `alpha`.
    fn calibrate(&self, alpha: f64) -> Result<f64, StatsError> {
        if self.min_forks == self.max_forks {
            return Ok(alpha);
        }
        // Chances so small are not computed exactly: the sum of those of all looks is on the safe side.
        if alpha < NEXT_TO_NOTHING {
            return Ok(alpha / self.weight_of_all());
        }
        let excess = |log_nominal: f64| Ok((crossing_chance(self, &self.limits(log_nominal.exp())?)? / alpha).ln());
        // Any look excludes the truth no more often than all looks together, and no less often than the last one.
        root(((alpha / self.weight_of_all()).ln(), alpha.ln()), excess).map(f64::exp)
    }
}

/// Where an increasing function with a slope near 1 is 0, by secants from the lower end.
fn root((low, high): (f64, f64), function: impl Fn(f64) -> Result<f64, StatsError>) -> Result<f64, StatsError> {
    let (mut before, mut at) = (low, function(low)?);
    let mut next = before - at;
    for _ in 0..30 {
        next = next.clamp(low, high);
        let value = function(next)?;
        let step = value * (next - before) / (value - at);
        if value.abs() < 1e-8 || !step.is_finite() {
            break;
        }
        (before, at) = (next, value);
        next -= step;
    }
    Ok(next)
}

/// The chance that the t statistic of normal values about 0 leaves its limits at any look.
///
/// Write t_n = √df tan φ_n, and R_n² for the sum of squares of the first n values (with a moderated variance, the prior's
/// too). R_n is independent of φ_n, so the next value enters as x / R_n = tan ψ alone, where √(n + d₀) tan ψ has Student's
/// distribution with n + d₀ degrees of freedom, and
///
///   sin φ_(n+1) = (√n sin φ_n cos ψ + sin ψ) / √(n + 1).
///
/// φ is thus a Markov chain in one dimension, and the chance to stay inside all later limits is a function of φ alone. It
/// is computed from the last look back to the first by Gauss–Legendre quadrature (as Armitage, McPherson & Rowe, JRSS A
/// 132 (1969), do for known variance), and averaged at the end over φ at the first look.
fn crossing_chance(schedule: &LookSchedule, limits: &[f64]) -> Result<f64, StatsError> {
    let Some(last) = limits.last() else { return Ok(0.0) };
    let mut stays = StayingChance { limit: *last, values: vec![1.0; GRID] };
    for (at, limit) in limits.iter().enumerate().rev().skip(1) {
        let forks = f64::from(schedule.min_forks + at as u32);
        let density = AngleDensity::new(forks + schedule.prior_df);
        let value = |i: usize| staying(*limit * i as f64 / (GRID - 1) as f64, forks, &density, &stays);
        stays = StayingChance { limit: *limit, values: (0..GRID).map(value).collect() };
    }
    let density = AngleDensity::new(schedule.df(schedule.min_forks));
    let inside = integral((0.0, stays.limit), |angle| density.at(angle) * stays.at(angle));
    Ok((1.0 - 2.0 * inside).clamp(0.0, 1.0))
}

/// Points at which the chance to stay inside is kept, from angle 0 to the limit. The function has a kink where the next look
/// can no longer be outside, so a series of few terms would be wrong by up to 0.3 % of a half-width.
const GRID: usize = 81;

/// The chance to stay inside all later limits, by the angle at a look: an even function, 0 beyond its limit.
struct StayingChance {
    limit: f64,
    values: Vec<f64>,
}

impl StayingChance {
    /// By a cubic through the four nearest points.
    fn at(&self, angle: f64) -> f64 {
        let position = (angle.abs() / self.limit).min(1.0) * (GRID - 1) as f64;
        let from = (position as usize).saturating_sub(1).min(GRID - 4);
        // The function is even: left of 0 stands what is right of it.
        let (points, x) = if position < 1.0 {
            ([self.values[1], self.values[0], self.values[1], self.values[2]], position + 1.0)
        } else {
            let v = &self.values[from..from + 4];
            ([v[0], v[1], v[2], v[3]], position - from as f64)
        };
        let [a, b, c, d] = points;
        let (x1, x2, x3) = (x - 1.0, x - 2.0, x - 3.0);
        -x1 * x2 * x3 / 6.0 * a + x * x2 * x3 / 2.0 * b - x * x1 * x3 / 2.0 * c + x * x1 * x2 / 6.0 * d
    }
}

/// The density of arctan(T / √df) where T has Student's distribution: proportional to cos^(df − 1).
struct AngleDensity {
    power: f64,
    scale: f64,
    /// Beyond it there is next to nothing.
    reach: f64,
}

impl AngleDensity {
    fn new(df: f64) -> Self {
        let (power, reach) = (df - 1.0, FRAC_PI_2.min(9.0 / df.sqrt()));
        let whole = 2.0 * integral((0.0, reach), |angle| angle.cos().max(0.0).powf(power));
        Self { power, scale: 1.0 / whole, reach }
    }

    fn at(&self, angle: f64) -> f64 {
        self.scale * angle.cos().max(0.0).powf(self.power)
    }
}

/// The chance to stay inside from the next look on, at this angle after `forks` forks and with this density of the
/// next.
fn staying(angle: f64, forks: f64, density: &AngleDensity, next: &StayingChance) -> f64 {
    // √n sin φ cos ψ + sin ψ is one sine wave of ψ.
    let slope = forks.sqrt() * angle.sin();
    let (shift, height) = (slope.atan(), ((1.0 + slope * slope) / (forks + 1.0)).sqrt());
    let weighed = |psi: f64| {
        let sine = height * (psi + shift).sin();
        density.at(psi) * next.at(sine.clamp(-1.0, 1.0).asin())
    };
    let reach = density.reach;
    let part = |from: f64, to: f64| integral((from.max(-reach), to.min(reach)), weighed);
    let inside = next.limit.sin() / height;
    if inside >= 1.0 {
        return part(-reach, reach);
    }
    // The wave is inside around each of its zeros.
    let half = inside.asin();
    [-PI, 0.0, PI].into_iter().map(|zero| part(zero - half - shift, zero + half - shift)).sum()
}

/// The integral over an interval by Gauss and Legendre; 0 where it is empty.
pub(crate) fn integral((from, to): (f64, f64), function: impl Fn(f64) -> f64) -> f64 {
    static NODES: OnceLock<Vec<(f64, f64)>> = OnceLock::new();
    if to <= from {
        return 0.0;
    }
    let (centre, half) = ((from + to) / 2.0, (to - from) / 2.0);
    let nodes = NODES.get_or_init(|| gauss_legendre(32)).iter();
    nodes.map(|(x, weight)| weight * half * function(centre + half * x)).sum()
}

/// The point between two others up to which a condition holds, by halving.
pub(crate) fn last_where((mut low, mut high): (f64, f64), holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// Nodes and weights on [−1, 1], by Newton's method on Legendre's polynomial of that degree.
fn gauss_legendre(degree: usize) -> Vec<(f64, f64)> {
    let n = degree as f64;
    let node = |i: usize| {
        let mut x = (PI * (i as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..20 {
            let (mut before, mut value) = (1.0, x);
            for k in 2..=degree {
                let k = k as f64;
                (before, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k);
            }
            slope = n * (x * value - before) / (x * x - 1.0);
            x -= value / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..degree).map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::student_t_half_width;

    fn factor(forks: u32, max_forks: u32, prior_df: f64, alpha: f64) -> f64 {
        LookSchedule::new(3.min(max_forks), max_forks, prior_df).unwrap().half_width(forks, 1.0, alpha).unwrap()
    }

    #[test]
    fn one_look_is_students_interval() {
        for (forks, alpha) in [(2, 0.05), (3, 0.01), (8, 0.05), (40, 0.2)] {
            let one = LookSchedule::new(forks, forks, 0.0).unwrap();
            let student = student_t_half_width(forks as usize, 1.0, alpha).unwrap();
            assert!((one.half_width(forks, 1.0, alpha).unwrap() / student - 1.0).abs() < 1e-9);
            let limits = one.limits(alpha).unwrap();
            let chance = crossing_chance(&one, &limits).unwrap();
            assert!((chance / alpha - 1.0).abs() < 1e-6, "{forks} forks: the recursion gives {chance} for {alpha}");
        }
    }

    #[test]
    fn two_looks_agree_with_arithmetic_on_the_circle() {
        // Two forks and d₀ = 0: φ₂ is uniform. A first look at angle b leaves the chance 1 − 2 b / π outside.
        let schedule = LookSchedule::new(2, 3, 0.0).unwrap();
        let chance = crossing_chance(&schedule, &[PI / 3.0, FRAC_PI_2]).unwrap();
        assert!((chance - 1.0 / 3.0).abs() < 1e-4, "{chance}");
    }

    #[test]
    fn boundaries_shrink_with_forks_and_with_what_is_known_beforehand() {
        let widths: Vec<f64> = (3..=8).map(|forks| factor(forks, 8, 0.0, 0.05)).collect();
        assert!(widths.windows(2).all(|pair| pair[1] < pair[0]), "{widths:?}");
        assert!(factor(6, 6, 6.0, 0.05) < factor(6, 6, 0.0, 0.05));
        assert_eq!(factor(2, 8, 0.0, 0.05), f64::INFINITY);
        assert_eq!(factor(9, 8, 0.0, 0.05), f64::INFINITY);
    }

    #[test]
    fn a_p_value_is_the_level_at_which_the_interval_excludes_the_value() {
        for (forks, max_forks, prior_df) in [(3, 3, 0.0), (4, 6, 0.0), (6, 6, 2.5), (9, 40, 4.0)] {
            let schedule = LookSchedule::new(3, max_forks, prior_df).unwrap();
            for alpha in [0.2, 0.05, 1e-3, 1e-5] {
                let t = schedule.half_width(forks, 1.0, alpha).unwrap() * f64::from(forks).sqrt();
                let p = schedule.p_value(forks, t).unwrap();
                assert!((1.0 - 1e-6..1.01).contains(&(p / alpha)), "{forks} of {max_forks}, α {alpha}: {p}");
            }
            assert!(schedule.p_value(forks, 1e9).unwrap() < 1e-7 && schedule.p_value(forks, 0.0).unwrap() == 1.0);
        }
        assert_eq!(LookSchedule::new(3, 6, 0.0).unwrap().p_value(2, 1e9).unwrap(), 1.0);
    }

    #[test]
    fn schedules_that_mean_nothing_are_refused() {
        for (min, max, df) in [(1, 5, 0.0), (5, 4, 0.0), (3, 201, 0.0), (3, 8, -1.0), (3, 8, f64::NAN)] {
            assert!(LookSchedule::new(min, max, df).is_err(), "{min} {max} {df}");
        }
        assert!(LookSchedule::new(3, 8, 0.0).unwrap().half_width(5, 1.0, 1.0).is_err());
    }
}
