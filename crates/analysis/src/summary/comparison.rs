//! One variant against its baseline; the steps of a ladder; another load tool's figures together with tare's.

use serde::{Deserialize, Serialize};
use tare_plan::Currency;
use tare_plan::plan::SliceKind;

use super::{Estimate, with_group};
use crate::format::Change;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sentence {
    pub comparison: String,
    /// `http4s.Tapir uses 6.9 % more CPU per request than http4s.Vanilla on SimpleGet [0.1, 14.1].`
    pub text: String,
    pub verdict: VerdictKind,
}

/// The kinds of verdict. `worse` is what the reader likes less: fewer requests, more CPU, more bytes, later responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    NoMaterialDifference,
    Worse,
    Better,
    Inconclusive,
    NoInterval,
    Void,
}

impl VerdictKind {
    pub const fn is_decision(self) -> bool {
        matches!(self, Self::NoMaterialDifference | Self::Worse | Self::Better)
    }

    pub const fn is_difference(self) -> bool {
        matches!(self, Self::Worse | Self::Better)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub id: String,
    pub group: String,
    pub scenario: String,
    pub variant: String,
    pub baseline: String,
    pub cell: String,
    pub baseline_cell: String,
    pub odd_forks: Vec<OddFork>,
    pub currencies: Vec<CurrencyRatio>,
    pub cpu_cost: Option<CpuCost>,
}

impl Comparison {
    /// The scenario, with its group where another group compares servers of the same names in it, among all of a run.
    pub fn scenario_among(&self, all: &[Comparison]) -> String {
        let names = (&self.scenario, &self.variant, &self.baseline);
        let alike = all.iter().filter(|one| (&one.scenario, &one.variant, &one.baseline) == names);
        with_group(&self.scenario, &self.group, alike.map(|one| &one.group))
    }

    pub fn ratio_in(&self, currency: Currency) -> Option<&CurrencyRatio> {
        self.currencies.iter().find(|ratio| ratio.name == currency)
    }

    /// Why a change may not be told: it comes from one start, and the deciding measure has several.
    pub fn untold<'a>(&self, ratio: &'a CurrencyRatio) -> Option<&'a str> {
        let has_one_start = |ratio: &CurrencyRatio| ratio.verdict == VerdictKind::NoInterval;
        let is_weak = has_one_start(ratio) && self.currencies.first().is_some_and(|first| !has_one_start(first));
        is_weak.then(|| ratio.reason.as_deref().unwrap_or("too few starts"))
    }
}

/// What a variant costs in CPU time: the change of CPU per request, applied to that of the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CpuCost {
    pub ns_per_request: f64,
    pub lo: Option<f64>,
    pub hi: Option<f64>,
    /// `+2.5 µs [2.0, 3.0] of CPU a request = 0.25 % of a core at 1,000 requests/s`.
    pub text: String,
}

/// A fork whose ratio lies far from those of the other forks of its comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OddFork {
    pub fork: u32,
    pub ratio: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurrencyRatio {
    pub name: Currency,
    pub load: SliceKind,
    pub label: String,
    pub unit: String,
    pub higher_is_better: bool,
    pub baseline_value: f64,
    pub variant_value: f64,
    /// variant / baseline: 0.92 is 92 % of the baseline. Mean over forks (geometric).
    pub ratio: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<RatioBound>,
    pub lo: Option<f64>,
    pub hi: Option<f64>,
    pub method: String,
    pub forks: u32,
    pub sd_forks: Option<f64>,
    pub fork_ratios: Vec<f64>,
    pub fork_numbers: Vec<u32>,
    pub verdict: VerdictKind,
    pub material: bool,
    pub short: String,
    pub reason: Option<String>,
    pub needed_s: Option<f64>,
    pub prior: Option<PriorEffect>,
}

impl CurrencyRatio {
    pub fn change(&self) -> Change {
        Change { ratio: self.ratio, bounds: self.lo.zip(self.hi) }
    }

    /// Whether the ratio itself is known: it is neither void nor only a bound.
    pub fn is_known(&self) -> bool {
        self.verdict != VerdictKind::Void && self.bound.is_none()
    }

    /// Forks of two comparisons belong together by their numbers only: each leaves out its own odd forks.
    pub fn by_fork(&self) -> impl Iterator<Item = (u32, f64)> {
        self.fork_numbers.iter().copied().zip(self.fork_ratios.iter().copied())
    }
}

/// What a ratio of capacities says of the true one, where a search ended at an end of the loads that it tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RatioBound {
    AtLeast,
    AtMost,
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriorEffect {
    pub comparisons: u32,
    pub sd: f64,
    pub df: f64,
    pub is_used: bool,
    pub lo_without: f64,
    pub hi_without: f64,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    pub group: String,
    pub scenario: String,
    pub server: String,
    pub currencies: Vec<CurrencyRatio>,
    pub floor: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ladder {
    pub id: String,
    pub group: String,
    pub scenario: String,
    pub forks: u32,
    pub steps: Vec<LadderStep>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LadderStep {
    pub variant: String,
    pub cpu_ns: Option<Estimate>,
    pub cpu_ns_added: Option<Estimate>,
    pub allocated_bytes: Option<Estimate>,
    pub allocated_bytes_added: Option<Estimate>,
}

/// One cell as another tool saw it, on the same start of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossCheck {
    pub cell: String,
    pub engine: String,
    pub version: String,
    pub scenario: String,
    pub variant: String,
    pub users: u32,
    pub command: String,
    pub figures: Vec<ToolFigure>,
    pub requests_failed: Option<u64>,
    pub resolution_ns: Option<u64>,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolFigure {
    pub name: String,
    pub unit: String,
    pub theirs: f64,
    pub ours: Option<f64>,
    pub ratio: Option<f64>,
}
