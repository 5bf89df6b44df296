//! `tare load`: a URL and flags → a job → the load, watched → a record → the summary and its forms.

mod drive;
mod frame;
mod generator;
mod job;
mod live;
mod model;
mod outputs;
mod place;
mod plan;
mod recording;
mod request;
mod spin;
mod talk;

use std::io::IsTerminal;

use tare_load::LoadSession;
use tare_report::load::{LoadSummary, summarize};
use tare_report::summary::ValidityState;

use crate::args::{Global, LoadArgs};
use crate::failure::Outcome;
use crate::{console, interrupt};
use job::Job;
use live::Live;

/// Loads, shows and judges.
pub fn load(args: &LoadArgs, global: &Global) -> anyhow::Result<Outcome> {
    let job = Job::of(args)?;
    let cancelled = interrupt::flag()?;
    let mut session = LoadSession::open(&job.session)?;
    if let Some(notice) = &session.poller().notice {
        note(notice);
    }
    if session.estimates_clock() {
        note(
            "the offset of the server's clock is estimated, from what it pushes to one user before the load and after it",
        );
    }
    let mut live = Live::new(&job, args.output.quiet, std::io::stderr().is_terminal(), global.color);
    let record = drive::drive(&mut session, &job, args.output.db.as_deref(), &cancelled, &mut live);
    live.finish();
    let record = record?;
    let summary = summarize(&record, &args.output.fail_if);
    outputs::write(&record, &summary, &args.output, global)?;
    Ok(outcome(&summary))
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

/// A line on standard error, where those who read standard output do not see it.
fn note(text: &str) {
    console::note(&format!("  {text}"));
}
