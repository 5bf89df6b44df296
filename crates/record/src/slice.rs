//! One slice of load in the record: its key, the generator's sample, and the server's use.

use tare_plan::plan::SliceKind;
use tare_sample::{PackedHistogram, SliceSample};
use tare_stats::histogram::LatencyHistogram;
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
    /// Warm-up, scored or profiled.
    pub phase: Phase,
    pub kind: SliceKind,
    /// 0-based round within fork, scenario and kind: the slices of one round are paired.
    pub round: u32,
    /// Users of a closed load, or connections of an open load.
    pub users: u32,
    /// Offered rate of an open load.
    pub offered_per_s: Option<f64>,
}

/// One slice of load against one variant. Its times count from the start of the run.
///
/// `H` is the form of the histograms of its sample: unpacked for recording, or bytes ([`StoredSlice`]) for thousands of kept slices.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceRecord<H = LatencyHistogram> {
    pub key: SliceKey,
    pub load: SliceSample<H>,
    pub server: ServerUse,
}

/// A slice as it is kept. Its histograms take a few KB as bytes, and a megabyte when unpacked. See
/// [`SliceRecord::pack`].
pub type StoredSlice = SliceRecord<PackedHistogram>;

impl SliceRecord {
    /// The slice with all its histograms as bytes, and without the stops, which no record keeps.
    pub fn pack(self) -> StoredSlice {
        let server = ServerUse { stops: KnownStops::Untold, ..self.server };
        SliceRecord { key: self.key, load: self.load.pack(), server }
    }
}
