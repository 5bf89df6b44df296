//! The result of one load, as types. Serialised it is the public JSON (`tare load --json`): docs/LOAD.md describes its
//! keys, units are in the names, and an unknown value is `null`, never zero.

use serde::{Deserialize, Serialize};

use super::agents::AgentSummary;
use crate::summary::{
    Distribution, ErrorCount, LatencyDivision, MessageSummary, RunStatus, Section, StatusCount, ThresholdResult,
    UrlSummary, Validity, ValidityState,
};

pub const SCHEMA: &str = "tare-load/1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSummary {
    pub schema: String,
    /// What was loaded: one URL, or the first of several.
    pub url: String,
    /// When it began, RFC 3339 UTC.
    pub started_at: String,
    pub command: String,
    pub tare_version: String,
    pub seed: u64,
    /// How it ended; `partial` for a record that was cut short, or that is still being written.
    pub status: RunStatus,
    /// Whether Ctrl-C ended it.
    pub interrupted: bool,
    pub model: Model,
    /// Length of the scored window.
    pub window_s: f64,
    pub verdict: Validity,
    /// Right answers per second of the window.
    pub throughput_per_s: f64,
    pub requests: Requests,
    /// From the intended start to the last byte of the answer.
    pub response: Distribution,
    /// From the actual send to the last byte of the answer.
    pub service: Distribution,
    /// What else is known of pushed messages, whose latency is `response`; absent where nothing is pushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageSummary>,
    /// Failed requests by class, the most frequent first: their sum is `requests.failed`.
    pub errors: Vec<ErrorCount>,
    /// Answers by status, in order; empty where answers have none.
    pub statuses: Vec<StatusCount>,
    /// What each URL showed, in the order of the list; absent where there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<UrlSummary>,
    /// What failed on connections and belongs to no request, by class, the most frequent first.
    pub connection_events: Vec<ErrorCount>,
    pub bytes: Bytes,
    pub connections: Connections,
    pub generator: Generator,
    /// The process that `--server` named; absent without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<LoadServer>,
    /// The agents that made the load, in order; absent where tare made it itself.
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
    /// `closed`, `open` or `push`.
    pub loop_kind: String,
    pub text: String,
    pub meaning: String,
    /// Users of a closed loop, or connections of an open one.
    pub connections: u32,
    /// Offered rate of an open loop, where it is constant.
    pub offered_per_s: Option<f64>,
}

/// The outcome of the requests whose intended start lay in the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Requests {
    pub offered: u64,
    pub ok: u64,
    pub failed: u64,
    /// Failed over offered, 0–1.
    pub failed_share: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bytes {
    pub in_bytes: u64,
    pub out_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Connections {
    /// Opened, before and during it.
    pub opened: u64,
    pub lost: u64,
    /// TLS handshakes that succeeded; 0 in plain text.
    pub tls_handshakes: u64,
    /// Of these, how many resumed an earlier session.
    pub tls_resumed: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadServer {
    /// `java (process 4711)`.
    pub process: String,
    /// CPU per answer, without that of its JIT compilers.
    pub cpu_ns_per_request: Option<f64>,
    /// Cores that it kept busy on average, its JIT compilers included.
    pub cores: Option<f64>,
    pub rss_bytes: Option<u64>,
    /// Largest resident memory since its start.
    pub rss_peak_bytes: Option<u64>,
    pub allocated_bytes_per_request: Option<f64>,
    /// How long it stood still per answer.
    pub stopped_ns_per_request: Option<f64>,
    /// The same as a share (0–1) of the time.
    pub stopped_time_share: Option<f64>,
    /// How the response times divide by what the requests met; absent where that is not known.
    pub division: Option<LatencyDivision>,
    pub tail: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// Its cores, such as `1` or `2-3`.
    pub cpus: String,
    /// CPU that made load as a share of its cores, 0–1.
    pub cpu_share: Option<f64>,
    /// CPU share of busy-waiting in addition to that, 0–1.
    pub spin_share: Option<f64>,
    pub cpu_ns_per_request: Option<f64>,
    /// Actual send minus intended start, median.
    pub send_lag_p50_ns: Option<u64>,
    /// The same, 99th percentile.
    pub send_lag_p99_ns: Option<u64>,
    pub send_lag_max_ns: Option<u64>,
    /// How much later than it arrived an answer may have been stamped, at most: median.
    pub stamp_lag_p50_ns: Option<u64>,
    /// The same, 99th percentile.
    pub stamp_lag_p99_ns: Option<u64>,
    /// Requests of an open loop that waited for a free connection.
    pub blocked: u64,
    /// How long they waited, on average.
    pub blocked_mean_ns: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its begin, since the load began.
    pub from_s: f64,
    /// Its length within the window; 0 in the drain.
    pub window_s: f64,
    pub ok: u64,
    pub failed: u64,
    pub throughput_per_s: Option<f64>,
    /// Median response time.
    pub p50_ns: Option<u64>,
    /// 99th percentile of response time.
    pub p99_ns: Option<u64>,
    /// Largest response time.
    pub max_ns: Option<u64>,
    pub in_bytes: u64,
    pub out_bytes: u64,
    /// CPU of the generator as a share of its cores.
    pub generator_cpu_share: Option<f64>,
}
