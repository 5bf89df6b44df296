//! `tare history`: all runs of a folder over time, and the results of other tools beside them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf, absolute};
use std::time::UNIX_EPOCH;

use anyhow::Context;
use tare_analysis::history as analysis;
use tare_analysis::{Summary, rfc3339, summarize};
use tare_record::Record;
use tare_record::store::{self, RECORD_FILE, RunEntry, list_runs};
use tare_report::history;
use tare_report::import::{self, ImportOrigin, ImportedResult};
use tare_report::json;

use crate::args::{Global, HistoryAction, HistoryArgs, ImportArgs};
use crate::console::{self, is_stdout};
use crate::failure::{Outcome, wrong_usage};

/// Where imported results lie, in the folder of tare.
const IMPORTS: &str = "history";
/// The first bytes of a file of gzip.
const GZIP: &[u8] = &[0x1f, 0x8b];
/// The folder in which criterion keeps its benchmarks.
const CRITERION: &str = "criterion";

pub fn history(args: &HistoryArgs, global: &Global) -> anyhow::Result<Outcome> {
    if let Some(HistoryAction::Import(import)) = &args.action {
        return import_files(import, global);
    }
    let runs: Vec<Summary> = list_runs(&global.dir)?.iter().filter_map(summary_of).collect();
    note_checks(&runs);
    let history = analysis::history(&runs, &imported_results(&global.dir)?, args.currency);
    if let Some(file) = args.html.as_deref().filter(|file| !is_stdout(file)) {
        fs::write(file, history::render_page(&history)).with_context(|| format!("cannot write {}", file.display()))?;
        console::print_note(&format!("wrote {}", file.display()));
        return Ok(Outcome::Done);
    }
    let style = console::report_style(global.color);
    console::print_text(&if args.html.is_some() {
        history::render_page(&history)
    } else if args.json {
        json::render(&history)?
    } else {
        history::render(&history, args.last, &style)
    });
    Ok(Outcome::Done)
}

/// The summary of a run: from its `summary.json`, or else from its record. Without either it is named and left out.
fn summary_of(run: &RunEntry) -> Option<Summary> {
    let summary = fs::read_to_string(run.dir.join("summary.json")).ok();
    if let Some(summary) = summary.and_then(|text| serde_json::from_str(&text).ok()) {
        return Some(summary);
    }
    let record = store::open_record(&run.dir.join(RECORD_FILE));
    let record =
        record.inspect_err(|error| console::print_note(&format!("run {} is left out: {error}", run.id))).ok()?;
    match record {
        Record::Run(record) => Some(summarize(&record)),
        Record::Load(_) => None,
    }
}

/// Says how many runs are checks, which no history shows.
fn note_checks(runs: &[Summary]) {
    let checks = runs.iter().filter(|run| analysis::is_check(run)).count() as u64;
    if checks > 0 {
        let checks = tare_analysis::format::count(checks, "run");
        console::print_note(&format!(
            "{checks} of tare check or tare bisect left out, because the baseline is another build each time. For a history, \
             compare with one that stays: tare run"
        ));
    }
}

fn imported_results(dir: &Path) -> anyhow::Result<Vec<ImportedResult>> {
    let folder = dir.join(IMPORTS);
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|file| file.extension().is_some_and(|ending| ending == "json")).collect();
    // Of two of the same time, the tenth comes behind the second.
    files.sort_by_cached_key(|file| {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let kind = stem.trim_end_matches(|c: char| c.is_ascii_digit());
        (kind.to_owned(), stem[kind.len()..].parse::<u64>().ok())
    });
    let read = |file: &PathBuf| {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        serde_json::from_str(&text)
            .with_context(|| format!("{} is no imported result: delete it and import its source again", file.display()))
    };
    files.iter().map(read).collect()
}

/// Reads all files before it writes any.
fn import_files(args: &ImportArgs, global: &Global) -> anyhow::Result<Outcome> {
    let mut results = Vec::new();
    for given in &args.files {
        for file in files_of(given)? {
            results.push(import_file(&file, &path_of(&file, given)?, args)?);
        }
    }
    let folder = global.dir.join(IMPORTS);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let there = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut known: BTreeSet<String> = there.filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect();
    let mut again = 0;
    for result in results {
        let text = json::render(&result)?;
        // Such as that of a benchmark in criterion's folder which has not been run since.
        if !known.insert(text.clone()) {
            again += 1;
            continue;
        }
        let file = free_name(&folder, &result);
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        let figures = tare_analysis::format::count(result.figures.len() as u64, "figure");
        console::print_text(&format!("{}: {figures} of {}\n", result.file, result.tool));
        if !result.left_out.is_empty() {
            console::print_note(&format!("{}: left out: {}", result.file, result.left_out.join(", ")));
        }
    }
    if again > 0 {
        let again = tare_analysis::format::count(again, "result");
        console::print_note(&format!("{again} left out: in the history already"));
    }
    Ok(Outcome::Done)
}

/// The file itself, or the newest estimates of all benchmarks in a folder of criterion. Its `base` and `change` belong to earlier runs.
fn files_of(file: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if is_stdout(file) {
        return Err(wrong_usage(
            "-: results are read from files, and not from standard input; write them to a file first",
        ));
    }
    if !file.is_dir() || file.join(RECORD_FILE).is_file() {
        return Ok(vec![file.to_owned()]);
    }
    let (mut folders, mut found) = (vec![file.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot read the folder {}", folder.display()))?;
        folders.extend(
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir() && !path.is_symlink()),
        );
        let estimates = folder.join("estimates.json");
        if folder.file_name().is_some_and(|name| name == "new") && estimates.is_file() {
            found.push(estimates);
        }
    }
    found.sort();
    anyhow::ensure!(
        !found.is_empty(),
        "{} is a folder without results of criterion (NAME/new/estimates.json): give the files of other tools by name",
        file.display()
    );
    Ok(found)
}

/// The path by whose folders benchmarks of criterion are named. A folder that was given stands for criterion's own, wherever
/// that was copied to.
fn path_of(file: &Path, given: &Path) -> anyhow::Result<PathBuf> {
    let path = absolute(file).with_context(|| format!("cannot tell the folder of {}", file.display()))?;
    let is_named = path.components().any(|folder| folder.as_os_str() == CRITERION);
    Ok(match file.strip_prefix(given) {
        Ok(below) if !is_named && file != given => Path::new(CRITERION).join(below),
        _ => path,
    })
}

fn import_file(file: &Path, path: &Path, args: &ImportArgs) -> anyhow::Result<ImportedResult> {
    // Most tools do not say when they measured; they write the file when they are done.
    let written = fs::metadata(file).and_then(|facts| facts.modified());
    let written = written.with_context(|| format!("cannot tell when {} was written", file.display()))?;
    let since = written.duration_since(UNIX_EPOCH).unwrap_or_default();
    let text = text_of(file)?;
    let origin = ImportOrigin {
        file,
        path,
        stated_at: args.at.clone(),
        written_at: rfc3339(since.as_nanos() as u64),
        revision: args.revision.clone(),
    };
    Ok(import::import(&text, origin)?)
}

/// The text of a file; the summary of the record of a load.
fn text_of(file: &Path) -> anyhow::Result<String> {
    let record = if file.is_dir() { file.join(RECORD_FILE) } else { file.to_owned() };
    let bytes = fs::read(&record).with_context(|| format!("cannot read {}", record.display()))?;
    if bytes.starts_with(store::FIRST_BYTES) {
        return match store::open_record(&record)? {
            Record::Load(load) => Ok(json::render(&tare_analysis::load::summarize(&load))?),
            Record::Run(_) => anyhow::bail!(
                "{} is the record of a run. A history shows every run of its folder: \
                 move the folder of the run into the folder runs below that of --dir",
                record.display()
            ),
        };
    }
    let shown = record.display();
    anyhow::ensure!(!bytes.starts_with(GZIP), "{shown} is compressed; unpack it first: gunzip --keep {shown}");
    String::from_utf8(bytes).with_context(|| {
        format!("{shown} is no text in UTF-8, and no record of tare; convert it, as with iconv -f UTF-16 -t UTF-8")
    })
}

/// A file name that is not taken: `k6-2026-11-20T09-41-00Z-1.json`.
fn free_name(folder: &Path, result: &ImportedResult) -> PathBuf {
    let time = result.at.replace(':', "-");
    let named = |number: u64| folder.join(format!("{}-{time}-{number}.json", result.tool));
    let mut number = 1;
    while named(number).exists() {
        number += 1;
    }
    named(number)
}
