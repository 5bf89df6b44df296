//! Findings: what a reader should know before relying on a figure.

use serde::{Deserialize, Serialize};
use tare_record::EventName;

use crate::format::sentence;

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

/// What the report itself finds in a record. A row is: severity, title, what stands before the names and figures, and
/// what the reader can do. The last two may be empty. The words of events stand in the record.
macro_rules! report_findings {
    ($($kind:ident: $severity:ident, $title:literal, $lead:literal, $remedy:literal;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum ReportFinding {
            $($kind,)*
        }

        impl ReportFinding {
            const fn row(self) -> (Severity, &'static str, &'static str, &'static str) {
                match self {
                    $(Self::$kind => (Severity::$severity, $title, $lead, $remedy),)*
                }
            }
        }
    };
}

report_findings! {
    BudgetSpent: Info, "Budget spent",
        "The budget ended before every comparison was decided, or before every interval was as narrow as asked (--half-width).",
        "Raise the budget (--budget).";
    Interrupted: Warning, "Interrupted", "Ctrl-C ended this run. The report shows what was measured before.", "";
    RecordUnfinished: Warning, "Unfinished record", "The record was cut short:",
        "tare was killed, or its disk was full. If tare still measures, wait for its end.";
    ForksSetAside: Info, "Starts set aside",
        "Other programs or the hypervisor took over 10 % of the cores in most rounds. These starts do not count, whatever their figures.",
        "Stop the other programs: each start set aside costs time.";
    RoundsLeftOut: Info, "Rounds left out",
        "In these rounds other programs took over 10 % of the cores, or the load generator stood still for over 1 ms. They count for no server.",
        "Give the generator its own cores (--load-cpus), and stop other programs.";
    OddForksLeftOut: Warning, "Odd starts left out",
        "In a few starts a server ran at another speed than in the rest. The intervals are those of the rest.",
        "Measure more starts (--budget) to see how often this occurs.";
    OutsidePauses: Info, "Pauses from outside the servers",
        "Servers stood still, and neither garbage collection nor a safepoint explains it. The machine, the scheduler or a signal stopped them. The slowest responses include these pauses.",
        "Stop other programs on these cores, or give the servers more cores.";
    ProbeCost: Info, "Costly probes", "Reading their CPU and memory cost these servers more than 1 % of their CPU time.",
        "Leave out --hiccups, if you gave it. Use longer slices or a higher rate: tare reads at both ends of each slice.";
    CellsUnmeasured: Error, "Not measured", "The run ended before these servers were measured, or none of their requests completed.", "";
    CellVoid: Error, "Void", "", "";
    ControlDiffers: Error, "A server differs from itself",
        "Two starts of one server gave different figures: the machine or tare favours one side.",
        "Ignore differences of this size. Run tare doctor, and give servers and generator their own cores.";
    NoiseAboveRegion: Warning, "Noise above the region or limit",
        "The baseline against a second start of itself (A/A control) has an interval wider than the region, or than the limit of a check. This run cannot show differences as small as that.",
        "Measure more starts (--budget, --forks) or use a quieter machine.";
    OneFork: Warning, "One start, no interval", "Two starts of one program differ, and one start cannot show by how much.",
        "Measure several starts with --forks 10, or until there is a verdict with --budget 5m.";
    CellsLeftOut: Info, "Left out", "", "";
    LoadVoid: Error, "VOID", "", "";
    LoadSuspect: Warning, "SUSPECT", "", "";
}

impl Finding {
    /// A finding of the report: its fixed words, followed by `detail`, the names and figures.
    pub fn of_report(kind: ReportFinding, detail: &str) -> Self {
        let (severity, title, lead, remedy) = kind.row();
        Self {
            kind: FindingKind::Report(kind),
            severity,
            title: title.to_owned(),
            text: format!("{lead} {}", sentence(detail)).trim().to_owned(),
            remedy: (!remedy.is_empty()).then(|| remedy.to_owned()),
            cell: None,
            log: None,
        }
    }
}
