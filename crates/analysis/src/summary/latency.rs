//! Latency under one load model: percentiles, the whole curve, Gatling's three ranges.

use serde::{Deserialize, Serialize};
use tare_plan::LatencyFigure;
use tare_plan::plan::SliceKind;

use super::Estimate;

/// Latency under one load model, merged over forks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub slice_kind: SliceKind,
    pub model: String,
    pub offered_per_s: Option<f64>,
    pub pace: Pace,
    pub response: Distribution,
    pub starts: Vec<StartLatency>,
    /// By the requests that met neither a stop of the server nor a stall; empty where stops are not known.
    #[serde(skip)]
    pub starts_without_stops: Vec<StartLatency>,
    pub service: Distribution,
    pub send_lag: Option<Distribution>,
    pub machine_hiccups: Option<Distribution>,
    pub jvm_hiccups: Option<Distribution>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub division: Option<LatencyDivision>,
}

/// How the answered requests of windows of latency divide by what they met, from their intended start to their end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyDivision {
    pub met_stop_share: f64,
    pub met_stall_share: f64,
    pub met_none: Distribution,
    pub p99_is_at_cliff: bool,
    pub stops_are_seen: bool,
    pub slower: Vec<SlowerPart>,
}

/// Of the requests slower than a percentile (0–100), the shares that met a stop of the server and a stall.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlowerPart {
    pub percentile: f64,
    pub met_stop_share: f64,
    pub met_stall_share: f64,
}

impl LatencyDivision {
    /// Whether about as many requests meet a stop as are slower than a percentile (0–100). Then chance moves it.
    pub fn is_at_cliff(&self, percentile: f64) -> bool {
        let slower = 1.0 - percentile / 100.0;
        (slower / 2.0..=slower * 2.0).contains(&self.met_stop_share)
    }
}

impl Latency {
    /// The division where the server's runtime told its stops.
    fn told_division(&self) -> Option<&LatencyDivision> {
        self.division.as_ref().filter(|division| !division.stops_are_seen)
    }

    /// One figure, with its interval over forks where it has one.
    pub fn level(&self, figure: LatencyFigure) -> Option<Estimate> {
        match figure {
            LatencyFigure::Percentile(percentile) => self.response.estimate(percentile),
            LatencyFigure::WithoutStops(percentile) => self.told_division()?.met_none.estimate(percentile),
            LatencyFigure::MetStopShare => {
                Some(Estimate { value: self.told_division()?.met_stop_share, lo: None, hi: None })
            }
            LatencyFigure::SlowerShare => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartLatency {
    pub fork: u32,
    pub percentiles: Vec<CurvePoint>,
}

impl StartLatency {
    pub fn percentile_ns(&self, percentile: f64) -> Option<u64> {
        self.percentiles.iter().find(|point| point.percentile == percentile).map(|point| point.value_ns)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    pub window_s: f64,
    pub requests_failed: u64,
    pub bytes_in: u64,
    pub answers_per_s: f64,
    pub answers_stdev_per_s: f64,
    pub answers_max_per_s: f64,
    pub within_stdev_share: f64,
}

/// The latencies of a cell, or of a load, on one clock. Without samples every figure is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    pub count: u64,
    pub min_ns: Option<u64>,
    pub max_ns: Option<u64>,
    pub mean_ns: Option<f64>,
    pub stdev_ns: Option<f64>,
    pub within_stdev_share: Option<f64>,
    pub percentiles: Vec<PercentileValue>,
    pub curve: Vec<CurvePoint>,
    pub gatling_ranges: [u64; 3],
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<HistogramBin>,
}

impl Distribution {
    /// The value of a standard percentile (0–100); `None` where too few samples lie above it.
    pub fn percentile_ns(&self, percentile: f64) -> Option<u64> {
        self.percentiles.iter().find(|p| p.percentile == percentile).map(|p| p.value_ns)
    }

    /// The same with its interval over forks.
    pub fn estimate(&self, percentile: f64) -> Option<Estimate> {
        let found = self.percentiles.iter().find(|p| p.percentile == percentile)?;
        let bound = |ns: Option<u64>| ns.map(|ns| ns as f64);
        Some(Estimate { value: found.value_ns as f64, lo: bound(found.lo_ns), hi: bound(found.hi_ns) })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HistogramBin {
    pub upto_ns: u64,
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PercentileValue {
    pub percentile: f64,
    pub value_ns: u64,
    pub lo_ns: Option<u64>,
    pub hi_ns: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    pub percentile: f64,
    pub value_ns: u64,
}
