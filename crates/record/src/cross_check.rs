//! What another load tool said of a cell, beside what tare measured there.

use serde::{Deserialize, Serialize};
use tare_plan::engine::Engine;

/// One cell, driven by another tool after tare had driven it, on the same start of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossCheckRecord {
    /// Which tool.
    pub engine: Engine,
    /// Its version, as it says itself; empty where it does not.
    pub version: String,
    /// 1-based start.
    pub fork: u32,
    /// Id of the group.
    pub group: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the variant.
    pub variant: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Users, each with a connection.
    pub users: u32,
    /// What came of it.
    pub outcome: CrossCheckOutcome,
    /// What the tool printed: untrusted text.
    pub output: String,
}

/// What came of another tool's load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum CrossCheckOutcome {
    /// It measured.
    Measured(ToolFigures),
    /// The tool cannot send this, or tare cannot have it sent.
    NotPossible {
        /// Why.
        because: String,
    },
    /// It ran and failed.
    Failed {
        /// Why.
        because: String,
    },
}

/// The figures of a load tool, in its own resolution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolFigures {
    /// How long it says that it measured.
    pub window_ns: u64,
    /// Answers that it counts as right.
    pub ok: u64,
    /// What it counts as failed.
    pub failed: u64,
    /// Mean latency.
    pub mean_ns: f64,
    /// Longest latency.
    pub max_ns: u64,
    /// Latencies by percentile, 0–100.
    pub percentiles: Vec<(f64, u64)>,
    /// In what steps it tells latencies.
    pub resolution_ns: u64,
}
