//! How the interval over forks is made; fixed before the run, and printed in its plan.

use crate::error::{StatsError, require_alpha};
use crate::interval::{e_value, require_two, sequence_half_width, student_t_p_value, student_t_quantile};
use crate::moderated::VariancePrior;
use crate::repeated::LookSchedule;

/// The share of α that a [`MethodKind::Repeated`] that may go on spends up to its declared number of forks.
pub const PLANNED_SHARE: f64 = 0.8;

/// How the interval over forks is made; fixed before the run. It misses the truth with probability `alpha`: that of any
/// fork does, where there is a look after each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Method {
    pub alpha: f64,
    pub kind: MethodKind,
    /// The standard deviation by other comparisons, where there is one. A confidence sequence takes none.
    pub prior: Option<VariancePrior>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodKind {
    /// Student's t, for a number of forks fixed before the run: never for deciding when to stop.
    FixedForks,
    /// The t confidence sequence, which is valid for any number of looks. Nothing is decided with fewer forks than
    /// `min_forks`.
    Sequential { min_forks: u32 },
    /// Repeated intervals: a look after each fork, up to a declared number of forks.
    Repeated {
        /// The first look.
        min_forks: u32,
        /// The declared number of forks.
        max_forks: u32,
        /// Whether the run may go on past it. A fifth of α is then kept for the confidence sequence, and the interval
        /// is the intersection of both, if the mean of all forks is in it.
        may_continue: bool,
    },
}

impl Method {
    /// Student's 95 % interval.
    pub const FIXED_FORKS: Self = Self { alpha: 0.05, kind: MethodKind::FixedForks, prior: None };
    /// The confidence sequence at α = 0.01, deciding from the fifth fork on.
    pub const SEQUENTIAL: Self = Self { alpha: 0.01, kind: MethodKind::Sequential { min_forks: 5 }, prior: None };

    /// The same method at another error probability.
    pub fn at_level(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }

    /// The same method with this prior, or without any. A confidence sequence takes none.
    pub fn with_prior(self, prior: Option<VariancePrior>) -> Self {
        Self { prior: prior.filter(|_| !matches!(self.kind, MethodKind::Sequential { .. })), ..self }
    }

    /// The standard deviation that the prior and `forks` forks with spread `sd` give together, and the degrees of freedom
    /// that it has beside those of the forks; `sd` and 0 without a prior, and if the forks contradict it.
    pub(crate) fn moderated(&self, sd: f64, forks: u32) -> (f64, f64) {
        let prior = self.prior.filter(|prior| prior.agrees_with(sd, forks));
        prior.map_or((sd, 0.0), |prior| (prior.moderate(sd, forks), prior.df))
    }

    /// The fewest forks that may decide anything.
    pub fn min_forks(&self) -> u32 {
        match self.kind {
            MethodKind::FixedForks => 2,
            MethodKind::Sequential { min_forks } | MethodKind::Repeated { min_forks, .. } => min_forks.max(2),
        }
    }

    /// The number of forks after which the repeated interval stays as it is, where there is one.
    pub fn declared_forks(&self) -> Option<u32> {
        match self.kind {
            MethodKind::Repeated { max_forks, .. } => Some(max_forks.max(self.min_forks())),
            _ => None,
        }
    }

    /// The half-width that `forks` forks of standard deviation `sd` give: infinite where they are too few for any
    /// interval. Beyond the declared number it is that of the declared one, or of the confidence sequence where that is
    /// narrower. Errors: there are fewer than two forks, or α is outside (0, 1).
    pub fn half_width(&self, forks: u32, sd: f64) -> Result<f64, StatsError> {
        match self.kind {
            MethodKind::FixedForks => {
                let (sd, df) = self.moderated(sd, forks);
                require_alpha(self.alpha)?;
                require_two(forks as usize)?;
                let quantile = student_t_quantile(1.0 - self.alpha / 2.0, f64::from(forks) - 1.0 + df)?;
                Ok(quantile * sd / f64::from(forks).sqrt())
            }
            MethodKind::Sequential { .. } => sequence_half_width(forks as usize, sd, self.alpha),
            MethodKind::Repeated { .. } => {
                Ok(self.planned_half_width(forks, sd)?.min(self.endless_half_width(forks, sd)?))
            }
        }
    }

    /// Of a [`MethodKind::Repeated`]: the half-width of the repeated interval alone, held beyond the declared number.
    pub(crate) fn planned_half_width(&self, forks: u32, sd: f64) -> Result<f64, StatsError> {
        let MethodKind::Repeated { may_continue, .. } = self.kind else { return Ok(f64::INFINITY) };
        let alpha = if may_continue { self.alpha * PLANNED_SHARE } else { self.alpha };
        let (schedule, forks, sd) = self.schedule(forks, sd)?;
        schedule.half_width(forks, sd, alpha)
    }

    /// The looks of a [`MethodKind::Repeated`], with the forks and the standard deviation that count at this one. The degrees of
    /// freedom of a prior are rounded down to halves, because each number of them has boundaries of its own.
    fn schedule(&self, forks: u32, sd: f64) -> Result<(LookSchedule, u32, f64), StatsError> {
        let declared = self.declared_forks().unwrap_or(forks);
        let forks = forks.min(declared);
        let (sd, df) = self.moderated(sd, forks);
        Ok((LookSchedule::new(self.min_forks(), declared, (2.0 * df).floor() / 2.0)?, forks, sd))
    }

    /// The smallest error probability at which the interval of `forks` forks excludes 0: a p-value of "no difference"
    /// that is valid at the look that it is taken at. `planned` has number, mean and spread of the declared forks.
    /// Errors: there are fewer than two forks.
    pub(crate) fn p_value(&self, all: &Spread, planned: &Spread) -> Result<f64, StatsError> {
        require_two(all.forks as usize)?;
        let t = |mean: f64, forks: u32, sd: f64| mean.abs() * f64::from(forks).sqrt() / sd;
        // An e-value exceeds 1 / a with probability a at most, at any look.
        let endless = || e_value(all.forks as usize, all.mean, all.sd, 0.0).recip();
        let p = match self.kind {
            MethodKind::FixedForks => {
                let (sd, df) = self.moderated(all.sd, all.forks);
                student_t_p_value(t(all.mean, all.forks, sd), f64::from(all.forks) - 1.0 + df)
            }
            MethodKind::Sequential { .. } => endless(),
            MethodKind::Repeated { may_continue, .. } => {
                let (schedule, forks, sd) = self.schedule(planned.forks, planned.sd)?;
                // A forecast has no declared forks apart from the others: as its interval, it takes no more of them.
                let by_plan = schedule.p_value(forks, t(planned.mean, forks, sd))?;
                if may_continue { (by_plan / PLANNED_SHARE).min(endless() / (1.0 - PLANNED_SHARE)) } else { by_plan }
            }
        };
        Ok(p.min(1.0))
    }

    /// Of a [`MethodKind::Repeated`] that may go on: the half-width of its confidence sequence.
    pub(crate) fn endless_half_width(&self, forks: u32, sd: f64) -> Result<f64, StatsError> {
        match self.kind {
            MethodKind::Repeated { may_continue: true, .. } => {
                sequence_half_width(forks as usize, sd, self.alpha * (1.0 - PLANNED_SHARE))
            }
            _ => Ok(f64::INFINITY),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub forks: u32,
    /// Mean of their log-ratios.
    pub mean: f64,
    /// The standard deviation that is used.
    pub sd: f64,
}
