//! From slices to a ratio with an interval: paired log-ratios within a fork, and the mean of forks, which are the unit
//! of replication. `verdict` says what the interval means.

use crate::error::StatsError;
use crate::interval::Interval;
use crate::method::{Method, Spread};
use crate::moderated::VariancePrior;
use crate::quantile::{mean, sd, trimmed_mean};

/// The smallest standard deviation of forks (of log-ratios) that is used. A few forks can agree by chance; 0.5 % is the
/// lower end of what two starts of one JVM program are known to differ by.
pub const SD_FLOOR: f64 = 0.005;

/// The result of one fork: how much the variant differs from the baseline, from slices measured in pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForkRatio {
    /// The 20 % trimmed mean of ln(variant / baseline): the fork's one number in the comparison.
    pub trimmed_log: f64,
}

impl ForkRatio {
    /// The ratio of one fork from its pairs `(variant, baseline)`, in any one unit. A quantity that exists once per
    /// fork, such as a percentile of its merged histograms, is a single pair. Errors: there is no pair, or a value is
    /// zero, negative or not finite.
    pub fn from_pairs(pairs: &[(f64, f64)]) -> Result<Self, StatsError> {
        Ok(Self { trimmed_log: trimmed_mean(&log_ratios(pairs)?)? })
    }
}

fn log_ratios(pairs: &[(f64, f64)]) -> Result<Vec<f64>, StatsError> {
    let positive = |index, side, value: f64| {
        let fits = value.is_finite() && value > 0.0;
        if fits { Ok(value) } else { Err(StatsError::NotPositive { index, side, value }) }
    };
    // The difference of logarithms, unlike the logarithm of the quotient, cannot overflow.
    let log =
        |(i, (v, b)): (usize, &(f64, f64))| Ok(positive(i, "variant", *v)?.ln() - positive(i, "baseline", *b)?.ln());
    pairs.iter().enumerate().map(log).collect()
}

/// The result of all forks together for one variant against its baseline in one currency.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The estimated ratio variant / baseline (1.08 = 8 % more). One fork is enough for it.
    pub estimate: f64,
    /// The ratio with its interval; `None` with one fork, which does not show how much forks differ.
    pub ratio: Option<Interval>,
    /// The same on the scale of natural logarithms, where it is symmetric.
    pub log: Option<Interval>,
    /// The narrower interval of the ratio, of error probability 2 α, by which "no material difference" is judged: each
    /// of its two sides is wrong with probability α (Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987).
    pub equivalence: Option<Interval>,
    /// Where the method has a prior: the interval of the ratio without it.
    pub without_prior: Option<Interval>,
    pub forks: u32,
    /// Standard deviation of the forks' log-ratios as observed; `None` with one fork.
    pub sd_forks: Option<f64>,
    /// The standard deviation that the interval uses: the observed one, or the floor where that is larger.
    pub s_used: Option<f64>,
    pub method: Method,
    /// The declared forks, where there are more.
    planned: Option<Spread>,
}

impl Comparison {
    /// Compares over forks; `sd_floor` is [`SD_FLOOR`] in every plan. Errors: there is no fork, a value is not finite,
    /// the floor is negative, or the method's α is outside (0, 1).
    pub fn over_forks(forks: &[ForkRatio], method: Method, sd_floor: f64) -> Result<Self, StatsError> {
        if !(sd_floor.is_finite() && sd_floor >= 0.0) {
            return Err(StatsError::BadParameter { name: "sd_floor", value: sd_floor, expected: "0 or more" });
        }
        let trimmed: Vec<f64> = forks.iter().map(|f| f.trimmed_log).collect();
        let estimate = mean(&trimmed)?;
        let sd_forks = if forks.len() < 2 { None } else { Some(sd(&trimmed)?) };
        let declared = method.declared_forks().and_then(|declared| trimmed.get(..declared as usize));
        let declared = declared.filter(|first| first.len() < trimmed.len());
        let planned = declared
            .map(|first| Ok(Spread { forks: first.len() as u32, mean: mean(first)?, sd: sd(first)?.max(sd_floor) }));
        let s_used = sd_forks.map(|s| s.max(sd_floor));
        Self::of_spread((estimate, sd_forks), forks.len() as u32, s_used, planned.transpose()?, method)
    }

    /// What this comparison would be with `forks` forks, if the estimate stayed as it is and the further forks
    /// scattered as these and earlier ones do; a forecast only. Errors: there are fewer than two forks, here or in the
    /// forecast.
    pub fn forecast(&self, forks: u32) -> Result<Self, StatsError> {
        let got = self.forks.min(forks) as usize;
        let log = self.log.filter(|_| got >= 2);
        let log = log.ok_or(StatsError::TooFew { what: "a forecast", needed: 2, got })?;
        let s_used = self.s_used.map(|own| self.expected_sd(own, forks));
        Self::of_spread((log.estimate, self.sd_forks), forks, s_used, self.planned, self.method)
    }

    /// The smallest error probability at which the interval excludes "no difference": a p-value that is valid at this look.
    /// One fork gives 1.
    pub fn p_value(&self) -> f64 {
        let (Some(sd), Some(log)) = (self.s_used, self.log) else { return 1.0 };
        let all = Spread { forks: self.forks, mean: log.estimate, sd };
        self.method.p_value(&all, self.planned.as_ref().unwrap_or(&all)).unwrap_or(1.0)
    }

    /// The standard deviation that `forks` forks will have: `own` for those that there are, and for the others the one
    /// that prior and own forks give together.
    fn expected_sd(&self, own: f64, forks: u32) -> f64 {
        let (known, more) = (f64::from(self.forks) - 1.0, f64::from(forks.saturating_sub(self.forks)));
        let (further, _) = self.method.moderated(own, self.forks);
        ((known * own.powi(2) + more * further.powi(2)) / (known + more)).sqrt()
    }

    /// From mean and spread as observed, and the spread that is used. `planned` are the declared forks, where there are
    /// more.
    fn of_spread(
        (mean, sd_forks): (f64, Option<f64>),
        forks: u32,
        s_used: Option<f64>,
        planned: Option<Spread>,
        method: Method,
    ) -> Result<Self, StatsError> {
        let interval = |method: Method| {
            let of_forks = s_used.map(|sd| match &planned {
                Some(planned) => interval_past_declared(&Spread { forks, mean, sd }, planned, &method),
                None => Ok(Interval::around(mean, method.half_width(forks, sd)?)),
            });
            of_forks.transpose()
        };
        let log = interval(method)?;
        let equivalence = interval(method.at_level((2.0 * method.alpha).min(MAX_LEVEL)))?;
        let plain = method.with_prior(None);
        let without_prior = if plain == method { None } else { interval(plain)? };
        let [ratio, equivalence, without_prior] = [log, equivalence, without_prior].map(|log| log.map(|log| log.exp()));
        let estimate = mean.exp();
        Ok(Self { estimate, ratio, log, equivalence, without_prior, forks, sd_forks, s_used, method, planned })
    }
}

impl VariancePrior {
    /// The prior of the comparisons of one run, by [`VariancePrior::fit`]. Each of them may have it: that it is in the fit
    /// itself is why `df` counts all comparisons but one at most.
    pub fn of_comparisons<'a>(comparisons: impl Iterator<Item = &'a Comparison>) -> Result<Option<Self>, StatsError> {
        let spread = |one: &Comparison| Some((one.s_used?, f64::from(one.forks) - 1.0));
        Self::fit(&comparisons.filter_map(spread).collect::<Vec<_>>())
    }
}

/// No interval is made at a higher error probability.
const MAX_LEVEL: f64 = 0.999;

/// The interval of more forks than were declared: that of the declared ones stands, and where the run may go on its
/// intersection with the confidence sequence of all. The sequence alone is given where the mean of all forks is not in
/// both, as after a drift: it uses all forks, and is around their mean. Both hold together at α, so either may be
/// chosen after looking.
fn interval_past_declared(all: &Spread, planned: &Spread, method: &Method) -> Result<Interval, StatsError> {
    let endless = Interval::around(all.mean, method.endless_half_width(all.forks, all.sd)?);
    let planned = Interval::around(planned.mean, method.planned_half_width(planned.forks, planned.sd)?);
    let (lo, hi) = (planned.lo.max(endless.lo), planned.hi.min(endless.hi));
    let is_in_both = lo <= all.mean && all.mean <= hi;
    Ok(if is_in_both { Interval { estimate: all.mean, lo, hi } } else { endless })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::MethodKind;

    fn forks(ratios: &[f64]) -> Vec<ForkRatio> {
        ratios.iter().map(|r| ForkRatio::from_pairs(&[(*r, 1.0)]).unwrap()).collect()
    }

    #[test]
    fn a_fork_is_the_trimmed_mean_of_its_log_ratios() {
        // Of 1.1, 1.1, 1.1, 1.1 and one stalled slice of 4, trimming leaves 1.1.
        let fork =
            ForkRatio::from_pairs(&[(110.0, 100.0), (55.0, 50.0), (11.0, 10.0), (4.0, 1.0), (1.1, 1.0)]).unwrap();
        assert!((fork.trimmed_log - 1.1f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn a_value_that_has_no_ratio_is_an_error() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let variant = ForkRatio::from_pairs(&[(1.0, 1.0), (bad, 1.0)]).unwrap_err();
            assert!(matches!(variant, StatsError::NotPositive { index: 1, side: "variant", .. }), "{variant}");
            let baseline = ForkRatio::from_pairs(&[(1.0, bad)]).unwrap_err();
            assert!(matches!(baseline, StatsError::NotPositive { index: 0, side: "baseline", .. }), "{baseline}");
        }
        assert!(ForkRatio::from_pairs(&[]).is_err());
        assert!(ForkRatio::from_pairs(&[(f64::MAX, f64::MIN_POSITIVE)]).unwrap().trimmed_log.is_finite());
    }

    #[test]
    fn one_fork_gives_an_estimate_and_no_interval() {
        let one = Comparison::over_forks(&forks(&[1.08]), Method::SEQUENTIAL, SD_FLOOR).unwrap();
        assert!((one.estimate - 1.08).abs() < 1e-12);
        assert_eq!((one.ratio, one.log, one.sd_forks, one.p_value()), (None, None, None, 1.0));
        assert!(one.forecast(10).is_err());
    }

    #[test]
    fn the_interval_of_fixed_forks_is_students_by_hand() {
        // Logs 0.07, 0.08, 0.09: mean 0.08, sd 0.01, t(0.975, 2) = 4.3027, half-width 4.3027 · 0.01 / √3 = 0.024841.
        let ratios: Vec<f64> = [0.07f64, 0.08, 0.09].iter().map(|l| l.exp()).collect();
        let got = Comparison::over_forks(&forks(&ratios), Method::FIXED_FORKS, SD_FLOOR).unwrap();
        let log = got.log.unwrap();
        assert!((log.lo - 0.055_159).abs() < 1e-5 && (log.hi - 0.104_841).abs() < 1e-5, "{log:?}");
        let ratio = got.ratio.unwrap();
        assert!((ratio.lo - 0.055_159f64.exp()).abs() < 1e-5 && (ratio.estimate - 0.08f64.exp()).abs() < 1e-12);
        assert_eq!(got.s_used, got.sd_forks, "the floor is smaller");
    }

    #[test]
    fn forks_that_agree_by_chance_get_the_floor_as_deviation() {
        let got = Comparison::over_forks(&forks(&[1.0, 1.0, 1.0, 1.0, 1.0]), Method::SEQUENTIAL, SD_FLOOR).unwrap();
        assert_eq!((got.sd_forks, got.s_used), (Some(0.0), Some(SD_FLOOR)));
        assert!(got.log.unwrap().half_width() > 0.018);
    }

    #[test]
    fn a_forecast_narrows_the_interval_and_keeps_the_estimate() {
        let now =
            Comparison::over_forks(&forks(&[1.05, 1.07, 1.06, 1.04, 1.08]), Method::SEQUENTIAL, SD_FLOOR).unwrap();
        let later = now.forecast(20).unwrap();
        assert!((now.estimate - later.estimate).abs() < 1e-12);
        assert!(later.log.unwrap().half_width() < now.log.unwrap().half_width());
        assert_eq!(now.forecast(5).unwrap(), now);
    }

    #[test]
    fn a_forecast_expects_further_forks_to_scatter_as_earlier_ones_did() {
        // Two forks that agree by chance, where earlier ones scattered by 3 %: six more bring the spread near that.
        let prior = Some(VariancePrior { sd: 0.03, df: 6.0 });
        let method = Method {
            alpha: 0.05,
            kind: MethodKind::Repeated { min_forks: 3, max_forks: 8, may_continue: false },
            prior,
        };
        let now = Comparison::over_forks(&forks(&[1.05, 1.05]), method, SD_FLOOR).unwrap();
        // Moderated: (6 · 0.03² + 0.005²) / 7; then (0.005² + 6 · that) / 7.
        let moderated = (6.0 * 0.03f64.powi(2) + SD_FLOOR.powi(2)) / 7.0;
        let expected = ((SD_FLOOR.powi(2) + 6.0 * moderated) / 7.0).sqrt();
        assert!((now.forecast(8).unwrap().s_used.unwrap() - expected).abs() < 1e-12);
        let alone = Comparison::over_forks(&forks(&[1.05, 1.05]), method.with_prior(None), SD_FLOOR).unwrap();
        assert!((alone.forecast(8).unwrap().s_used.unwrap() - SD_FLOOR).abs() < 1e-12);
    }

    #[test]
    fn a_forecast_beyond_the_declared_forks_has_no_more_evidence_than_their_interval() {
        let method = Method {
            alpha: 0.05,
            kind: MethodKind::Repeated { min_forks: 3, max_forks: 8, may_continue: false },
            prior: None,
        };
        let now = Comparison::over_forks(&forks(&[1.01, 1.03, 1.0, 1.02]), method, SD_FLOOR).unwrap();
        let [last, beyond] = [8, 80].map(|forks| now.forecast(forks).unwrap());
        assert!((last.log.unwrap().half_width() - beyond.log.unwrap().half_width()).abs() < 1e-12);
        // A p-value is rounded up, by 0.8 % at most.
        assert!((beyond.p_value() / last.p_value() - 1.0).abs() < 0.01, "{} {}", beyond.p_value(), last.p_value());
    }

    #[test]
    fn an_interval_contains_its_estimate_when_later_forks_differ() {
        let method = Method {
            alpha: 0.05,
            kind: MethodKind::Repeated { min_forks: 3, max_forks: 4, may_continue: true },
            prior: None,
        };
        let steady = [0.10, 0.11, 0.09, 0.10, 0.10, 0.11, 0.09, 0.10];
        let drifting = [0.10, 0.11, 0.09, 0.10, 0.20, 0.21, 0.19, 0.20, 0.20, 0.21, 0.19, 0.20];
        for logs in [&steady[..], &drifting] {
            let ratios: Vec<f64> = logs.iter().map(|log: &f64| log.exp()).collect();
            let planned = Comparison::over_forks(&forks(&ratios[..4]), method, SD_FLOOR).unwrap();
            let all = Comparison::over_forks(&forks(&ratios), method, SD_FLOOR).unwrap();
            let ratio = all.ratio.unwrap();
            assert!(ratio.lo < all.estimate && all.estimate < ratio.hi, "{all:?}");
            assert!((ratio.estimate - all.estimate).abs() < 1e-12);
            let is_narrower = all.log.unwrap().half_width() < planned.log.unwrap().half_width();
            assert_eq!(is_narrower, logs == steady, "a drift shows in the interval: {all:?}");
            // What as many forks as there are would give is what they gave.
            let (again, log) = (all.forecast(all.forks).unwrap().log.unwrap(), all.log.unwrap());
            assert!((again.lo - log.lo).abs() < 1e-12 && (again.hi - log.hi).abs() < 1e-12, "{again:?} {log:?}");
        }
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let two = forks(&[1.0, 1.1]);
        assert!(Comparison::over_forks(&[], Method::FIXED_FORKS, SD_FLOOR).is_err());
        assert!(Comparison::over_forks(&two, Method::FIXED_FORKS, f64::NAN).is_err());
        assert!(Comparison::over_forks(&two, Method::FIXED_FORKS.at_level(1.0), SD_FLOOR).is_err());
    }
}
