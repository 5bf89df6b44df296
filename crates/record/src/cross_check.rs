//! The figures of another load tool for a cell that tare has measured too.

use serde::{Deserialize, Serialize};
use tare_plan::Engine;

use crate::figure::read_number;

/// One cell, driven by another tool after tare had driven it, on the same start of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossCheckRecord {
    pub engine: Engine,
    /// The version that it reports; empty if it reports none.
    pub version: String,
    /// 1-based start.
    pub fork: u32,
    pub group: String,
    pub scenario: String,
    pub variant: String,
    pub command: Vec<String>,
    pub users: u32,
    pub outcome: CrossCheckOutcome,
    /// The tool's output: untrusted text.
    pub output: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum CrossCheckOutcome {
    /// By the tool's own figures.
    Measured(ToolFigures),
    /// The tool cannot send this load, or tare cannot configure it for the tool.
    NotPossible { because: String },
    /// The tool did not do what it should.
    Failed { because: String },
}

/// The figures of a load tool, in its own resolution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolFigures {
    /// The length of its measurement, as it reports it.
    pub window_ns: u64,
    /// Answers that it counts as correct.
    pub ok: u64,
    pub failed: u64,
    #[serde(deserialize_with = "read_number")]
    pub mean_ns: f64,
    pub max_ns: u64,
    /// Latencies by percentile, 0–100.
    pub percentiles: Vec<(f64, u64)>,
    pub resolution_ns: u64,
}
