//! `tare compare`: two records, or two servers of one.

use std::path::Path;

use anyhow::Context;
use tare_analysis::differences::{self, RecordedRun, RunDifferences};
use tare_analysis::load::{LoadDifferences, LoadSummary, compare_loads, summarize};
use tare_analysis::{Summary, summarize_with};
use tare_record::store::{self, find_run};
use tare_record::{Record, RunRecord};
use tare_report::differences::{render, render_markdown};
use tare_report::{json, load};

use crate::args::{CompareArgs, Global};
use crate::console;
use crate::failure::{Outcome, wrong_usage};
use crate::session::profiled_beside;

/// Prints what differs.
pub fn compare(args: &CompareArgs, global: &Global) -> anyhow::Result<Outcome> {
    let style = console::report_style(global.color);
    if let Some(differences) = two_loads(args, global)? {
        console::print_text(&if args.json {
            json::render(&differences)?
        } else if args.markdown {
            load::render_differences_markdown(&differences)
        } else {
            load::render_differences(&differences, &style)
        });
        return Ok(Outcome::Done);
    }
    let differences = match &args.of {
        Some(run) => servers_of_run(run, args, global)?,
        None => two_runs(args, global)?,
    };
    console::print_text(&if args.json {
        json::render(&differences)?
    } else if args.markdown {
        render_markdown(&differences)
    } else {
        render(&differences, &style)
    });
    Ok(Outcome::Done)
}

/// The differences of two loads, from their records or their JSON; `None` where neither is a load.
fn two_loads(args: &CompareArgs, global: &Global) -> anyhow::Result<Option<LoadDifferences>> {
    if args.of.is_some() {
        return Ok(None);
    }
    match (open_load(&args.before, global)?, open_load(&args.after, global)?) {
        (Some(before), Some(after)) => Ok(Some(compare_loads(&before, &after))),
        (None, None) => Ok(None),
        (before, _) => {
            let (load, run) = if before.is_some() { (&args.before, &args.after) } else { (&args.after, &args.before) };
            Err(wrong_usage(format!("{load} is a load and {run} is a run: give two of a kind")))
        }
    }
}

/// The summary of a load; `None` for a run.
fn open_load(name: &str, global: &Global) -> anyhow::Result<Option<LoadSummary>> {
    let file = Path::new(name);
    if file.extension().is_some_and(|ending| ending == "json") && file.is_file() {
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
        let summary = serde_json::from_str(&text)
            .map_err(|why| wrong_usage(format!("{name} is not the JSON of a load ({why}); write it with --json")))?;
        return Ok(Some(summary));
    }
    Ok(match store::open_record(&find_run(&global.dir, name)?)? {
        Record::Load(record) => Some(summarize(&record)),
        Record::Run(_) => None,
    })
}

fn two_runs(args: &CompareArgs, global: &Global) -> anyhow::Result<RunDifferences> {
    let (before, old) = open_run(&args.before, global)?;
    let (after, new) = open_run(&args.after, global)?;
    let identity = |record: &RunRecord| (record.header.id.clone(), record.header.started_unix_ns);
    if identity(&before) == identity(&after) {
        return Err(wrong_usage(format!(
            "{} and {} are the same run: give two runs, or two servers with --of {}",
            args.before, args.after, args.after
        )));
    }
    let machines = [&before, &after].map(|record| record.header.environment.machine_identity());
    let runs = [(&old, &machines[0]), (&new, &machines[1])].map(|(summary, machine)| RecordedRun { summary, machine });
    let [before, after] = runs;
    Ok(differences::compare_runs(before, after)?)
}

fn servers_of_run(run: &str, args: &CompareArgs, global: &Global) -> anyhow::Result<RunDifferences> {
    let (_, summary) = open_run(run, global)?;
    if args.before == args.after {
        return Err(wrong_usage(format!("\"{}\" is named twice: give two servers", args.before)));
    }
    for name in [&args.before, &args.after] {
        if !summary.cells.iter().any(|cell| cell.variant == *name) {
            let mut names: Vec<&str> = summary.cells.iter().map(|cell| cell.variant.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            return Err(wrong_usage(format!(
                "run {} has no server \"{name}\": it has {}",
                summary.run.id,
                names.join(", ")
            )));
        }
    }
    Ok(differences::compare_servers(&summary, &args.before, &args.after)?)
}

/// The record of a run with its summary, profiles included.
fn open_run(name: &str, global: &Global) -> anyhow::Result<(RunRecord, Summary)> {
    let path = find_run(&global.dir, name)?;
    let record = store::open_run_record(&path)?;
    let profiled = path.parent().filter(|dir| *dir != Path::new("")).and_then(profiled_beside);
    let summary = summarize_with(&record, profiled.as_ref());
    Ok((record, summary))
}
