//! `tare load`: the load of the flags, its progress, and the forms of its summary. The load itself is `tare_run::load`'s.

mod outputs;

use tare_analysis::load::{LoadSummary, summarize};
use tare_load::{Cancel, LoadSession, Watched};
use tare_plan::load_plan::ServerProcess;
use tare_remote::{AgentFleet, LoadCommand, PodOrder};
use tare_run::load::{
    DrivenLoad, LoadJob, LoadSource, Observed, WatchedServer, allow_connections, drive_load, load_header, may_answer,
};

use crate::args::{Global, LoadArgs};
use crate::failure::{Outcome, wrong_usage};
use crate::load_job::{InputFiles, load_job};
use crate::progress::LoadView;
use crate::recorded_command::recorded_command;
use crate::{console, interrupt};

pub fn load(args: &LoadArgs, global: &Global) -> anyhow::Result<Outcome> {
    let pods = args.fleet.options.pods();
    let outcome = load_from(args, global, &pods);
    pods.left.take().iter().for_each(|left| note(left));
    outcome
}

fn load_from(args: &LoadArgs, global: &Global, pods: &PodOrder) -> anyhow::Result<Outcome> {
    let files = if args.fleet.agents.is_empty() {
        allow_connections(args.model.connections)?;
        InputFiles::Disk
    } else {
        // Each agent sees whether its share of the connections fits.
        InputFiles::kept()
    };
    args.fleet.options.check(&args.fleet.agents)?;
    let job = load_job(args, &files)?;
    outputs::try_outputs(&args.output)?;
    let mut source = load_source(args, &job, files, pods)?;
    let cancelled = interrupt::flag()?;
    let mut live = LoadView::new(&job, args.output.quiet, global.color);
    let header = load_header(&job, &*source, recorded_command());
    let file = args.output.db.as_deref();
    let server = job.plan.server.as_ref().map(|server| watch_server(server, &job)).transpose()?;
    let driven = drive_load(&mut *source, &job, header, server, file, &cancelled, &mut |observed| match observed {
        Observed::Load(Watched::Opening(opening)) => live.wait(&opening),
        Observed::Load(Watched::Interval(part)) => live.show(part),
        Observed::Agents(agents) => live.note_agents(agents),
        // The first interval says so.
        Observed::Load(_) => {}
    });
    drop(live);
    // Agents end here, and not after the outputs.
    drop(source);
    let DrivenLoad { record, unwritten } = driven?;
    let summary = summarize(&record);
    let all_written = outputs::write_outputs(&record, &summary, &args.output, global);
    if let Some(error) = &unwritten {
        console::print_note(&format!("error: {error}; that file holds only the beginning of the load"));
    }
    Ok(if all_written && unwritten.is_none() { outcome(&summary) } else { Outcome::Missing })
}

fn watch_server(server: &ServerProcess, job: &LoadJob) -> anyhow::Result<WatchedServer> {
    if !may_answer(server.pid, &job.session.target) {
        note(&format!("{server} does not listen there; what it uses and when it stops is shown all the same"));
    }
    Ok(WatchedServer::attach(server, &job.plan)?)
}

/// The generator of this process, or agents. Without agents Ctrl-C ends the process here, as nothing is measured yet.
fn load_source(
    args: &LoadArgs,
    job: &LoadJob,
    files: InputFiles,
    pods: &PodOrder,
) -> anyhow::Result<Box<dyn LoadSource>> {
    if !args.fleet.agents.is_empty() {
        return Ok(Box::new(start_fleet(args, job, files, pods)?));
    }
    let session = LoadSession::open(&job.session)?;
    session.missing_users.as_deref().into_iter().for_each(note);
    if session.estimates_clock() {
        note(
            "the offset of the server's clock is estimated from messages pushed to one user before and after the load",
        );
    }
    Ok(Box::new(session))
}

fn start_fleet(args: &LoadArgs, job: &LoadJob, files: InputFiles, pods: &PodOrder) -> anyhow::Result<AgentFleet> {
    let cancel = Cancel::from(interrupt::flag()?);
    let words = std::env::args_os().map(|word| word.into_string());
    let command = words.collect::<Result<_, _>>().map_err(|word| {
        let word = word.display();
        wrong_usage(format!("{word} is not text in UTF-8, which agents need; name the file otherwise"))
    })?;
    let command = LoadCommand { command, files: files.into_kept(), seed: job.plan.seed };
    let mut progress = |text: &str| {
        if !args.output.quiet {
            note(text);
        }
    };
    Ok(AgentFleet::start(&args.fleet.agents, pods, command, job, &cancel, &mut progress)?)
}

fn outcome(summary: &LoadSummary) -> Outcome {
    if summary.interrupted {
        Outcome::Interrupted
    } else if summary.has_failed() {
        Outcome::Failed
    } else {
        Outcome::Done
    }
}

fn note(text: &str) {
    console::print_note(&format!("  {text}"));
}
