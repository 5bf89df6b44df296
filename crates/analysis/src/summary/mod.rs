//! The summary: everything that people see, computed once from the record. Formatters compute nothing.
//!
//! Serialised as JSON it is the public, documented output (`tare report --json`, schema `tare-summary/1`) and what the
//! page reads. Units are in the names. An unknown value is `null`, never zero. docs/SUMMARY.md describes every key, and a test
//! compares it with the types: what stands at a field here is what its name leaves open.

mod capacity;
mod cell;
mod comparison;
mod cross_check;
mod finding;
mod headline;
mod ladder;
mod latency;
mod limits;
mod load_facts;
mod messages;
mod probes;
mod profile;
mod validity;

use serde::{Deserialize, Serialize};

use crate::format::Change;

pub use capacity::{CapacityAt, CapacityFork, CapacityLimit, CapacityTry, LimitUnit};
pub use cell::{Bottleneck, Cell, ErrorCount, ForkValue, KindShare, PoolShare, ServerShare, TimePoint};
pub use comparison::{
    Comparison, CpuCost, CurrencyRatio, Noise, OddFork, PriorEffect, RatioBound, Sentence, VerdictKind,
};
pub use cross_check::{CrossCheck, ToolFigure};
pub use finding::{Finding, FindingKind, ReportFinding, Severity};
pub use headline::{Headline, NextStep, Trust};
pub use ladder::{Ladder, LadderStep};
pub use latency::{
    CurvePoint, Distribution, HistogramBin, Latency, LatencyDivision, Pace, PercentileValue, SlowerPart, StartLatency,
};
pub use limits::{CheckResult, ConditionOutcome, ConditionResult, LimitCheck, LimitResult, LimitVerdictKind};
pub use load_facts::{LoadFacts, StatusCount, ThresholdResult, UrlSummary};
pub use messages::MessageSummary;
pub use probes::{CollectorShare, KindCores, PauseTally, Probes};
pub use profile::{
    AcrossVersions, HotFrame, MovedFrame, NamedMethod, PackageShare, ProfileView, Profiles, VersionRow, Why,
    WhySentence,
};
pub use validity::{Concern, Reason, Validity, ValidityState};

pub const SCHEMA: &str = "tare-summary/1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub schema: String,
    pub run: RunInfo,
    /// The answer of the run; every output begins with its text.
    pub headline: Headline,
    pub trust: Trust,
    /// What to do next; `null` where nothing is left to do.
    pub next: Option<NextStep>,
    /// The same for each comparison by itself, in the order of the plan.
    pub sentences: Vec<Sentence>,
    /// One entry per variant × scenario × load, baselines first within a group.
    pub cells: Vec<Cell>,
    /// One entry per variant that was compared with a baseline under one scenario.
    pub comparisons: Vec<Comparison>,
    /// What the limits of the run come to; absent where it has none (`tare check` has).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<LimitCheck>,
    /// The A/A controls: a baseline compared with a second start of itself.
    pub noise: Vec<Noise>,
    /// The results of other load tools for the cells, if a run asked them.
    pub cross_checks: Vec<CrossCheck>,
    /// What each step of a ladder costs; empty where no suite asked for one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ladders: Vec<Ladder>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profiles: Option<Profiles>,
    /// What a load says besides the figures of its one cell; absent in a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadFacts>,
    pub findings: Vec<Finding>,
    pub plan: Vec<Section>,
    pub environment: Vec<Section>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Name of the run, unique in its `.tare` folder: `2026-11-20-1`.
    pub id: String,
    pub suite: String,
    pub question: String,
    pub started_at: String,
    pub duration_s: f64,
    pub mode: Mode,
    pub status: RunStatus,
    pub command: String,
    pub seed: u64,
    pub tare_version: String,
    pub git_revision: Option<String>,
    /// `server: core 0 · generator: core 1 · JDK 25.0.1 …`: one line a fact.
    pub headline: Vec<String>,
    pub region: f64,
    pub alpha: f64,
    /// Servers ran that tare did not start, so that its starts are repeated measurements of one start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats_one_start: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Compared,
    Sequential,
    Load,
    /// Under a sampler (`tare profile`): what the time went into, nothing scored.
    Profiled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    Complete,
    BudgetSpent,
    Interrupted,
    /// tare itself failed or was killed: what was measured stands.
    Partial,
}

/// A mean over forks with its interval, where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub value: f64,
    /// Lower end of the interval; `null` without one.
    pub lo: Option<f64>,
    pub hi: Option<f64>,
}

impl Estimate {
    /// Of a ratio: to be said as a change in percent.
    pub fn change(&self) -> Change {
        Change { ratio: self.value, bounds: self.lo.zip(self.hi) }
    }
}

/// A titled table of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Section {
    pub title: String,
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub key: String,
    pub value: String,
    /// Where the value came from: `default`, `suite`, `flag`; `null` for facts.
    pub source: Option<String>,
}
