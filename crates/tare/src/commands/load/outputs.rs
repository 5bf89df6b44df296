//! The result in every form asked for, on standard output or in files: tried before the load, written after it.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use tare_analysis::load::LoadSummary;
use tare_record::LoadRecord;
use tare_report::{json, load};

use crate::args::{Global, OutputArgs};
use crate::console::{self, is_stdout};
use crate::failure::{error_text, wrong_usage};

/// Bytes that a new file must take before the load.
const TRIED_BYTES: usize = 4096;

type RenderForm = fn(&LoadRecord, &LoadSummary) -> anyhow::Result<String>;

/// The flag of a form, its file, and what makes it.
type OutputForm<'a> = (&'static str, &'a Path, RenderForm);

/// Checks that every file can be written and has one form, so that no load is lost to a wrong path.
pub fn try_outputs(args: &OutputArgs) -> anyhow::Result<()> {
    let forms = output_forms(args);
    let db = args.db.as_deref();
    if db.is_some_and(is_stdout) {
        return Err(wrong_usage("no load was made, because --db needs a file; standard output takes no record"));
    }
    let mut taken: Vec<(&str, &Path)> = db.map(|file| ("--db", file)).into_iter().collect();
    for &(flag, file, _) in &forms {
        let is_same = |other: &Path| real_path(other) == real_path(file);
        if let Some((other, file)) = taken.iter().find(|(_, other)| is_same(other)) {
            let place = if is_stdout(file) { "standard output".into() } else { file.to_string_lossy() };
            return Err(wrong_usage(format!(
                "no load was made, because {other} and {flag} both write to {place}; name a file for one of them"
            )));
        }
        taken.push((flag, file));
    }
    forms.iter().filter(|(_, file, _)| !is_stdout(file)).try_for_each(|(flag, file, _)| {
        try_file(file).with_context(|| {
            let file = file.display();
            format!("no load was made, because {flag} {file} cannot be written; name a file in a folder that takes it")
        })
    })
}

/// Where a file is or would be: ./a is the file a, and so is a link to it.
fn real_path(file: &Path) -> Option<PathBuf> {
    let in_folder = || {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(folder.canonicalize().ok()?.join(file.file_name()?))
    };
    file.canonicalize().ok().or_else(in_folder)
}

/// Writes all files that can be written, and prints the summary unless a form goes to standard output. Returns whether
/// all were written; standard error names the others.
pub fn write_outputs(record: &LoadRecord, summary: &LoadSummary, args: &OutputArgs, global: &Global) -> bool {
    let forms = output_forms(args);
    if !forms.iter().any(|(_, file, _)| is_stdout(file)) {
        let style = console::report_style(global.color);
        console::print_text(&format!("{}\n", load::render(summary, &style)));
    }
    let outcomes: Vec<anyhow::Result<()>> = forms.iter().map(|form| write(form, record, summary)).collect();
    for ((_, file, _), outcome) in forms.iter().zip(&outcomes) {
        match outcome {
            Err(error) => console::print_note(&format!("error: {}", error_text(error))),
            Ok(()) if is_stdout(file) => {}
            Ok(()) => super::note(&format!("wrote {}", file.display())),
        }
    }
    outcomes.iter().all(Result::is_ok)
}

fn output_forms(args: &OutputArgs) -> Vec<OutputForm<'_>> {
    let all: [(&'static str, Option<&Path>, RenderForm); 6] = [
        ("--json", args.json.as_deref(), |_, summary| Ok(json::render(summary)?)),
        ("--csv", args.csv.as_deref(), |_, summary| Ok(load::csv(summary))),
        ("--html", args.html.as_deref(), |record, summary| Ok(load::html(record, summary)?)),
        ("--hgrm", args.hgrm.as_deref(), |record, _| Ok(load::hgrm(record))),
        ("--hlog", args.hlog.as_deref(), |record, _| Ok(load::hlog(record))),
        ("--wrk", args.wrk.then_some(Path::new("-")), |record, summary| Ok(load::wrk(record, summary))),
    ];
    let form = |(flag, file, render): (_, Option<_>, _)| Some((flag, file?, render));
    all.into_iter().filter_map(form).collect()
}

fn write((flag, file, render): &OutputForm<'_>, record: &LoadRecord, summary: &LoadSummary) -> anyhow::Result<()> {
    let text = render(record, summary)?;
    if is_stdout(file) {
        console::print_text(&text);
        return Ok(());
    }
    fs::write(file, text).with_context(|| format!("cannot write {flag} {}", file.display()))
}

/// Checks that a file can be written. A new one takes a few bytes and is removed. What is neither a file nor a folder,
/// such as a pipe, is not opened: that could wait for its reader.
fn try_file(file: &Path) -> std::io::Result<()> {
    match File::create_new(file) {
        Ok(mut new) => {
            let written = new.write_all(&[b' '; TRIED_BYTES]);
            fs::remove_file(file)?;
            written
        }
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        Err(_) if fs::metadata(file).is_ok_and(|found| found.is_file() || found.is_dir()) => {
            OpenOptions::new().append(true).open(file).map(drop)
        }
        Err(_) => Ok(()),
    }
}
