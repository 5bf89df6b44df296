//! One slice of load in the record: its key, the generator's sample, and the server's use.

use tare_plan::plan::SliceKind;
use tare_sample::{PackedHistogram, SliceSample};
use tare_units::named_values;

use crate::probe::{KnownStops, ServerUse};

named_values! {
    /// Warm-up, scored or profiled.
    pub enum Phase: "a phase" {
        Warmup = "warmup",
        Measure = "measure",
        /// Under a sampler; never scored.
        Profile = "profile",
    }
}

/// Identifies a slice, and states its load.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceKey {
    /// 1-based start of the server.
    pub fork: u32,
    pub group: String,
    pub scenario: String,
    pub variant: String,
    pub phase: Phase,
    pub kind: SliceKind,
    /// 0-based round within fork, scenario and kind: the slices of one round are paired.
    pub round: u32,
    /// Users of a closed load, or connections of an open load.
    pub users: u32,
    pub offered_per_s: Option<f64>,
}

/// One slice of load against one variant. Its times count from the start of the run. Its histograms take a few KB as bytes,
/// and a megabyte when unpacked.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSlice {
    pub key: SliceKey,
    pub load: SliceSample<PackedHistogram>,
    pub server: ServerUse,
}

impl StoredSlice {
    /// With all histograms as bytes, and without the stops, which no record keeps.
    pub fn new(key: SliceKey, load: SliceSample, server: ServerUse) -> Self {
        Self { key, load: load.pack(), server: ServerUse { stops: KnownStops::Untold, ..server } }
    }
}
