//! Variants that each add one thing to the one before, and the cost of each of these things.

use serde::{Deserialize, Serialize};

use super::Estimate;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ladder {
    pub id: String,
    pub group: String,
    pub scenario: String,
    pub forks: u32,
    pub steps: Vec<LadderStep>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LadderStep {
    pub variant: String,
    pub cpu_ns: Option<Estimate>,
    /// What it has more than the step below, by forks; `null` on the lowest.
    pub cpu_ns_added: Option<Estimate>,
    /// Bytes allocated per request on this step; `null` where they are not counted.
    pub allocated_bytes: Option<Estimate>,
    pub allocated_bytes_added: Option<Estimate>,
}
