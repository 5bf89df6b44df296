//! What the probes saw of one variant under one scenario: memory, the runtime's stops, pauses and their causes.

use serde::{Deserialize, Serialize};
use tare_record::PauseCause;

/// What the probes saw over all scored slices. Figures that a server does not give are `null` or empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Probes {
    /// Largest heap that the runtime had taken from the system.
    pub heap_committed_peak_bytes: Option<u64>,
    pub heap_after_gc_peak_bytes: Option<u64>,
    pub off_heap_peak_bytes: Option<u64>,
    pub metaspace_peak_bytes: Option<u64>,
    pub collectors: Vec<CollectorShare>,
    /// How often a JVM stopped its threads for any reason.
    pub safepoints: Option<u64>,
    /// Share of time (0–1) that these stops took, collections included.
    pub safepoint_share: Option<f64>,
    /// Pauses that the meters of hiccups saw, by cause; empty without meters.
    pub pauses: Vec<PauseTally>,
    /// CPU of all probes as a share of the server's own; `null` where it was not recorded.
    pub probe_cpu_share: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CollectorShare {
    pub collector: String,
    pub pauses: u64,
    pub pause_ns: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PauseTally {
    pub cause: PauseCause,
    pub pauses: u64,
    pub pause_ns: u64,
    pub pause_max_ns: u64,
}

/// CPU of one kind of thread during a slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KindCores {
    pub kind: String,
    pub cores: f64,
}
