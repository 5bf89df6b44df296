//! Other people's load tools: each drives a cell after tare has, on the same start of the server, for cross-checking.
//! How a tool is asked and understood is a file each; here they are found, run and booked.

mod gatling;
mod process;
mod wrk;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::{fs, io};

use tare_plan::Plan;
use tare_plan::engine::Engine;
use tare_plan::plan::NamedScenario;
use tare_record::cross_check::{CrossCheckOutcome, CrossCheckRecord, ToolFigures};
use tare_sut::catalog::Catalog;
use tare_sys::affinity::CpuSet;

use crate::error::RunError;
use crate::fleet::{Member, file_name};
use crate::fork::Trial;
use crate::journal::Journal;
use crate::progress::{Place, Progress};

/// What a tool may need besides its load: its own start, its report.
const PATIENCE: Duration = Duration::from_secs(60);

/// A tool, found and ready to be started.
#[derive(Debug, Clone)]
pub struct Tool {
    engine: Engine,
    /// As it says itself.
    version: String,
    /// Program and first arguments.
    start: Vec<String>,
    /// What is added for a cell, or why it cannot be asked.
    arguments: fn(&Cell<'_>) -> Result<Vec<String>, String>,
    /// What it measured, from what it printed.
    figures: fn(&str) -> Result<ToolFigures, String>,
}

/// What a tool is asked to drive.
#[derive(Debug)]
struct Cell<'a> {
    /// `http://127.0.0.1:8080/path0/4`.
    url: String,
    named: &'a NamedScenario,
    /// The status of a right answer, on this server.
    status: u16,
    users: u32,
    length: Duration,
    timeout: Duration,
    /// The generator's cores.
    cpus: CpuSet,
    /// Holds the request's body, as `body`; the tool may leave files beside it.
    folder: &'a Path,
}

impl Cell<'_> {
    /// The length in whole seconds, which is what tools take.
    fn seconds(&self) -> u64 {
        self.length.as_secs_f64().round().max(1.0) as u64
    }

    /// The file with the request's body, where it has one.
    fn body_file(&self) -> Option<String> {
        self.named.scenario.request.body.as_ref().map(|_| self.folder.join("body").display().to_string())
    }
}

/// Finds the tools that a plan asks for; builds what has to be built.
///
/// # Errors
/// When one is not there, with how to get it.
pub fn ready(
    plan: &Plan,
    catalog: Option<&Catalog>,
    cancelled: &AtomicBool,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Tool>, RunError> {
    let find = |engine: &Engine| match engine {
        Engine::Wrk => wrk::find(cancelled),
        Engine::Gatling => gatling::find(plan, catalog, cancelled, progress),
    };
    plan.engines.iter().map(find).collect()
}

/// Has every tool of the run drive the cell that tare has just driven.
pub(crate) fn cross_check(
    trial: &Trial<'_>,
    member: &Member<'_>,
    named: &NamedScenario,
    place: &Place<'_>,
    journal: &mut Journal<'_>,
) -> Result<(), RunError> {
    for tool in trial.yard.launches.engines() {
        if trial.cancel.is_cancelled() || !member.healthy {
            break;
        }
        journal.show(&Progress::CrossChecking {
            place: *place,
            scenario: &named.name,
            variant: &member.variant.name,
            engine: tool.engine,
        });
        let folder =
            trial.yard.logs.join(file_name(&format!("{}-{}-{}", tool.engine, member.variant.name, named.name)));
        let check = one(trial, tool, member, named, place, &folder)?;
        journal.cross_check(check)?;
    }
    Ok(())
}

fn one(
    trial: &Trial<'_>,
    tool: &Tool,
    member: &Member<'_>,
    named: &NamedScenario,
    place: &Place<'_>,
    folder: &Path,
) -> Result<CrossCheckRecord, RunError> {
    let plan = trial.yard.plan;
    let contract = member.launch.contract(trial.yard.contract);
    let identity = member.variant.identity();
    let host = member.launch.host().unwrap_or_else(|| member.host.address().to_string());
    let cell = Cell {
        url: format!("http://{host}{}", named.scenario.request.path),
        named,
        status: contract.exchange(&identity, &named.name).map_or(200, |exchange| exchange.expect.status),
        users: plan.load.users,
        length: plan.slices.length.0 * plan.slices.saturating,
        timeout: plan.load.timeout.0,
        cpus: trial.cores.load.clone(),
        folder,
    };
    prepare(&cell).map_err(|source| RunError::Logs { path: folder.to_owned(), source })?;
    let mut check = CrossCheckRecord {
        engine: tool.engine,
        version: tool.version.clone(),
        fork: place.fork,
        group: place.group.to_owned(),
        scenario: named.name.clone(),
        variant: member.variant.name.clone(),
        command: Vec::new(),
        users: cell.users,
        outcome: CrossCheckOutcome::NotPossible { because: String::new() },
        output: String::new(),
    };
    let arguments = match named.scenario.push {
        Some(_) => {
            Err("a server that pushes over a WebSocket; tare has other tools send plain requests only".to_owned())
        }
        None => (tool.arguments)(&cell),
    };
    match arguments {
        Err(because) => check.outcome = CrossCheckOutcome::NotPossible { because },
        Ok(arguments) => {
            check.command = tool.start.iter().cloned().chain(arguments).collect();
            let patience = cell.length + cell.timeout + PATIENCE;
            let ran = process::run(&check.command, Some(cell.cpus.clone()), patience, trial.yard.cancelled);
            check.outcome = match ran {
                Ok(output) => {
                    check.output = output;
                    (tool.figures)(&check.output).map_or_else(failed, CrossCheckOutcome::Measured)
                }
                Err(because) => failed(because),
            };
        }
    }
    Ok(check)
}

fn failed(because: String) -> CrossCheckOutcome {
    CrossCheckOutcome::Failed { because }
}

/// A fresh folder with the request's body in it.
fn prepare(cell: &Cell<'_>) -> io::Result<()> {
    fs::create_dir_all(cell.folder)?;
    match cell.body_file() {
        Some(file) => fs::write(file, cell.named.scenario.request.body_bytes()),
        None => Ok(()),
    }
}
