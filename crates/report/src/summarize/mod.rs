//! Makes the summary of a record. Pure, and possible at any time, also for a record that was cut short.

mod agents;
mod capacity;
mod cell;
mod command;
mod compare;
mod cross_check;
mod disturbance;
mod evidence;
mod findings;
mod fork_time;
mod headline;
mod ladder;
mod latency;
mod level;
mod limit_words;
mod limits;
mod machine;
mod messages;
mod network;
mod next_step;
mod prior;
mod probes;
mod ratio;
mod recorded;
mod recorded_part;
mod rounds;
mod run_info;
mod stamps;
mod trust;
mod validity;
mod warmup;
mod wording;

use tare_plan::plan::{Mode, SliceKind};
use tare_record::environment::NetworkBandwidth;
use tare_record::{LoadRecord, RunHeader, RunRecord};

use crate::summary::{Cell, SCHEMA, Summary, Validity};
use evidence::Evidence;
use latency::LoadLatency;

pub(crate) use compare::compare_cells;
pub(crate) use findings::{of_load as findings_of_load, of_machine, report_finding};
pub(crate) use fork_time::mean_s as mean_fork_s;
pub(crate) use headline::{MOST_DIFFERENCES, without_facts as headline_without_facts};
pub(crate) use latency::{distribution, for_each_response};
pub(crate) use ratio::method;
pub use recorded::{RecordedForks, recorded_forks};
pub(crate) use run_info::{duration_s, environment_sections, load_sections, run_status, shell};
pub(crate) use trust::trust;

/// The error probability for a load. It changes no figure, because a load is one start and has no interval over starts.
const ALPHA_OF_LOAD: f64 = 0.01;

/// A cell with its evidence and latencies, for its comparisons.
pub(crate) struct CellAnalysis<'a> {
    evidence: Evidence<'a>,
    loads: Vec<LoadLatency>,
    cpu_kind: Option<SliceKind>,
    cell: Cell,
}

impl CellAnalysis<'_> {
    fn load(&self, kind: SliceKind) -> Option<&LoadLatency> {
        self.loads.iter().find(|load| load.kind == kind)
    }
}

/// What can limit a load besides the server's program. Unknown for a load on a URL.
#[derive(Debug, Clone, Copy, Default)]
struct LoadResources<'a> {
    /// The cores of the servers.
    server_cpus: &'a str,
    network: Option<NetworkBandwidth>,
}

impl<'a> LoadResources<'a> {
    fn of_run(header: &'a RunHeader) -> Self {
        Self { server_cpus: &header.plan.machine.server_cpus, network: header.environment.network }
    }
}

/// The summary of a run, from which all reports are made.
pub fn summarize(record: &RunRecord) -> Summary {
    let plan = &record.header.plan;
    // A profiled run has no scores and so no cells.
    let cells = if plan.mode == Mode::Profiled { Vec::new() } else { analyze_cells(record) };
    let compared = compare::compare_cells(record, &cells);
    let context = headline::HeadlineContext {
        void: &compared.void,
        disturbed: &compared.disturbed,
        region: plan.stop.region,
        is_control_alone: compare::control_alone(plan),
    };
    let sentences = compared.comparisons.iter().map(|comparison| headline::sentence(comparison, &context)).collect();
    let headline = headline::headline(&compared.comparisons, &context);
    let findings = findings::findings(record, &cells, &compared);
    let ladders = ladder::ladders(plan, &cells);
    let cells: Vec<Cell> = cells.into_iter().map(|analysis| analysis.cell).collect();
    let run = run_info::run_info(record);
    let mut headline = headline.unwrap_or_else(|| headline::without_comparison(plan, &cells));
    let mut next = next_step::next_step(record, &compared.comparisons, &cells, &findings, run.duration_s);
    let check = limits::limit_check(plan, compared.limits);
    if let Some(check) = &check {
        limit_words::answer(check, &mut headline);
        next = limit_words::next_step(check, record, run.duration_s);
    }
    Summary {
        schema: SCHEMA.to_owned(),
        trust: trust(&headline, &compared.comparisons, &cells, &findings),
        headline,
        next,
        check,
        run,
        sentences,
        ladders,
        profiles: None,
        load: None,
        findings,
        cross_checks: cross_check::cross_checks(record, &cells),
        cells,
        comparisons: compared.comparisons,
        noise: compared.noise,
        plan: run_info::plan_sections(&plan.settings),
        environment: run_info::environment_sections(&record.header.environment),
    }
}

/// The one cell of a load, judged by the rules for the cells of a run.
pub(crate) fn cell_of_load(record: &LoadRecord) -> Cell {
    let evidence = evidence::of_load(record);
    let loads = latency::analyze(&evidence, ALPHA_OF_LOAD);
    let cell = cell::of_load(&evidence, &loads, ALPHA_OF_LOAD);
    let doubts = recorded_part::doubts_of_part(record).into_iter().chain(agents::doubts_of_agents(record));
    let doubts = doubts.chain(warmup::doubt_of_warmup(record));
    Cell { validity: Validity::of_load(cell.validity, doubts), ..cell }
}

/// Analyzes every cell of a record.
pub(crate) fn analyze_cells(record: &RunRecord) -> Vec<CellAnalysis<'_>> {
    let plan = &record.header.plan;
    let mut analyses = Vec::with_capacity(plan.cells());
    let mut cells = evidence::gather(record);
    while let Some(first) = cells.first() {
        // Cells of one group and scenario stand together, and share the load at which their CPU is compared.
        let key = (first.subject.group, first.subject.scenario);
        let together = cells.iter().take_while(|c| (c.subject.group, c.subject.scenario) == key).count();
        let rest = cells.split_off(together);
        let cpu_kind = level::cpu_kind(&cells);
        for evidence in cells {
            let loads = latency::analyze(&evidence, plan.stop.alpha);
            let cell = cell::of_run(&record.header, &evidence, &loads, cpu_kind);
            analyses.push(CellAnalysis { evidence, loads, cpu_kind, cell });
        }
        cells = rest;
    }
    analyses
}
