//! `tare load`: from flags to a load, its live view, and the forms of its summary. The load itself is `tare_run::load`'s.

mod frame;
mod job;
mod live;
mod model;
mod outputs;
mod place;
mod request;
mod talk;

use std::io::IsTerminal;

use tare_load::{LoadSession, Watched};
use tare_report::load::{LoadSummary, summarize};
use tare_report::summary::ValidityState;
use tare_run::load::{DrivenLoad, drive_load, load_header};

use crate::args::{Global, LoadArgs};
use crate::failure::Outcome;
use crate::{console, interrupt};
use live::LoadView;

/// Runs a load and writes its summary.
pub fn load(args: &LoadArgs, global: &Global) -> anyhow::Result<Outcome> {
    let job = job::load_job(args)?;
    outputs::try_outputs(&args.output)?;
    let cancelled = interrupt::install_flag()?;
    let mut session = LoadSession::open(&job.session)?;
    if let Some(notice) = &session.poller().notice {
        note(notice);
    }
    if session.estimates_clock() {
        note(
            "the offset of the server's clock is estimated from messages pushed to one user before and after the load",
        );
    }
    let mut live = LoadView::new(&job, args.output.quiet, std::io::stderr().is_terminal(), global.color);
    let header = load_header(&job, &session, std::env::args().collect());
    let file = args.output.db.as_deref();
    let driven = drive_load(&mut session, &job, header, file, &cancelled, &mut |watched| match watched {
        Watched::Opening(opening) => live.wait(opening),
        Watched::Interval(part) => live.show(part),
        // The first interval says so.
        _ => {}
    });
    live.finish();
    let DrivenLoad { record, unwritten } = driven?;
    let summary = summarize(&record);
    let all_written = outputs::write_outputs(&record, &summary, &args.output, global);
    if let Some(error) = &unwritten {
        console::print_note(&format!("error: {error}; that file holds only the beginning of the load"));
    }
    Ok(if all_written && unwritten.is_none() { outcome(&summary) } else { Outcome::Unwritten })
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
