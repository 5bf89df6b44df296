//! Another load tool's figures of a cell, together with tare's own.

use serde::{Deserialize, Serialize};

/// One cell as another tool saw it, on the same start of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossCheck {
    pub cell: String,
    pub engine: String,
    /// Its version, as it says itself; empty where it does not.
    pub version: String,
    pub scenario: String,
    pub variant: String,
    pub users: u32,
    /// How it was started, to be typed again; empty where it was not.
    pub command: String,
    /// Throughput, mean latency and percentiles; empty where there is a note.
    pub figures: Vec<ToolFigure>,
    pub requests_failed: Option<u64>,
    pub resolution_ns: Option<u64>,
    pub note: Option<String>,
}

/// One figure of another tool's, with tare's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolFigure {
    pub name: String,
    pub unit: String,
    pub theirs: f64,
    /// tare's, of its closed loop; `null` where it has none.
    pub ours: Option<f64>,
    /// The tool's divided by tare's; `null` also if the tool's resolution is coarser than a tenth of its figure.
    pub ratio: Option<f64>,
}
