//! The largest load that keeps a curve of latencies.

use serde::{Deserialize, Serialize};
use tare_plan::slo::LoadBy;

use super::Estimate;

/// The largest load that a variant bears while it keeps the curve of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityAt {
    /// `p90<2ms,p99<4ms`.
    pub curve: String,
    /// What the load is counted in: users, or requests per second.
    pub by: LoadBy,
    /// The largest load that was kept, mean over forks; 0 where not even one user or request per second was.
    pub load: Estimate,
    /// Forks in which the largest load that was tried was kept: the capacity is beyond.
    pub forks_at_most: u32,
    /// Each fork's largest load that was kept.
    pub fork_loads: Vec<f64>,
}
