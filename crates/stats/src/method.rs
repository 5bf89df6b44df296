//! How the interval over forks is made; fixed before the run, and printed in its plan.

use serde::{Deserialize, Serialize};

use crate::error::StatsError;
use crate::interval::{sequence_half_width, student_t_half_width};
use crate::moderated::VariancePrior;
use crate::repeated::LookSchedule;

/// The share of α that a [`Method::Repeated`] that may go on spends up to its declared number of forks.
pub const PLANNED_SHARE: f64 = 0.8;

/// How the interval over forks is made; fixed before the run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Method {
    /// Student's t, for a number of forks fixed before the run: never for deciding when to stop.
    FixedForks {
        /// The interval misses the truth with this probability.
        alpha: f64,
    },
    /// The t confidence sequence, which is valid for any number of looks.
    Sequential {
        /// The interval of *any* fork misses the truth with this probability.
        alpha: f64,
        /// Nothing is decided with fewer forks than this.
        min_forks: u32,
    },
    /// Repeated intervals: a look after each fork, up to a declared number of forks.
    Repeated {
        /// The interval of *any* fork misses the truth with this probability.
        alpha: f64,
        /// The first look.
        min_forks: u32,
        /// The declared number of forks.
        max_forks: u32,
        /// Whether the run may go on past it. A fifth of α is then kept for the confidence sequence, and the interval
        /// is the intersection of both, if the mean of all forks is in it.
        #[serde(default)]
        may_continue: bool,
        /// The standard deviation by earlier forks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prior: Option<VariancePrior>,
    },
}

impl Method {
    /// Student's 95 % interval.
    pub const FIXED_FORKS: Self = Self::FixedForks { alpha: 0.05 };
    /// The confidence sequence at α = 0.01, deciding from the fifth fork on.
    pub const SEQUENTIAL: Self = Self::Sequential { alpha: 0.01, min_forks: 5 };

    /// The error probability.
    pub fn alpha(&self) -> f64 {
        match self {
            Self::FixedForks { alpha } | Self::Sequential { alpha, .. } | Self::Repeated { alpha, .. } => *alpha,
        }
    }

    /// The same method at another error probability.
    pub fn at_level(mut self, level: f64) -> Self {
        match &mut self {
            Self::FixedForks { alpha } | Self::Sequential { alpha, .. } | Self::Repeated { alpha, .. } => {
                *alpha = level
            }
        }
        self
    }

    /// The same method without the prior.
    pub fn without_prior(mut self) -> Self {
        if let Self::Repeated { prior, .. } = &mut self {
            *prior = None;
        }
        self
    }

    /// The standard deviation that the prior and `forks` forks with spread `sd` give together; `sd` without a prior,
    /// and if the forks contradict it.
    pub(crate) fn moderated_sd(&self, sd: f64, forks: u32) -> f64 {
        match self {
            Self::Repeated { prior: Some(prior), .. } if prior.agrees_with(sd, forks) => prior.moderate(sd, forks),
            _ => sd,
        }
    }

    /// The fewest forks that may decide anything.
    pub fn min_forks(&self) -> u32 {
        match self {
            Self::FixedForks { .. } => 2,
            Self::Sequential { min_forks, .. } | Self::Repeated { min_forks, .. } => (*min_forks).max(2),
        }
    }

    /// The number of forks after which the repeated interval stays as it is, where there is one.
    pub fn declared_forks(&self) -> Option<u32> {
        match self {
            Self::Repeated { max_forks, .. } => Some((*max_forks).max(self.min_forks())),
            _ => None,
        }
    }

    /// The half-width that `forks` forks of standard deviation `sd` give: infinite where they are too few for any
    /// interval. Beyond the declared number it is that of the declared one, or of the confidence sequence where that is
    /// narrower.
    ///
    /// # Errors
    /// There are fewer than two forks, or α is outside (0, 1).
    pub fn half_width(&self, forks: u32, sd: f64) -> Result<f64, StatsError> {
        match self {
            Self::FixedForks { alpha } => student_t_half_width(forks as usize, sd, *alpha),
            Self::Sequential { alpha, .. } => sequence_half_width(forks as usize, sd, *alpha),
            Self::Repeated { .. } => Ok(self.planned_half_width(forks, sd)?.min(self.endless_half_width(forks, sd)?)),
        }
    }

    /// Of a [`Method::Repeated`]: the half-width of the repeated interval alone, held beyond the declared number.
    pub(crate) fn planned_half_width(&self, forks: u32, sd: f64) -> Result<f64, StatsError> {
        let Self::Repeated { alpha, max_forks, may_continue, prior, .. } = *self else {
            return Ok(f64::INFINITY);
        };
        let max_forks = max_forks.max(self.min_forks());
        let forks = forks.min(max_forks);
        let alpha = if may_continue { alpha * PLANNED_SHARE } else { alpha };
        let prior_df = prior.filter(|prior| prior.agrees_with(sd, forks)).map_or(0.0, |prior| prior.df);
        let schedule = LookSchedule::new(self.min_forks(), max_forks, prior_df)?;
        schedule.half_width(forks, self.moderated_sd(sd, forks), alpha)
    }

    /// Of a [`Method::Repeated`] that may go on: the half-width of its confidence sequence.
    pub(crate) fn endless_half_width(&self, forks: u32, sd: f64) -> Result<f64, StatsError> {
        match self {
            Self::Repeated { alpha, may_continue: true, .. } => {
                sequence_half_width(forks as usize, sd, alpha * (1.0 - PLANNED_SHARE))
            }
            _ => Ok(f64::INFINITY),
        }
    }
}
