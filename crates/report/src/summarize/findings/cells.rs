//! What cells have to say: one finding for all cells of which the same is true, which names them by scenario.

use tare_record::sample::PauseCause;

use super::finding;
use super::odd_starts::odd_starts;
use crate::format::{Unit, count, enumerate, share, single};
use crate::summarize::Studied;
use crate::summary::{Bottleneck, Finding, PauseTally, Severity, ValidityState};

/// Steadiness, bottleneck and missing measurements over all cells, and every other void cell by itself.
pub(super) fn of_cells(cells: &[Studied<'_>]) -> Vec<Finding> {
    let together = [
        disturbed(cells),
        unsteady(cells),
        odd_starts(cells),
        generator_bound(cells),
        paused(cells),
        probing(cells),
        unmeasured(cells),
    ];
    together.into_iter().flatten().chain(cells.iter().filter_map(void)).collect()
}

/// Comparisons in which the trimmed and the plain mean disagree: cell id and currency of each.
pub(super) fn few_slices_decide(cells: &[Studied<'_>], disagreeing: &[(String, String)]) -> Option<Finding> {
    let of = |cell: &Studied<'_>| {
        let named = disagreeing.iter().filter(|(id, _)| *id == cell.cell.id);
        let currencies: Vec<String> = named.map(|(_, currency)| currency.clone()).collect();
        (!currencies.is_empty()).then(|| format!("({})", currencies.join(", ")))
    };
    let found = Found::among(cells, of)?;
    let text = format!(
        "The 20 % trimmed mean of the slices and their plain mean lie more than 1 % apart. {}.",
        found.by_scenario()
    );
    let remedy = "Look at the run over time for stalls (GC, neighbours).";
    Some(found.named(finding(Severity::Warning, "A few slices decide", text, remedy)))
}

/// Forks that count for nothing.
fn disturbed(cells: &[Studied<'_>]) -> Option<Finding> {
    let of = |studied: &Studied<'_>| {
        let aside = studied.evidence.set_aside.len() as u64;
        let all = aside + u64::from(studied.cell.forks);
        (aside > 0).then(|| format!("{aside} of {}", count(all, "fork")))
    };
    let found = Found::among(cells, of)?;
    let text = format!(
        "Other programs, or the hypervisor, took more than a tenth of the cores in more than a fifth of the slices of some forks, which \
         count for nothing therefore, whatever came out of them. {}.",
        found.by_scenario()
    );
    let remedy = "End what runs beside: every fork that is set aside is time lost.";
    Some(found.named(finding(Severity::Info, "Disturbed forks were set aside", text, remedy)))
}

fn unsteady(cells: &[Studied<'_>]) -> Option<Finding> {
    let of = |studied: &Studied<'_>| {
        let (forks, steady) = (studied.cell.forks, studied.cell.steady_forks);
        (steady < forks).then(|| format!("{} of {}", forks - steady, count(forks.into(), "fork")))
    };
    let found = Found::among(cells, of)?;
    let mut reasons = found.cells.iter().map(|(studied, _)| first_unsteady(studied));
    let first = reasons.next().unwrap_or_default();
    let word = if reasons.all(|reason| reason == first) { "Reason" } else { "First reason" };
    let text = format!("{}. {word}: {first}.", found.by_scenario());
    let remedy = "Let it warm up longer (--warmup-cap, and --budget), with more cores or under less load.";
    Some(found.named(finding(Severity::Warning, "Not steady when measuring began", text, remedy)))
}

fn first_unsteady<'a>(studied: &Studied<'a>) -> &'a str {
    let mut warmups = studied.evidence.warmups.iter();
    warmups.find(|w| !w.steady && !w.reason.is_empty()).map_or("none recorded", |w| w.reason.as_str())
}

fn generator_bound(cells: &[Studied<'_>]) -> Option<Finding> {
    let found = Found::among(cells, |s| (s.cell.bottleneck == Bottleneck::Generator).then(String::new))?;
    let text = format!(
        "Under the saturating load the generator was busy and the server was not: the throughput is a lower bound. {}.",
        found.by_scenario()
    );
    let remedy = "Give the generator more cores (--load-cpus), or compare CPU per request at a fixed rate.";
    Some(found.named(finding(Severity::Warning, "The generator was the bottleneck", text, remedy)))
}

/// Pauses that are nobody's in the server: the machine's, or a stop from outside.
fn paused(cells: &[Studied<'_>]) -> Option<Finding> {
    let of = |studied: &Studied<'_>| {
        let from_outside = |tally: &&PauseTally| matches!(tally.cause, PauseCause::Machine | PauseCause::Process);
        let longest = studied.cell.probes.pauses.iter().filter(from_outside).max_by_key(|tally| tally.pause_max_ns)?;
        let times = studied.cell.probes.pauses.iter().filter(from_outside).map(|tally| tally.pauses).sum();
        Some(format!("({}, up to {})", count(times, "pause"), single(Unit::Nanos, longest.pause_max_ns as f64)))
    };
    let found = Found::among(cells, of)?;
    let text = format!(
        "The meters of hiccups paused, and neither a collection nor another safepoint explains it: the machine, the scheduler or somebody with \
         a signal took the processor away. The tails of the latencies hold it. {}.",
        found.by_scenario()
    );
    let remedy = "End what else runs on these cores, or give the servers more of them.";
    Some(found.named(finding(Severity::Info, "Pauses from outside the servers", text, remedy)))
}

/// Above this share of the server's CPU, looking at it is no longer for nothing.
const PROBING_SHARE: f64 = 0.01;

fn probing(cells: &[Studied<'_>]) -> Option<Finding> {
    let of = |studied: &Studied<'_>| {
        let taken = studied.cell.probes.probe_cpu_share.filter(|taken| *taken > PROBING_SHARE)?;
        Some(format!("({})", share(taken)))
    };
    let found = Found::among(cells, of)?;
    let text = format!("The probes took more than 1 % of the CPU that the server took. {}.", found.by_scenario());
    let has_meters =
        found.cells.iter().any(|(studied, _)| studied.evidence.measured().any(|s| s.server.hiccups.is_some()));
    let remedy = if has_meters {
        "The meters of hiccups cost most of it: leave out --hiccups."
    } else {
        "Longer slices or a higher rate make it a smaller share: it is read at both ends of each slice."
    };
    Some(found.named(finding(Severity::Info, "Probing was not cheap", text, remedy)))
}

/// Cells that the run did not reach, or where no request came to an end.
fn unmeasured(cells: &[Studied<'_>]) -> Option<Finding> {
    let of = |studied: &Studied<'_>| (is_silently_void(studied) && !is_measured(studied)).then(String::new);
    let found = Found::among(cells, of)?;
    let text = format!("The run ended before them, or no request did. {}.", found.by_scenario());
    let title = format!("{} without a measurement", count(found.cells.len() as u64, "cell"));
    Some(found.named(finding(Severity::Error, title, text, "")))
}

fn void(studied: &Studied<'_>) -> Option<Finding> {
    let cell = &studied.cell;
    let text = || format!("{} on {}: {}.", cell.variant, cell.scenario, cell.validity.joined_reasons());
    let is_news = is_silently_void(studied) && is_measured(studied);
    let found = is_news.then(|| finding(Severity::Error, "A cell is void", text(), ""))?;
    Some(Finding { cell: Some(cell.id.clone()), ..found })
}

/// What an event made void has that event as its finding.
fn is_silently_void(studied: &Studied<'_>) -> bool {
    studied.cell.validity.state == ValidityState::Void && studied.evidence.voiding().next().is_none()
}

const fn is_measured(studied: &Studied<'_>) -> bool {
    studied.cell.requests_ok + studied.cell.requests_failed > 0
}

/// The cells of which something is true, each with the words that follow its name; never empty.
pub(super) struct Found<'c, 'r> {
    cells: Vec<(&'c Studied<'r>, String)>,
}

impl<'c, 'r> Found<'c, 'r> {
    pub fn among(cells: &'c [Studied<'r>], words: impl Fn(&Studied<'r>) -> Option<String>) -> Option<Self> {
        let cells: Vec<_> = cells.iter().filter_map(|cell| Some((cell, words(cell)?))).collect();
        (!cells.is_empty()).then_some(Self { cells })
    }

    /// `SimpleGet: http4s.Vanilla 3 of 3 forks, http4s.Tapir 3 of 3 forks; PostBytes: …`.
    pub fn by_scenario(&self) -> String {
        let mut scenarios: Vec<(&str, Vec<String>)> = Vec::new();
        for (studied, words) in &self.cells {
            let cell = &studied.cell;
            let one = format!("{} {words}", cell.variant).trim_end().to_owned();
            match scenarios.iter_mut().find(|(name, _)| *name == cell.scenario) {
                Some((_, all)) => all.push(one),
                None => scenarios.push((&cell.scenario, vec![one])),
            }
        }
        let shown = scenarios.iter().take(SCENARIOS).map(|(name, all)| format!("{name}: {}", enumerate(all)));
        let more = scenarios.len().saturating_sub(SCENARIOS) as u64;
        let more = (more > 0).then(|| format!("and {}", count(more, "more scenario")));
        shown.chain(more).collect::<Vec<_>>().join("; ")
    }

    /// A finding about one cell links to it.
    pub fn named(&self, finding: Finding) -> Finding {
        let only = if let [(studied, _)] = self.cells.as_slice() { Some(studied.cell.id.clone()) } else { None };
        Finding { cell: only, ..finding }
    }
}

/// How many scenarios a finding names; the cells themselves carry their reasons in full.
const SCENARIOS: usize = 6;
