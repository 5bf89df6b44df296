//! What `tare load` says of a load besides the figures of its one cell.

use serde::{Deserialize, Serialize};

use super::{HistogramBin, Row};

/// The lines of the terminal, so that the page says the same. docs/LOAD.md describes the keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadFacts {
    pub rows: Vec<Row>,
    pub histogram: Vec<HistogramBin>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ThresholdResult>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<StatusCount>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<UrlSummary>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusCount {
    pub status: u16,
    pub count: u64,
    pub failed: u64,
    pub example: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UrlSummary {
    /// Method and path, with its variables: `GET /users/{{id}}`; `others` for those after the first 50.
    pub url: String,
    pub offered: u64,
    pub ok: u64,
    pub failed: u64,
    pub failed_share: f64,
    pub throughput_per_s: f64,
    pub mean_ns: Option<f64>,
    pub p50_ns: Option<u64>,
    pub p90_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub max_ns: Option<u64>,
    pub example: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThresholdResult {
    pub condition: String,
    pub measured: String,
    pub failed: bool,
}
