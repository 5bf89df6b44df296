//! Findings: what a reader should know before relying on a figure.

use serde::{Deserialize, Serialize};
use tare_record::EventName;

/// How much a finding matters: as much as an event of this level.
pub use tare_record::EventLevel as Severity;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: FindingKind,
    pub severity: Severity,
    pub title: String,
    pub text: String,
    pub remedy: Option<String>,
    pub cell: Option<String>,
    pub log: Option<String>,
}

/// What a finding is about. In JSON one name in snake case: `cpu_governor`, `odd_starts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FindingKind {
    Event(EventName),
    Report(ReportFinding),
}

/// What the report itself finds in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportFinding {
    BudgetSpent,
    Interrupted,
    RunFailed,
    RecordUnfinished,
    /// A server ended before tare stopped it, and no event says so.
    ServerDied,
    ForksSetAside,
    /// Rounds of the other forks that do not count, because of other work or of a generator that stood still.
    RoundsLeftOut,
    /// Forks that count in no currency of their comparison, because they are odd.
    OddForksLeftOut,
    OutsidePauses,
    ProbeCost,
    CellsUnmeasured,
    /// A cell that is void for a reason that no event gives.
    CellVoid,
    ControlDiffers,
    NoiseAboveRegion,
    OneFork,
    CellsLeftOut,
    LoadVoid,
    LoadSuspect,
}
