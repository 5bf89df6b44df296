//! The result of one load, as types. Serialised it is the public JSON (`tare load --json`): docs/LOAD.md describes each
//! of its keys, units are in the names, and an unknown value is `null`, never zero.

use serde::{Deserialize, Serialize};

use crate::summary::{
    Distribution, ErrorCount, LatencyDivision, MessageSummary, RunStatus, Section, StatusCount, ThresholdResult,
    UrlSummary, Validity, ValidityState,
};

pub const SCHEMA: &str = "tare-load/1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSummary {
    pub schema: String,
    pub url: String,
    pub started_at: String,
    pub command: String,
    pub tare_version: String,
    pub seed: u64,
    pub status: RunStatus,
    pub interrupted: bool,
    pub model: Model,
    pub window_s: f64,
    pub verdict: Validity,
    pub throughput_per_s: f64,
    pub requests: Requests,
    pub response: Distribution,
    pub service: Distribution,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageSummary>,
    pub errors: Vec<ErrorCount>,
    pub statuses: Vec<StatusCount>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<UrlSummary>,
    pub connection_events: Vec<ErrorCount>,
    pub bytes: Bytes,
    pub connections: Connections,
    pub generator: Generator,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<LoadServer>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentSummary>,
    pub thresholds: Vec<ThresholdResult>,
    pub intervals: Vec<Interval>,
    pub notes: Vec<String>,
    pub settings: Vec<Section>,
    pub environment: Vec<Section>,
}

impl LoadSummary {
    /// Whether the load failed: a condition of `--fail-if` was met or could not be judged, or its numbers are void.
    pub fn has_failed(&self) -> bool {
        self.verdict.state == ValidityState::Void || self.thresholds.iter().any(|threshold| threshold.failed)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    pub loop_kind: String,
    pub text: String,
    pub meaning: String,
    pub connections: u32,
    pub offered_per_s: Option<f64>,
}

/// The outcome of the requests whose intended start lay in the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Requests {
    pub offered: u64,
    pub ok: u64,
    pub failed: u64,
    pub failed_share: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bytes {
    pub in_bytes: u64,
    pub out_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Connections {
    pub opened: u64,
    pub lost: u64,
    pub tls_handshakes: u64,
    pub tls_resumed: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadServer {
    pub process: String,
    pub cpu_ns_per_request: Option<f64>,
    pub cores: Option<f64>,
    pub rss_bytes: Option<u64>,
    pub rss_peak_bytes: Option<u64>,
    pub allocated_bytes_per_request: Option<f64>,
    pub stopped_ns_per_request: Option<f64>,
    pub stopped_time_share: Option<f64>,
    pub division: Option<LatencyDivision>,
    pub tail: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentSummary {
    pub name: String,
    pub host: String,
    pub load_cpus: String,
    pub lost: Option<String>,
    pub lost_at_s: Option<f64>,
    pub offered: u64,
    pub ok: u64,
    pub failed: u64,
    pub completed: u64,
    pub throughput_per_s: Option<f64>,
    pub cpu_share: Option<f64>,
    pub late: u64,
    pub clock_offset_ns: Option<i64>,
    /// The shortest one of a ping. Its load started within half of it.
    pub round_trip_ns: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    pub cpus: String,
    pub cpu_share: Option<f64>,
    pub spin_share: Option<f64>,
    pub cpu_ns_per_request: Option<f64>,
    pub send_lag_p50_ns: Option<u64>,
    pub send_lag_p99_ns: Option<u64>,
    pub send_lag_max_ns: Option<u64>,
    pub stamp_lag_p50_ns: Option<u64>,
    pub stamp_lag_p99_ns: Option<u64>,
    pub blocked: u64,
    pub blocked_mean_ns: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub from_s: f64,
    /// 0 in the drain.
    pub window_s: f64,
    pub ok: u64,
    pub failed: u64,
    pub throughput_per_s: Option<f64>,
    pub p50_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub max_ns: Option<u64>,
    pub in_bytes: u64,
    pub out_bytes: u64,
    pub generator_cpu_share: Option<f64>,
}
