//! What profiles say: why a variant costs what it costs, method by method, and the flame graphs behind it.

use serde::{Deserialize, Serialize};
use tare_plan::profile::ProfileEvent;
use tare_profile::{FlameTree, FrameKind};

use super::Estimate;

/// Everything that profiled starts showed. None of it comes from a scored slice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profiles {
    /// The frames whose share is reported, as a regular expression; empty for none in particular.
    pub focus: String,
    /// One entry per variant that was profiled together with a baseline: the answer in sentences.
    pub whys: Vec<Why>,
    /// One entry per variant × scenario × event.
    pub views: Vec<ProfileView>,
    /// Methods that were named at one version of a server, at all of them.
    pub versions: Vec<AcrossVersions>,
}

/// Why one variant costs more than its baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// The same as the comparison's: `g1/SimpleGet/http4s.Tapir`.
    pub id: String,
    /// Scenario.
    pub scenario: String,
    /// The variant.
    pub variant: String,
    /// Its baseline.
    pub baseline: String,
    /// Two or three sentences.
    pub sentences: Vec<WhySentence>,
}

/// One sentence, with what it speaks of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WhySentence {
    /// The sentence.
    pub text: String,
    /// Id of the view that it reads.
    pub view: String,
    /// Methods that it names, short and whole, for links into the flame graph.
    pub methods: Vec<NamedMethod>,
}

/// A method by both names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedMethod {
    /// `Uri.parse`.
    pub short: String,
    /// `org.example.Uri.parse`.
    pub name: String,
}

/// One event of one variant in one scenario, over all its profiled starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileView {
    /// Unique: `g1/SimpleGet/http4s.Tapir/cpu`.
    pub id: String,
    /// Group.
    pub group: String,
    /// Scenario.
    pub scenario: String,
    /// Variant.
    pub variant: String,
    /// The baseline; `null` for baselines.
    pub baseline: Option<String>,
    /// What was sampled.
    pub event: ProfileEvent,
    /// Unit of what stands "per request": `ns` or `bytes`.
    pub unit: String,
    /// Who sampled, and how.
    pub sampler: String,
    /// Profiled starts.
    pub forks: u32,
    /// Of these, how many were steady when the sampling began.
    pub steady_forks: u32,
    /// Rate of the load meanwhile.
    pub offered_per_s: f64,
    /// Samples in all; `null` where the sampler counts bytes or times.
    pub samples: Option<u64>,
    /// Share (0–1) of the weight whose stacks could not be walked; it counts in every whole.
    pub failed_share: f64,
    /// CPU that the samples stand for, as a share of what the kernel counted; `null` where that does not apply.
    pub coverage: Option<f64>,
    /// The whole, per request.
    pub per_request: Option<Estimate>,
    /// The baseline's whole, per request.
    pub baseline_per_request: Option<Estimate>,
    /// The difference of the two, by forks.
    pub difference_per_request: Option<Estimate>,
    /// Share (0–1) of the stacks that hold a frame of the focus.
    pub focus_share: Option<Estimate>,
    /// Share (0–1) of the stacks whose innermost frame is of the focus.
    pub focus_own: Option<Estimate>,
    /// Methods by their own share, and those that hold most.
    pub hot: Vec<HotFrame>,
    /// Own shares by package, largest first.
    pub packages: Vec<PackageShare>,
    /// What it has more or less than the baseline, largest difference first.
    pub moved: Vec<MovedFrame>,
    /// The flame graph, of both sides where there are two.
    pub flame: FlameTree,
    /// The samplers' own files, in the folder `profiles` of the run.
    pub files: Vec<String>,
}

/// A method with what it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HotFrame {
    /// `org.example.Uri.parse`.
    pub name: String,
    /// `Uri.parse`.
    pub short: String,
    /// `org.example`.
    pub package: String,
    /// Kind of code.
    pub kind: FrameKind,
    /// Share (0–1) by itself.
    pub own: Estimate,
    /// Share (0–1) with all that it calls; recursion counts once.
    pub total: Estimate,
    /// Its own share, per request.
    pub own_per_request: Option<f64>,
    /// Its total share, per request.
    pub total_per_request: Option<f64>,
    /// The caller that brings most of it.
    pub caller: Option<String>,
    /// Which share (0–1) of its total that caller brings.
    pub caller_share: Option<f64>,
}

/// All methods of one package.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackageShare {
    /// `org.example`.
    pub name: String,
    /// Share (0–1) of the whole that its methods have by themselves.
    pub own: f64,
    /// The same per request.
    pub own_per_request: Option<f64>,
}

/// A method on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MovedFrame {
    /// `org.example.Uri.parse`.
    pub name: String,
    /// `Uri.parse`.
    pub short: String,
    /// `org.example`.
    pub package: String,
    /// Kind of code.
    pub kind: FrameKind,
    /// Total share (0–1) in the variant.
    pub share: Estimate,
    /// Total share (0–1) in the baseline.
    pub baseline_share: Estimate,
    /// Variant minus baseline: per request where that is known, else of the shares.
    pub difference: Estimate,
    /// Whether the shares differ beyond their interval, in the direction in which the costs do.
    pub certain: bool,
    /// Whether a sentence names it.
    pub named: bool,
    /// Whether it is of the focus.
    pub in_focus: bool,
}

/// Methods of one server under one scenario and event, at several versions of its library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AcrossVersions {
    /// Server.
    pub server: String,
    /// Scenario.
    pub scenario: String,
    /// What was sampled.
    pub event: ProfileEvent,
    /// The versions, in the order of the plan.
    pub versions: Vec<String>,
    /// One row per method.
    pub rows: Vec<VersionRow>,
}

/// One method at several versions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VersionRow {
    /// `Uri.parse`.
    pub short: String,
    /// `org.example.Uri.parse`.
    pub name: String,
    /// Its total share (0–1) at each version.
    pub shares: Vec<Estimate>,
}
