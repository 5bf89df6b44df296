//! What `tare load` says of a load besides the figures of its one cell.

use serde::{Deserialize, Serialize};

use super::{HistogramBin, Row};

/// The lines of the terminal, so that the page says the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadFacts {
    /// Throughput, requests, bytes, connections, generator, each condition (`held` or `failed`), notes, and what the
    /// latencies include.
    pub rows: Vec<Row>,
    pub histogram: Vec<HistogramBin>,
    /// What became of the conditions on which the load fails, in their order; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ThresholdResult>,
}

/// What became of one `--fail-if`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThresholdResult {
    /// As it was written.
    pub condition: String,
    /// What was measured, in words.
    pub measured: String,
    /// Whether the load failed by it.
    pub failed: bool,
}
