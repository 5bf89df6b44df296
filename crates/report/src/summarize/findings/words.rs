//! The words of every finding that the report makes itself: one row each. Those of events stand in the record.

use crate::format::sentence;
use crate::summary::{Finding, FindingKind, ReportFinding, Severity};

/// What is fixed about a finding.
struct FindingWords {
    severity: Severity,
    title: &'static str,
    /// Whole sentences that stand before the names and figures; may be empty.
    lead: &'static str,
    /// Empty where the reader can do nothing.
    remedy: &'static str,
}

/// A finding: its fixed words, followed by `detail`, the names and figures.
pub(crate) fn report_finding(kind: ReportFinding, detail: &str) -> Finding {
    let words = words(kind);
    let text =
        [words.lead, &sentence(detail)].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    Finding {
        kind: FindingKind::Report(kind),
        severity: words.severity,
        title: words.title.to_owned(),
        text,
        remedy: (!words.remedy.is_empty()).then(|| words.remedy.to_owned()),
        cell: None,
        log: None,
    }
}

const fn row(severity: Severity, title: &'static str, lead: &'static str, remedy: &'static str) -> FindingWords {
    FindingWords { severity, title, lead, remedy }
}

const fn words(kind: ReportFinding) -> FindingWords {
    match kind {
        ReportFinding::BudgetSpent => row(
            Severity::Info,
            "Budget spent",
            "The budget ended before every interval was as narrow as asked (--half-width), or before every comparison was decided.",
            "Raise the budget (--budget).",
        ),
        ReportFinding::Interrupted => row(
            Severity::Warning,
            "Interrupted",
            "Ctrl-C ended this run. The report shows what was measured before.",
            "",
        ),
        ReportFinding::RunFailed => {
            row(Severity::Error, "tare failed", "The run ended early. The report shows what was measured before.", "")
        }
        ReportFinding::RecordUnfinished => row(
            Severity::Warning,
            "Unfinished record",
            "The record was cut short:",
            "tare was killed, or its disk was full. If tare still measures, wait for its end.",
        ),
        ReportFinding::ServerDied => row(
            Severity::Error,
            "Server died",
            "The server ended before tare stopped it.",
            "Read its log in the folder of the run.",
        ),
        ReportFinding::ForksSetAside => row(
            Severity::Info,
            "Starts set aside",
            "Other programs or the hypervisor took over 10 % of the cores in most rounds. These starts do not count, whatever \
             their figures.",
            "Stop the other programs: each start set aside costs time.",
        ),
        ReportFinding::RoundsLeftOut => row(
            Severity::Info,
            "Rounds left out",
            "Other programs took over 10 % of the cores in these rounds, or the generator stood still in them for over 1 ms. They \
             count for no server of their group.",
            "Give the generator its own cores (--load-cpus), and stop other programs.",
        ),
        ReportFinding::NotSteady => row(
            Severity::Warning,
            "Not steady",
            "The warm-up ended before these servers were steady.",
            "Allow a longer warm-up (--warmup-cap, --budget), use more cores or lower the load.",
        ),
        ReportFinding::OddStarts => row(
            Severity::Info,
            "Odd starts",
            "Some starts ran at another speed than the rest. The percentages are of the usual speed.",
            "Measure more starts (--budget) to see how often this occurs. Compare their context switches and JIT compilation.",
        ),
        ReportFinding::OddForksLeftOut => row(
            Severity::Warning,
            "Odd starts left out",
            "In a few starts a server ran at another speed than in the rest. The intervals are those of the rest.",
            "Measure more starts (--budget) to see how often this occurs.",
        ),
        ReportFinding::GeneratorBound => row(
            Severity::Warning,
            "Generator was the bottleneck",
            "Under saturating load the generator was busy and the server was not. The throughput is a lower bound.",
            "Give the generator more cores (--load-cpus), or compare CPU per request at a fixed rate.",
        ),
        ReportFinding::OutsidePauses => row(
            Severity::Info,
            "Pauses from outside the servers",
            "The hiccup meters saw pauses that no garbage collection or safepoint explains. The machine, the scheduler or a \
             signal caused them. Tail latencies include them.",
            "Stop other programs on these cores, or give the servers more cores.",
        ),
        ReportFinding::ProbeCost => row(
            Severity::Info,
            "Costly probes",
            "The probes used more than 1 % of the server's CPU time.",
            "Use longer slices or a higher rate: tare reads the probes at both ends of each slice.",
        ),
        ReportFinding::CellsUnmeasured => row(
            Severity::Error,
            "Cells not measured",
            "The run ended before these cells, or none of their requests completed.",
            "",
        ),
        ReportFinding::CellVoid => row(Severity::Error, "Void cell", "", ""),
        ReportFinding::FewSlicesDecide => row(
            Severity::Info,
            "Few slices decide",
            "The 20 % trimmed mean of the slices differs from their plain mean by more than 1 %.",
            "Look for stalls in the run over time, such as garbage collection or other programs.",
        ),
        ReportFinding::RoundsPerStart => row(
            Severity::Info,
            "Rounds per start",
            "Another number of saturating rounds in each start would narrow these intervals in the same time.",
            "Set the number of rounds (--saturating).",
        ),
        ReportFinding::ControlDiffers => row(
            Severity::Error,
            "A server differs from itself",
            "Two starts of one server gave different figures: the machine or tare favours one side.",
            "Ignore differences of this size. Run tare doctor, and give servers and generator their own cores.",
        ),
        ReportFinding::NoiseAboveRegion => row(
            Severity::Warning,
            "Noise above the region",
            "The baseline compared with itself (A/A control) has an interval wider than the region. This run cannot show \
             differences as small as that.",
            "Measure more starts (--budget, --forks) or use a quieter machine.",
        ),
        ReportFinding::OneFork => row(
            Severity::Warning,
            "One start, no interval",
            "Two starts of one program differ, and one start cannot show by how much.",
            "Measure several starts with --forks 10, or until there is a verdict with --budget 5m.",
        ),
        ReportFinding::RareModes => row(Severity::Info, "Rare modes", "", "Measure more starts (--forks)."),
        ReportFinding::CellsLeftOut => row(Severity::Info, "Cells left out", "", ""),
        ReportFinding::LoadVoid => row(Severity::Error, "VOID", "", ""),
        ReportFinding::LoadSuspect => row(Severity::Warning, "SUSPECT", "", ""),
    }
}
