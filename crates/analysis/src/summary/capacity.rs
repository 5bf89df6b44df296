//! The largest load under which a variant keeps a curve of latencies, and the tries that say so.

use serde::{Deserialize, Serialize};
use tare_plan::slo::LoadBy;

use super::Estimate;

/// The largest load under which a variant keeps the curve of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityAt {
    pub curve: String,
    pub by: LoadBy,
    /// The result in words: `http4s.Tapir: keeps p99<4ms up to 1,250 users [1,100, 1,400]`.
    pub sentence: String,
    /// The largest load that was kept, mean over forks; a fork that kept none counts as 0. Without an interval where a fork kept
    /// the largest load of the search.
    pub load: Estimate,
    /// Forks that kept the curve even at the largest load of the search: their capacity is at least that.
    pub forks_at_most: u32,
    /// The limits of the curve, and the one on failures that holds where the curve has none.
    pub limits: Vec<CapacityLimit>,
    pub forks: Vec<CapacityFork>,
    pub tries: Vec<CapacityTry>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityLimit {
    pub condition: String,
    pub unit: LimitUnit,
    pub limit: f64,
    /// Forks in which this limit failed at the smallest load that was not kept.
    pub failed_forks: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitUnit {
    Ns,
    Share,
    Count,
    PerS,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityFork {
    pub fork: u32,
    /// The largest load that was kept; 0 where none was.
    pub load: f64,
    /// The smallest load that was not kept; `null` where even the largest of the search was.
    pub failed_at: Option<f64>,
    pub failed_limits: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityTry {
    pub fork: u32,
    pub load: f64,
    pub kept: bool,
    /// What was measured, in the order and the unit of the limits; `null` where there was no answer.
    pub values: Vec<Option<f64>>,
}
