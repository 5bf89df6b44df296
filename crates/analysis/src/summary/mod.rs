//! The summary: everything that people see, computed once from the record. Serialised it is the public JSON
//! `tare-summary/1`. Units are in the names. An unknown value is `null`, never zero. docs/SUMMARY.md describes every
//! key, and a test compares it with the types, so that few fields have a description here.

mod cell;
mod comparison;
mod finding;
mod latency;
mod limits;
mod load_facts;
mod profile;
mod validity;

use serde::{Deserialize, Serialize};
pub use tare_stats::Estimate;
use tare_units::grouped_by;

pub use cell::*;
pub use comparison::*;
pub use finding::*;
pub use latency::*;
pub use limits::*;
pub use load_facts::*;
pub use profile::*;
pub use validity::*;

pub const SCHEMA: &str = "tare-summary/1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub schema: String,
    pub run: RunInfo,
    pub headline: Headline,
    pub trust: Trust,
    pub next: Option<NextStep>,
    pub sentences: Vec<Sentence>,
    pub cells: Vec<Cell>,
    pub comparisons: Vec<Comparison>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<LimitCheck>,
    pub noise: Vec<Noise>,
    pub cross_checks: Vec<CrossCheck>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ladders: Vec<Ladder>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profiles: Option<Profiles>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadFacts>,
    pub findings: Vec<Finding>,
    pub plan: Vec<Section>,
    pub environment: Vec<Section>,
}

impl Summary {
    /// The cells of one group and scenario together, in the order of the first of each.
    pub fn panels(&self) -> Vec<Vec<&Cell>> {
        let panels = grouped_by(self.cells.iter().map(|cell| ((&cell.group, &cell.scenario), cell)));
        panels.into_iter().map(|(_, cells)| cells).collect()
    }

    pub fn comparison_of(&self, cell: &Cell) -> Option<&Comparison> {
        self.comparisons.iter().find(|comparison| comparison.cell == cell.id)
    }

    /// How many users the plan has: figures under those of another number are of another load.
    pub fn users(&self) -> Option<&str> {
        let rows = self.plan.iter().flat_map(|section| &section.rows);
        rows.into_iter().find(|row| row.key == "users").map(|row| row.value.as_str())
    }
}

/// `SimpleGet (group http4s)`, or the name alone if no other group is among these, which have something of this name.
pub(crate) fn with_group<'a>(name: &str, group: &str, mut groups: impl Iterator<Item = &'a String>) -> String {
    if groups.any(|other| other != group) { format!("{name} (group {group})") } else { name.to_owned() }
}

/// The answer: what is known first, then what is open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// `http4s.Tapir uses 6.9 % more CPU per request than http4s.Vanilla on SimpleGet [0.1, 14.1].`
    pub text: String,
    pub verdict: VerdictKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    pub state: ValidityState,
    pub reasons: Vec<String>,
    pub warnings: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NextStep {
    pub command: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
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
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats_one_start: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Compared,
    Sequential,
    Load,
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Section {
    pub title: String,
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub key: String,
    pub value: String,
    pub source: Option<String>,
}
