//! A cell, which is a server under one scenario: its evidence, its latencies, and all figures of it in the summary.

pub(crate) mod capacity;
pub(crate) mod ladder;
mod latency;
pub(crate) mod level;
mod load_doubts;
mod messages;
mod network;
mod probes;
pub(crate) mod seen;
mod validity;

use std::collections::BTreeMap;

use tare_plan::plan::{Mode, Plan, Role, SliceKind};
use tare_record::{ErrorClass, ErrorTallies, ErrorTally, LoadRecord, RunRecord, StoredSlice};

use crate::evidence::{Evidence, gather};
use crate::format;
use crate::run_info::shortened;
use crate::summary::{Cell, ErrorCount, ForkValue, Row, TimePoint, Validity};

pub(crate) use latency::distribution;
pub use latency::for_each_response;
pub(crate) use load_doubts::{of_cut_off, recorded_part};
use seen::{SeenCell, SeenCells};
pub(crate) use validity::{NOTHING_MEASURED, generator_share, room_ns};

/// The error probability for a load. It changes no figure, because a load is one start and has no interval over starts.
const ALPHA_OF_LOAD: f64 = 0.01;

pub(crate) struct CellAnalysis<'a> {
    pub evidence: Evidence<'a>,
    pub cpu_kind: Option<SliceKind>,
    pub cell: Cell,
}

impl CellAnalysis<'_> {
    /// The cell with its figures over time. A look at a run under way needs none, and would unpack every slice for them.
    pub fn into_cell(self) -> Cell {
        Cell { timeline: timeline(&self.evidence), ..self.cell }
    }
}

/// The one cell of a load, judged by the rules for the cells of a run.
pub fn cell_of_load(record: &LoadRecord) -> Cell {
    let evidence = crate::evidence::of_load(record);
    let cpu_kind = level::cpu_kind(std::slice::from_ref(&evidence));
    let cell = measured(&evidence, cpu_kind, ALPHA_OF_LOAD);
    let validity = Validity::of_load(cell.validity, load_doubts::doubts_of_load(record));
    Cell { validity, timeline: timeline(&evidence), ..cell }
}

pub(crate) fn analyze_cells(record: &RunRecord) -> Vec<CellAnalysis<'_>> {
    analyze_new(record, &mut SeenCells::default())
}

pub(crate) fn analyze_new<'a>(record: &'a RunRecord, seen: &mut SeenCells) -> Vec<CellAnalysis<'a>> {
    let plan = &record.header.plan;
    let mut analyses = Vec::with_capacity(plan.cells());
    for cells in gather(record, |together| seen.set_aside(together)) {
        if let Some(known) = seen.take(&cells) {
            let again = |(evidence, SeenCell { cpu_kind, cell, .. })| CellAnalysis { evidence, cpu_kind, cell };
            analyses.extend(cells.into_iter().zip(known).map(again));
        } else {
            // Cells of one group and scenario share the load at which their CPU is compared.
            let cpu_kind = level::cpu_kind(&cells);
            let new =
                |evidence: Evidence<'a>| CellAnalysis { cell: of_run(plan, &evidence, cpu_kind), evidence, cpu_kind };
            analyses.extend(cells.into_iter().map(new));
        }
    }
    analyses
}

/// The cell of a run; `cpu_kind` is the load at which CPU per request is compared in its group.
fn of_run(plan: &Plan, evidence: &Evidence<'_>, cpu_kind: Option<SliceKind>) -> Cell {
    let cell = measured(evidence, cpu_kind, plan.stop.alpha);
    let fork_values = if plan.mode == Mode::Sequential { Vec::new() } else { fork_values(evidence, cpu_kind) };
    let validity = capacity::unfinished(plan, evidence).into_iter().fold(cell.validity, Validity::and);
    Cell { capacity: capacity::capacity(plan, evidence), fork_values, validity, ..cell }
}

fn measured(evidence: &Evidence<'_>, cpu_kind: Option<SliceKind>, alpha: f64) -> Cell {
    let (forks, latency) = (evidence.fork_numbers(), latency::analyze(evidence, alpha));
    let (requests_ok, requests_failed) = validity::requests(evidence);
    let subject = evidence.subject;
    let (named, variant) = subject.planned.unzip();
    let collections = evidence.measured().filter_map(|s| s.server.runtime.as_ref()?.collections);
    Cell {
        id: evidence.id(),
        group: subject.group.to_owned(),
        scenario: subject.scenario.to_owned(),
        scenario_title: named.map_or_else(String::new, |named| named.scenario.title.clone()),
        variant: subject.variant.to_owned(),
        server: variant.map_or(subject.variant, |variant| variant.server.as_str()).to_owned(),
        family: variant.map_or(subject.variant, |variant| variant.family.as_str()).to_owned(),
        kind: variant.map_or_else(String::new, |variant| variant.kind.clone()),
        version: variant.and_then(|variant| variant.version.clone()),
        baseline: variant.is_none_or(|variant| variant.role == Role::Baseline),
        control: variant.is_some_and(|variant| variant.role == Role::Control),
        forks: forks.len() as u32,
        forks_set_aside: evidence.set_aside.forks.iter().copied().collect(),
        steady_forks: forks.iter().filter(|f| evidence.was_steady(**f)).count() as u32,
        validity: validity::judge(evidence, &latency),
        bottleneck: validity::bottleneck(evidence),
        throughput_per_s: level::over_forks(&throughput_per_fork(evidence), alpha),
        cpu_ns_per_request: level::over_forks(&level::cpu_per_fork(evidence, cpu_kind), alpha),
        cpu_load: cpu_kind.map(|kind| cpu_load(evidence, kind)).unwrap_or_default(),
        cpu_by_kind: cpu_kind.map(|kind| probes::cpu_by_kind(evidence.of_kind(kind))).unwrap_or_default(),
        cpu_by_server: cpu_kind.map(|kind| probes::cpu_by_server(evidence.of_kind(kind))).unwrap_or_default(),
        allocated_bytes_per_request: level::over_forks(&level::allocated_per_fork(evidence), alpha),
        gc_pause_share: level::time_share(evidence.measured(), |runtime| runtime.collecting_ns),
        gc_pauses: collections.reduce(|sum, one| sum + one),
        stopped_ns_per_request: level::over_forks(&level::stopped_per_fork(evidence), alpha),
        stopped_time_share: level::time_share(evidence.measured(), level::stopped_ns),
        heap_used_peak_bytes: evidence.measured().filter_map(|s| s.server.runtime.as_ref()?.heap_used_bytes).max(),
        probes: probes::probes(evidence),
        rss_bytes: level::estimate(&rss_at_end(evidence, &forks), alpha),
        rss_peak_bytes: evidence.measured().filter_map(|s| s.server.rss_peak_bytes).max(),
        generator_cpu_share: validity::generator_share(evidence.measured()),
        requests_ok,
        requests_failed,
        errors: error_counts(&validity::errors(evidence)),
        connection_events: error_counts(&validity::connection_events(evidence)),
        bytes_in: evidence.measured().map(|s| s.load.bytes_in).sum(),
        bytes_out: evidence.measured().map(|s| s.load.bytes_out).sum(),
        latency,
        tail: Vec::new(),
        capacity: None,
        messages: messages::messages(evidence),
        timeline: Vec::new(),
        fork_values: Vec::new(),
        resolved: resolved(evidence),
        command: evidence.forks.last().map(|f| shortened(&f.command).join(" ")).unwrap_or_default(),
    }
}

fn cpu_load(evidence: &Evidence<'_>, kind: SliceKind) -> String {
    let rate = evidence.of_kind(kind).find_map(|s| s.key.offered_per_s).map(format::rate);
    match kind {
        SliceKind::Fixed => "same fixed rate".to_owned(),
        SliceKind::Poisson => rate.map_or("Poisson".to_owned(), |rate| format!("Poisson {rate}")),
        SliceKind::Saturating => "saturating".to_owned(),
        SliceKind::Push => "pushed".to_owned(),
        SliceKind::Capacity => "tries".to_owned(),
    }
}

fn rss_at_end(evidence: &Evidence<'_>, forks: &[u32]) -> Vec<f64> {
    let last = |fork: &u32| evidence.measured_in(*fork).filter_map(|s| s.server.rss_bytes).last();
    forks.iter().filter_map(last).map(|bytes| bytes as f64).collect()
}

fn error_counts(tallies: &ErrorTallies) -> Vec<ErrorCount> {
    let one = |(class, tally): (ErrorClass, &ErrorTally)| ErrorCount {
        class,
        count: tally.count,
        example: tally.example.clone(),
    };
    tallies.iter().map(one).collect()
}

fn timeline(evidence: &Evidence<'_>) -> Vec<TimePoint> {
    evidence.slices.iter().map(|slice| time_point(slice)).collect()
}

fn time_point(slice: &StoredSlice) -> TimePoint {
    let response = slice.load.response.unpack();
    let jit = |cpu: &tare_record::ServerCpu| {
        let jit = cpu.by_kind.get("jit")?;
        (cpu.total_ns > 0).then(|| *jit as f64 / cpu.total_ns as f64)
    };
    let runtime = slice.server.runtime.as_ref();
    TimePoint {
        t_s: (slice.load.window_start_ns() + slice.load.window_ns / 2) as f64 / 1e9,
        fork: slice.key.fork,
        phase: slice.key.phase,
        slice_kind: slice.key.kind,
        throughput_per_s: level::throughput(std::iter::once(slice)).unwrap_or(0.0),
        p50_ns: response.percentile_ns(50.0),
        p99_ns: response.percentile_ns(99.0),
        cpu_ns_per_request: level::cpu(std::iter::once(slice)).filter(|cpu| *cpu > 0.0),
        jit_share: slice.server.cpu.as_ref().and_then(jit),
        cpu: probes::cores_by_kind(slice),
        rss_bytes: slice.server.rss_bytes,
        heap_used_bytes: runtime.and_then(|runtime| runtime.heap_used_bytes),
        heap_after_gc_bytes: runtime.and_then(|runtime| runtime.heap_after_gc_bytes),
        gc_pauses: runtime.and_then(|runtime| runtime.collections),
        gc_pause_ns: runtime.and_then(|runtime| runtime.collecting_ns),
        failed: slice.load.failed,
    }
}

fn throughput_per_fork(evidence: &Evidence<'_>) -> BTreeMap<u32, f64> {
    evidence.by_fork(|fork| level::throughput(evidence.in_fork(SliceKind::Saturating, fork)))
}

fn fork_values(evidence: &Evidence<'_>, cpu_kind: Option<SliceKind>) -> Vec<ForkValue> {
    let (throughput, cpu) = (throughput_per_fork(evidence), level::cpu_per_fork(evidence, cpu_kind));
    let value = |fork: u32| ForkValue {
        fork,
        steady: evidence.was_steady(fork),
        warmup_s: evidence.warmup(fork).map_or(0.0, |w| w.span_ns as f64 / 1e9),
        throughput_per_s: throughput.get(&fork).copied(),
        cpu_ns_per_request: cpu.get(&fork).copied(),
    };
    evidence.fork_numbers().into_iter().map(value).collect()
}

fn resolved(evidence: &Evidence<'_>) -> Vec<Row> {
    let latest = evidence.forks.last().map(|f| &f.resolved);
    let row = |(key, value): (&String, &String)| Row { key: key.clone(), value: value.clone(), source: None };
    latest.into_iter().flatten().map(row).collect()
}
