//! The loop over forks and slices: from a plan to a record. What a slice is, is `tare-load`'s; what a server is, `tare-sut`'s;
//! what the numbers say, `tare-report`'s.

mod budget;
mod capacity;
mod compared;
mod cores;
mod driver;
mod engine;
pub mod environment;
mod error;
mod fleet;
mod fork;
pub mod host;
mod journal;
pub mod load;
mod order;
mod others;
pub mod preflight;
pub mod prepare;
mod profiled;
pub mod progress;
mod push;
mod rounds;
mod sequential;
mod session;
mod slice;
mod warmup;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tare_plan::Plan;
use tare_plan::contract::Contract;
use tare_plan::plan::Mode;
use tare_record::sample::{EndStatus, EventLevel, EventRecord, RunHeader, RunRecord};
use tare_record::store::RunWriter;

pub use compared::Judge;
pub use error::RunError;
pub use journal::Observer;

/// Everything that a run needs beside its plan.
pub struct Scene<'a> {
    /// How each variant is started.
    pub launches: &'a prepare::Launches,
    /// What the catalog's servers must answer.
    pub contract: &'a Contract,
    /// Folder for the servers' logs.
    pub logs: &'a Path,
    /// Folder for the samplers' own files.
    pub profiles: &'a Path,
    /// Raised by Ctrl-C: what was measured stands, and the run ends.
    pub cancelled: Arc<AtomicBool>,
    /// How the built-in server of known truth is started, for preflight's self-test.
    pub reference: Option<PathBuf>,
    /// How the comparisons stand, from what has been recorded.
    pub judge: &'a Judge<'a>,
}

/// Checks what a plan asks of this machine before anything is built or recorded.
///
/// # Errors
/// [`RunError::Plan`] for cores that are not there.
pub fn check(plan: &Plan) -> Result<(), RunError> {
    cores::Cores::of(plan).map(|_| ())
}

/// Runs a plan: starts, verifies, warms up, measures and stops every server, and keeps everything in the record.
///
/// # Errors
/// [`RunError`] when the plan cannot begin, the record cannot be written or the generator fails. Failures of servers are
/// events of the record. Whatever happens, no server is left running, and what was measured before is in the record.
pub fn run(
    header: RunHeader,
    writer: RunWriter,
    scene: &Scene<'_>,
    observer: &mut Observer<'_>,
) -> Result<RunRecord, RunError> {
    let plan = header.plan.clone();
    let mut journal = journal::Journal::begin(header, writer, observer);
    match measure(&plan, scene, &mut journal) {
        Ok(status) => journal.finish(status),
        Err(error) => {
            // The record may be what failed; the first error is the one to tell.
            let _ = journal.event(EventRecord::new(EventLevel::Error, "tare failed", error.to_string()));
            let _ = journal.finish(EndStatus::Failed);
            Err(error)
        }
    }
}

fn measure(plan: &Plan, scene: &Scene<'_>, journal: &mut journal::Journal<'_>) -> Result<EndStatus, RunError> {
    let cores = cores::Cores::of(plan)?;
    std::fs::create_dir_all(scene.logs).map_err(|source| RunError::Logs { path: scene.logs.to_owned(), source })?;
    if plan.mode == Mode::Profiled {
        let path = scene.profiles.to_owned();
        std::fs::create_dir_all(&path).map_err(|source| RunError::Logs { path, source })?;
    }
    preflight::check(plan, &cores, scene, journal)?;
    if let Some(reason) = &scene.launches.no_meter {
        let text = format!("the agent that brings it cannot be had: {reason}");
        journal.event(EventRecord {
            remedy: Some("Install a JDK with javac, or name one with --java.".to_owned()),
            ..EventRecord::new(EventLevel::Warning, "No meter of hiccups inside JVMs", text)
        })?;
    }
    let yard = fleet::Yard {
        plan,
        launches: scene.launches,
        contract: scene.contract,
        logs: scene.logs,
        profiles: scene.profiles,
        cancelled: &scene.cancelled,
    };
    let cancel = tare_load::Cancel::from(Arc::clone(&scene.cancelled));
    let mut trial = fork::Trial { yard, cores, cancel, rates: std::collections::BTreeMap::new() };
    match plan.mode {
        Mode::Compared | Mode::Profiled => compared::run(&mut trial, &plan.groups, scene.judge, journal),
        Mode::Sequential => sequential::run(&trial, &plan.groups, journal),
    }
}
