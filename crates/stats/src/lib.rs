//! Pure numbers: no clock, no file, no socket and no other crate of ours. The usual way through: slices →
//! [`ForkRatio`] per fork → [`Comparison`] over forks → [`Verdict`] by a [`DecisionRule`] →
//! [`measures::judge_measures`] over all comparisons and measures of the run.

pub mod capacity;
pub mod change_points;
pub mod compare;
pub mod contrast;
pub mod error;
pub mod histogram;
pub mod interval;
pub mod measures;
pub mod method;
pub mod moderated;
pub mod odd;
pub mod power;
pub mod quantile;
pub mod repeated;
pub mod steady;
pub mod verdict;

pub use capacity::{Capacity, CapacitySearch, SearchRule};
pub use change_points::{ChangePoint, find_change_points};
pub use compare::{Comparison, ForkRatio, SD_FLOOR};
pub use contrast::{RandomEffects, SampleMean};
pub use error::StatsError;
pub use histogram::{LatencyHistogram, PercentilePoint};
pub use interval::{Estimate, Interval, noise_floor};
pub use method::{Method, MethodKind};
pub use moderated::VariancePrior;
pub use odd::find_odd_starts;
pub use repeated::LookSchedule;
pub use steady::{SteadyRule, Unsteady, Window, why_unsteady};
pub use verdict::multiplicity::{benjamini_hochberg, holm, rejected_together};
pub use verdict::{DecisionRule, Polarity, Region, StopReason, UndecidedReason, Verdict};
