//! What profiles say: why a variant costs what it costs, method by method, and the flame graphs behind it.

use serde::{Deserialize, Serialize};
use tare_plan::profile::ProfileEvent;
use tare_profile::FlameTree;
pub use tare_profile::over_forks::{HotFrame, MovedFrame};

use super::Estimate;

/// Everything that profiled starts showed. None of it comes from a scored slice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profiles {
    /// The frames whose share is reported, as a regular expression; empty for none in particular.
    pub focus: String,
    pub whys: Vec<Why>,
    pub views: Vec<ProfileView>,
    /// Methods that were named at one version of a server, at all of them.
    pub versions: Vec<AcrossVersions>,
}

/// Why one variant costs more than its baseline, where it has one, and how much is in the frames of its layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Why {
    pub id: String,
    pub scenario: String,
    pub variant: String,
    pub baseline: Option<String>,
    pub sentences: Vec<WhySentence>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WhySentence {
    pub text: String,
    /// The view that it is about; empty where it names no method.
    pub view: String,
    /// Methods that it names, short and whole, for links into the flame graph.
    pub methods: Vec<NamedMethod>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedMethod {
    pub short: String,
    pub name: String,
}

/// One event of one variant in one scenario, over all its profiled starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileView {
    pub id: String,
    pub group: String,
    pub scenario: String,
    pub variant: String,
    pub baseline: Option<String>,
    pub event: ProfileEvent,
    pub unit: String,
    pub sampler: String,
    pub forks: u32,
    pub steady_forks: u32,
    pub offered_per_s: f64,
    pub samples: Option<u64>,
    /// Share (0–1) of the weight whose stacks could not be walked; it counts in every whole.
    pub failed_share: f64,
    /// CPU that the samples stand for, as a share of what the kernel counted; `null` where that does not apply.
    pub coverage: Option<f64>,
    pub per_request: Option<Estimate>,
    pub baseline_per_request: Option<Estimate>,
    pub difference_per_request: Option<Estimate>,
    /// Share (0–1) of the stacks that hold a frame of the focus.
    pub focus_share: Option<Estimate>,
    /// Share (0–1) of the stacks whose innermost frame is of the focus.
    pub focus_own: Option<Estimate>,
    pub hot: Vec<HotFrame>,
    pub packages: Vec<PackageShare>,
    /// What it has more or less than the baseline, largest difference first.
    pub moved: Vec<MovedFrame>,
    pub flame: FlameTree,
    pub files: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackageShare {
    pub name: String,
    /// Share (0–1) of the whole that its methods have by themselves.
    pub own: f64,
    pub own_per_request: Option<f64>,
}

/// Methods of one server under one scenario and event, at several versions of its library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AcrossVersions {
    pub server: String,
    pub scenario: String,
    pub event: ProfileEvent,
    pub versions: Vec<String>,
    pub rows: Vec<VersionRow>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VersionRow {
    pub short: String,
    pub name: String,
    pub shares: Vec<Estimate>,
}
