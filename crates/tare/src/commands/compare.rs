//! `tare compare`: two records of one machine, two servers of a record, or records of several machines.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use tare_analysis::differences::{self, RecordedRun, RunDifferences};
use tare_analysis::load::{LoadSummary, compare_loads, summarize};
use tare_analysis::{Summary, summarize_with};
use tare_record::{Record, RunHeader, RunRecord, store};
use tare_report::differences::{ComparisonText, render, render_markdown};
use tare_report::json;
use tare_report::text::Style;

use crate::args::{CompareArgs, Global};
use crate::console;
use crate::failure::{Outcome, wrong_usage};
use crate::session::{find_record, profiled_beside};

pub fn compare(args: &CompareArgs, global: &Global) -> anyhow::Result<Outcome> {
    let style = console::report_style(global.color);
    if let Some(run) = &args.of {
        let found = servers_of_run(run, args, global)?;
        return print(args, &found, &style);
    }
    let (mut loads, mut runs) = (Vec::new(), Vec::new());
    for name in [&args.before, &args.after].into_iter().chain(&args.more) {
        if let Some(load) = load_of_json(name)? {
            loads.push((name, load));
            continue;
        }
        let path = find_record(name, global)?;
        match store::open_record(&path)? {
            Record::Load(record) => loads.push((name, summarize(&record))),
            Record::Run(record) => runs.push((name, summary_of(&path, &record), record.header)),
        }
    }
    match (loads.as_slice(), runs.as_slice()) {
        ([(load, _), ..], [(run, ..), ..]) => {
            Err(wrong_usage(format!("{load} is a load and {run} is a run: give all of one kind")))
        }
        ([(_, before), (_, after)], []) => print(args, &compare_loads(before, after), &style),
        ([], runs) => compare_runs(runs, args, &style),
        (loads, []) => Err(wrong_usage(format!("{} loads: give two", loads.len()))),
    }
}

fn print<'a, Found: Serialize>(args: &CompareArgs, found: &'a Found, style: &Style) -> anyhow::Result<Outcome>
where
    ComparisonText: From<&'a Found>,
{
    console::print_text(&match args {
        CompareArgs { json: true, .. } => json::render(found)?,
        CompareArgs { markdown: true, .. } => render_markdown(found),
        _ => render(found, style),
    });
    Ok(Outcome::Done)
}

/// The summary of a load in a file of JSON; `None` for another name.
fn load_of_json(name: &str) -> anyhow::Result<Option<LoadSummary>> {
    let file = Path::new(name);
    if file.extension().is_none_or(|ending| ending != "json") || !file.is_file() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
    let summary = serde_json::from_str(&text)
        .map_err(|why| wrong_usage(format!("{name} is not the JSON of a load ({why}); write it with --json")))?;
    Ok(Some(summary))
}

fn summary_of(path: &Path, record: &RunRecord) -> Summary {
    let profiled = path.parent().and_then(profiled_beside);
    summarize_with(record, profiled.as_ref())
}

/// A run with its name on the command line.
type OpenedRun<'a> = (&'a String, Summary, RunHeader);

fn compare_runs(opened: &[OpenedRun<'_>], args: &CompareArgs, style: &Style) -> anyhow::Result<Outcome> {
    for (at, (name, _, header)) in opened.iter().enumerate() {
        let is_it =
            |(.., other): &&OpenedRun<'_>| (&other.id, other.started_unix_ns) == (&header.id, header.started_unix_ns);
        if let Some((first, ..)) = opened[..at].iter().find(is_it) {
            return Err(wrong_usage(format!(
                "{first} and {name} are the same run: give other runs, or two servers with --of {name}"
            )));
        }
    }
    let machines: Vec<String> = opened.iter().map(|(.., header)| header.environment.machine_identity()).collect();
    let both = opened.iter().zip(&machines);
    let runs: Vec<RecordedRun<'_>> = both.map(|((_, summary, _), machine)| RecordedRun { summary, machine }).collect();
    let known = runs.iter().filter(|run| run.is_of_known_machine()).map(|run| run.machine);
    let are_several = known.collect::<BTreeSet<&str>>().len() > 1;
    match runs.as_slice() {
        runs if are_several => print(args, &differences::compare_machines(runs)?, style),
        [before, after] => print(args, &differences::compare_runs(*before, *after)?, style),
        _ => Err(wrong_usage(format!(
            "these {} runs are not known to be of several machines ({}): give two of them to see what changed, or runs of \
             other machines. `tare history` shows many runs of one",
            opened.len(),
            BTreeSet::from_iter(machines).into_iter().collect::<Vec<_>>().join("; ")
        ))),
    }
}

fn servers_of_run(run: &str, args: &CompareArgs, global: &Global) -> anyhow::Result<RunDifferences> {
    let path = find_record(run, global)?;
    let summary = summary_of(&path, &store::open_run_record(&path)?);
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
