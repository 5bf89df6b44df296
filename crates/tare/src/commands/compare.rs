//! `tare compare`: two records of one machine, two servers of a record, or records of several machines.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use tare_analysis::differences::{self, RecordedRun, RunDifferences};
use tare_analysis::load::{LoadSummary, compare_loads, summarize};
use tare_analysis::{Summary, summarize_with};
use tare_record::store::{self, find_run};
use tare_record::{Record, RunRecord};
use tare_report::differences::{render, render_machines, render_machines_markdown, render_markdown};
use tare_report::text::Style;
use tare_report::{json, load};

use crate::args::{CompareArgs, Global};
use crate::console;
use crate::failure::{Outcome, wrong_usage};
use crate::session::{find_record, profiled_beside};

/// Prints what differs, or what machines say together.
pub fn compare(args: &CompareArgs, global: &Global) -> anyhow::Result<Outcome> {
    let style = console::report_style(global.color);
    if let Some(run) = &args.of {
        let found = servers_of_run(run, args, global)?;
        return print(args, &found, render_markdown(&found), render(&found, &style));
    }
    let names: Vec<&String> = [&args.before, &args.after].into_iter().chain(&args.more).collect();
    let loads = names.iter().map(|name| open_load(name, global)).collect::<anyhow::Result<Vec<_>>>()?;
    let of_kind = |is_load: bool| names.iter().zip(&loads).find(|(_, load)| load.is_some() == is_load);
    match (loads.as_slice(), of_kind(true), of_kind(false)) {
        (_, Some((load, _)), Some((run, _))) => {
            Err(wrong_usage(format!("{load} is a load and {run} is a run: give all of one kind")))
        }
        ([Some(before), Some(after)], ..) => {
            let found = compare_loads(before, after);
            print(args, &found, load::render_differences_markdown(&found), load::render_differences(&found, &style))
        }
        (loads, Some(_), None) => Err(wrong_usage(format!("{} loads: give two", loads.len()))),
        (_, None, _) => compare_runs(&names, args, global, &style),
    }
}

/// Prints the form that the flags ask for.
fn print(args: &CompareArgs, found: &impl Serialize, markdown: String, text: String) -> anyhow::Result<Outcome> {
    console::print_text(&match args {
        CompareArgs { json: true, .. } => json::render(found)?,
        CompareArgs { markdown: true, .. } => markdown,
        _ => text,
    });
    Ok(Outcome::Done)
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
    Ok(match store::open_record(&find_record(name, global)?)? {
        Record::Load(record) => Some(summarize(&record)),
        Record::Run(_) => None,
    })
}

/// What changed between two runs of one machine, or what runs of several say together.
fn compare_runs(names: &[&String], args: &CompareArgs, global: &Global, style: &Style) -> anyhow::Result<Outcome> {
    let open = |name: &&String| open_run(&find_run(&global.dir, name)?);
    let opened = names.iter().map(open).collect::<anyhow::Result<Vec<_>>>()?;
    let identities: Vec<_> = opened.iter().map(|(run, _)| (&run.header.id, run.header.started_unix_ns)).collect();
    for (at, name) in names.iter().enumerate() {
        if let Some(first) = identities[..at].iter().position(|other| *other == identities[at]) {
            return Err(wrong_usage(format!(
                "{} and {name} are the same run: give other runs, or two servers with --of {name}",
                names[first]
            )));
        }
    }
    let machines: Vec<String> = opened.iter().map(|(run, _)| run.header.environment.machine_identity()).collect();
    let both = opened.iter().zip(&machines);
    let runs: Vec<RecordedRun<'_>> = both.map(|((_, summary), machine)| RecordedRun { summary, machine }).collect();
    let known = runs.iter().filter(|run| run.is_of_known_machine()).map(|run| run.machine);
    let are_several = known.collect::<BTreeSet<&str>>().len() > 1;
    match runs.as_slice() {
        runs if are_several => {
            let found = differences::compare_machines(runs)?;
            print(args, &found, render_machines_markdown(&found), render_machines(&found, style))
        }
        [before, after] => {
            let found = differences::compare_runs(*before, *after)?;
            print(args, &found, render_markdown(&found), render(&found, style))
        }
        _ => Err(wrong_usage(format!(
            "these {} runs are not known to be of several machines ({}): give two of them to see what changed, or runs of \
             other machines. `tare history` shows many runs of one",
            names.len(),
            BTreeSet::from_iter(machines).into_iter().collect::<Vec<_>>().join("; ")
        ))),
    }
}

fn servers_of_run(run: &str, args: &CompareArgs, global: &Global) -> anyhow::Result<RunDifferences> {
    let (_, summary) = open_run(&find_record(run, global)?)?;
    if args.before == args.after {
        return Err(wrong_usage(format!("\"{}\" is named twice: give two servers", args.before)));
    }
    for name in [&args.before, &args.after] {
        if !summary.cells.iter().any(|cell| cell.variant == *name) {
            let names: BTreeSet<&str> = summary.cells.iter().map(|cell| cell.variant.as_str()).collect();
            return Err(wrong_usage(format!(
                "run {} has no server \"{name}\": it has {}",
                summary.run.id,
                names.into_iter().collect::<Vec<_>>().join(", ")
            )));
        }
    }
    Ok(differences::compare_servers(&summary, &args.before, &args.after)?)
}

/// The record of a run with its summary, profiles included.
fn open_run(path: &Path) -> anyhow::Result<(RunRecord, Summary)> {
    let record = store::open_run_record(path)?;
    let profiled = path.parent().filter(|dir| *dir != Path::new("")).and_then(profiled_beside);
    let summary = summarize_with(&record, profiled.as_ref());
    Ok((record, summary))
}
