//! Findings: what a reader should know before relying on a figure.

use serde::{Deserialize, Serialize};
use tare_record::EventName;

/// A warning with a remedy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is about, for programs. Absent in summaries of older versions.
    #[serde(default)]
    pub kind: FindingKind,
    /// How much it matters.
    pub severity: Severity,
    /// Few words.
    pub title: String,
    /// What tare saw.
    pub text: String,
    /// What the reader can do about it.
    pub remedy: Option<String>,
    /// Cell it belongs to, where it belongs to one.
    pub cell: Option<String>,
    /// Last lines of the log of the server under test: untrusted text.
    pub log: Option<String>,
}

/// What a finding is about. In JSON one name in snake case: `cpu_governor`, `odd_starts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FindingKind {
    /// An event of the record.
    Event(EventName),
    /// Follows from the figures.
    Report(ReportFinding),
}

impl Default for FindingKind {
    fn default() -> Self {
        Self::Event(EventName::Other)
    }
}

/// What the report itself finds in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportFinding {
    /// The budget ended before every comparison was decided, with its size known well enough.
    BudgetSpent,
    /// Ctrl-C ended the run.
    Interrupted,
    /// tare failed, and no event says why.
    RunFailed,
    /// The record has no end.
    RecordUnfinished,
    /// A server ended before tare stopped it, and no event says so.
    ServerDied,
    /// Other work disturbed some forks, which do not count.
    ForksSetAside,
    /// Rounds of the other forks that do not count, because of other work or of a generator that stood still.
    RoundsLeftOut,
    /// Cells that were not steady when measuring began.
    NotSteady,
    /// Starts that settled in another mode than the rest.
    OddStarts,
    /// Forks that count in no currency of their comparison, because they are odd.
    OddForksLeftOut,
    /// The generator limited the throughput.
    GeneratorBound,
    /// Pauses that nothing within the server explains.
    OutsidePauses,
    /// The probes took CPU time worth a word.
    ProbeCost,
    /// Cells without any request.
    CellsUnmeasured,
    /// A cell that is void for a reason that no event gives.
    CellVoid,
    /// Trimmed and plain mean differ.
    FewSlicesDecide,
    /// Another number of rounds in a start would narrow intervals in the same time.
    RoundsPerStart,
    /// A server compared with itself differs.
    ControlDiffers,
    /// The interval of a control is wider than the region.
    NoiseAboveRegion,
    /// One fork gives no interval.
    OneFork,
    /// Cells that the plan leaves out.
    CellsLeftOut,
    /// Why a load is void.
    LoadVoid,
    /// Why a load is suspect.
    LoadSuspect,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// The numbers are usable with care.
    Warning,
    /// Numbers are missing or void.
    Error,
}
