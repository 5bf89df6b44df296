//! One slice of load in the record: which slice it was, what the generator saw, and what the server used.

use serde::{Deserialize, Serialize};
use tare_plan::plan::SliceKind;
use tare_sample::{PackedHistogram, SliceSample};
use tare_stats::histogram::LatencyHistogram;

use crate::probe::ServerUse;

/// Warm-up, scored or profiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Not scored.
    Warmup,
    /// Scored.
    Measure,
    /// Under a sampler: never scored.
    Profile,
}

impl Phase {
    /// All phases.
    pub const ALL: [Self; 3] = [Self::Warmup, Self::Measure, Self::Profile];

    /// The name in records and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warmup => "warmup",
            Self::Measure => "measure",
            Self::Profile => "profile",
        }
    }
}

/// Which slice it is, and under which load.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceKey {
    /// 1-based start of the server.
    pub fork: u32,
    /// Id of the group.
    pub group: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the variant.
    pub variant: String,
    /// Warm-up, scored or profiled.
    pub phase: Phase,
    /// Load model.
    pub kind: SliceKind,
    /// 0-based round within fork, scenario and kind: the slices of one round are paired.
    pub round: u32,
    /// Users of a closed load, or connections of an open load.
    pub users: u32,
    /// Offered rate of an open load.
    pub offered_per_s: Option<f64>,
}

/// One slice of load against one variant. Its times count from the begin of the run.
///
/// `H` is how its histograms are held: open for recording, or as bytes ([`StoredSlice`]) once thousands of slices are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceRecord<H = LatencyHistogram> {
    /// Which slice it is.
    pub key: SliceKey,
    /// What the generator saw.
    pub load: SliceSample<H>,
    /// What the server used.
    pub server: ServerUse<H>,
}

/// A slice as it is kept: its histograms take a few KB as bytes, and a megabyte when open. See [`SliceRecord::pack`].
pub type StoredSlice = SliceRecord<PackedHistogram>;

impl SliceRecord {
    /// The slice with its histograms as bytes.
    pub fn pack(self) -> StoredSlice {
        SliceRecord { key: self.key, load: self.load.pack(), server: self.server.pack() }
    }
}
