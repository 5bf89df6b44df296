//! Other people's load tools: each drives a cell after tare has, on the same start of the server, for cross-checking.
//! A file per tool starts it and reads its output. This one finds the tools, runs them and records the results.

mod gatling;
mod wrk;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tare_plan::plan::NamedScenario;
use tare_plan::{Engine, Plan};
use tare_record::cross_check::{CrossCheckOutcome, CrossCheckRecord, ToolFigures};
use tare_sut::SutError;
use tare_sut::catalog::Catalog;
use tare_sut::server::with_short_arguments;
use tare_sys::affinity::CpuSet;
use tare_sys::child::{How, Program, run_to_end};

use crate::error::RunError;
use crate::progress::RunPosition;

/// What a tool may need besides its load: its own start, its report.
const START_AND_REPORT_TIME: Duration = Duration::from_secs(60);
/// How much of the end of its output an error shows.
const SHOWN_LINES: usize = 5;

/// A tool, found and ready to be started.
#[derive(Debug, Clone)]
pub struct Tool {
    pub(crate) engine: Engine,
    /// As the tool prints it.
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
pub(crate) struct Cell<'a> {
    /// `http://127.0.0.1:8080/path0/4`.
    pub url: String,
    pub variant: &'a str,
    pub named: &'a NamedScenario,
    /// The status of a right answer, on this server.
    pub status: u16,
    pub users: u32,
    pub length: Duration,
    pub timeout: Duration,
    /// The generator's cores.
    pub cpus: CpuSet,
    /// The folder with the request's body, `body`. The tool may write files to it.
    pub folder: PathBuf,
}

impl Cell<'_> {
    /// The length in whole seconds, which is what tools take.
    fn seconds(&self) -> u64 {
        self.length.as_secs_f64().round().max(1.0) as u64
    }

    fn body_file(&self) -> Option<String> {
        self.named.scenario.request.body.as_ref().map(|_| self.folder.join("body").display().to_string())
    }
}

/// Finds the tools that a plan asks for; builds what has to be built.
pub fn find_tools(
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

/// Lets a tool drive a cell, until `cancelled` is set at most.
pub(crate) fn drive_with_tool(
    tool: &Tool,
    cell: &Cell<'_>,
    place: &RunPosition<'_>,
    cancelled: &AtomicBool,
) -> Result<CrossCheckRecord, RunError> {
    prepare(cell)?;
    let (command, output, outcome) = run_tool(tool, cell, cancelled);
    Ok(CrossCheckRecord {
        engine: tool.engine,
        version: tool.version.clone(),
        fork: place.fork,
        group: place.group.to_owned(),
        scenario: cell.named.name.clone(),
        variant: cell.variant.to_owned(),
        command,
        users: cell.users,
        outcome,
        output,
    })
}

/// The command line, what it printed, and what that says.
fn run_tool(tool: &Tool, cell: &Cell<'_>, cancelled: &AtomicBool) -> (Vec<String>, String, CrossCheckOutcome) {
    let failed = |because| CrossCheckOutcome::Failed { because };
    let own_clock = "a server that sends on its own clock; tare has other tools send plain requests only";
    let is_plain = cell.named.scenario.push.as_ref().map_or(Ok(()), |_| Err(own_clock.to_owned()));
    let command: Vec<String> = match is_plain.and_then(|()| (tool.arguments)(cell)) {
        Ok(arguments) => tool.start.iter().cloned().chain(arguments).collect(),
        Err(because) => return (Vec::new(), String::new(), CrossCheckOutcome::NotPossible { because }),
    };
    let time_limit = cell.length + cell.timeout + START_AND_REPORT_TIME;
    let started = with_short_arguments(command.clone(), &cell.folder.join("arguments"));
    let output = started.map_err(|error| error.to_string());
    match output.and_then(|started| run(&started, &cell.cpus, time_limit, cancelled)) {
        Ok(output) => {
            let outcome = (tool.figures)(&output).map_or_else(failed, CrossCheckOutcome::Measured);
            (command, output, outcome)
        }
        Err(because) => (command, String::new(), failed(because)),
    }
}

/// Runs a command on these CPUs, to its end, a deadline or Ctrl-C, and returns what it printed; in words, why it failed.
fn run(command: &[String], cpus: &CpuSet, timeout: Duration, cancelled: &AtomicBool) -> Result<String, String> {
    let (program, arguments) = command.split_first().ok_or("its command is empty")?;
    let program = Program { cpus: Some(cpus.clone()), ..Program::new(program).args(arguments) };
    match run_to_end(program, timeout, cancelled).map_err(|error| error.to_string())? {
        (Some(How::Code(0)), text) => Ok(text),
        (Some(how), text) => Err(format!("it ended with {how}: {}", last_lines(&text))),
        (None, _) if cancelled.load(Ordering::Relaxed) => Err("given up as asked".to_owned()),
        (None, text) => Err(format!("it did not end within {} s: {}", timeout.as_secs(), last_lines(&text))),
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("; ")
}

/// A fresh folder with the request's body in it.
fn prepare(cell: &Cell<'_>) -> Result<(), RunError> {
    fs::create_dir_all(&cell.folder).map_err(|source| RunError::Logs { path: cell.folder.clone(), source })?;
    if let Some(file) = cell.body_file() {
        let body = cell.named.scenario.request.body_bytes();
        fs::write(&file, body).map_err(SutError::file("write the body of requests to", &file))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tare_plan::contract::BodySpec;

    use super::*;
    use crate::tests::scenario;

    #[test]
    fn a_body_that_cannot_be_written_is_named_and_not_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("body")).unwrap();
        let mut named = scenario("Post", None);
        named.scenario.request.body = Some(BodySpec::Text("4".to_owned()));
        let cell = Cell {
            url: "http://127.0.0.1:8080/".to_owned(),
            variant: "a",
            named: &named,
            status: 200,
            users: 1,
            length: Duration::from_secs(1),
            timeout: Duration::from_secs(1),
            cpus: CpuSet::from_indices([0]),
            folder: folder.path().to_owned(),
        };
        let error = prepare(&cell).unwrap_err().to_string();
        assert!(error.starts_with("cannot write the body of requests to ") && error.contains("/body: "), "{error}");
    }
}
