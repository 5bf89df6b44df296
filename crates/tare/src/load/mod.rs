//! `tare load`: from flags to a load, its live view, and the forms of its summary. The load itself is `tare_run::load`'s.

mod files;
mod frame;
mod job;
mod live;
mod model;
mod outputs;
mod place;
mod protocol;
mod request;

use std::io::IsTerminal;
use std::sync::Arc;

use tare_analysis::load::{LoadSummary, summarize};
use tare_analysis::summary::ValidityState;
use tare_load::{Cancel, LoadSession, Watched};
use tare_run::load::fleet::{AgentFleet, FleetOrder};
use tare_run::load::{DrivenLoad, LoadJob, LoadSource, Observed, drive_load, load_header};

use crate::args::{Global, LoadArgs};
use crate::failure::Outcome;
use crate::recorded_command::recorded_command;
use crate::{console, interrupt};
use live::LoadView;

pub use files::InputFiles;
pub use job::load_job;

/// Runs a load and writes its summary.
pub fn load(args: &LoadArgs, global: &Global) -> anyhow::Result<Outcome> {
    let files = if args.fleet.agents.is_empty() { InputFiles::Disk } else { InputFiles::kept() };
    args.fleet.options.check(&args.fleet.agents)?;
    let job = load_job(args, &files)?;
    outputs::try_outputs(&args.output)?;
    let cancelled = interrupt::install_flag()?;
    let mut source = load_source(args, &job, files, &Cancel::from(Arc::clone(&cancelled)))?;
    let mut live = LoadView::new(&job, args.output.quiet, std::io::stderr().is_terminal(), global.color);
    let header = load_header(&job, &*source, recorded_command());
    let file = args.output.db.as_deref();
    let mut notices = Vec::new();
    let driven = drive_load(&mut *source, &job, header, file, &cancelled, &mut |observed| match observed {
        Observed::Load(Watched::Opening(opening)) => live.wait(&opening),
        Observed::Load(Watched::Interval(part)) => live.show(part),
        Observed::Agents(agents) => live.note_agents(agents),
        Observed::Notice(text) => notices.push(text.to_owned()),
        // The first interval says so.
        Observed::Load(_) => {}
    });
    live.finish();
    notices.iter().for_each(|text| note(text));
    let DrivenLoad { record, unwritten } = driven?;
    let summary = summarize(&record);
    let all_written = outputs::write_outputs(&record, &summary, &args.output, global);
    if let Some(error) = &unwritten {
        console::print_note(&format!("error: {error}; that file holds only the beginning of the load"));
    }
    Ok(if all_written && unwritten.is_none() { outcome(&summary) } else { Outcome::Unwritten })
}

/// The generator of this process, or agents.
fn load_source(
    args: &LoadArgs,
    job: &LoadJob,
    files: InputFiles,
    cancel: &Cancel,
) -> anyhow::Result<Box<dyn LoadSource>> {
    if !args.fleet.agents.is_empty() {
        return Ok(Box::new(start_fleet(args, job, files, cancel)?));
    }
    let session = LoadSession::open(&job.session)?;
    if let Some(notice) = &session.poller().notice {
        note(notice);
    }
    if session.estimates_clock() {
        note(
            "the offset of the server's clock is estimated from messages pushed to one user before and after the load",
        );
    }
    Ok(Box::new(session))
}

fn start_fleet(args: &LoadArgs, job: &LoadJob, files: InputFiles, cancel: &Cancel) -> anyhow::Result<AgentFleet> {
    let fleet = &args.fleet;
    let order = FleetOrder {
        places: &fleet.agents,
        command: std::env::args().collect(),
        files: files.into_kept(),
        pods: fleet.options.pods(),
        least: fleet.options.least(),
    };
    let mut progress = |text: &str| {
        if !args.output.quiet {
            note(text);
        }
    };
    Ok(AgentFleet::start(&order, job, cancel, &mut progress)?)
}

fn outcome(summary: &LoadSummary) -> Outcome {
    let failed = summary.thresholds.iter().any(|threshold| threshold.failed);
    if summary.interrupted {
        Outcome::Interrupted
    } else if failed || summary.verdict.state == ValidityState::Void {
        Outcome::Void
    } else {
        Outcome::Done
    }
}

/// Prints a line to standard error.
fn note(text: &str) {
    console::print_note(&format!("  {text}"));
}
