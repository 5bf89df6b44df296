//! Writes the result in every form asked for, to standard output or into files.

use std::path::Path;

use anyhow::Context;
use tare_record::LoadRecord;
use tare_report::load::{self, LoadSummary};
use tare_report::text::Style;

use crate::args::{Global, OutputArgs};
use crate::console;

/// Writes the files. Prints the summary, unless one of the forms goes to standard output.
///
/// # Errors
/// When a file cannot be written.
pub fn write_outputs(
    record: &LoadRecord,
    summary: &LoadSummary,
    args: &OutputArgs,
    global: &Global,
) -> anyhow::Result<()> {
    let mut forms: Vec<(&Path, String)> = Vec::new();
    if let Some(file) = &args.json {
        forms.push((file, load::json(summary)?));
    }
    if let Some(file) = &args.csv {
        forms.push((file, load::csv(summary)));
    }
    if let Some(file) = &args.html {
        forms.push((file, load::html(record, summary)?));
    }
    if let Some(file) = &args.hgrm {
        forms.push((file, load::hgrm(record)));
    }
    if let Some(file) = &args.hlog {
        forms.push((file, load::hlog(record)));
    }
    if args.wrk {
        forms.push((Path::new("-"), load::wrk(record, summary)));
    }
    let taken = forms.iter().any(|(file, _)| is_stdout(file));
    for (file, text) in &forms {
        put(file, text)?;
    }
    let style = Style { colored: console::stdout_colored(global.color), width: console::terminal_width() };
    if !taken {
        console::print_text(&format!("{}\n", load::render(summary, &style)));
    }
    forms
        .iter()
        .filter(|(file, _)| !is_stdout(file))
        .for_each(|(file, _)| super::note(&format!("wrote {}", file.display())));
    Ok(())
}

fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

fn put(file: &Path, text: &str) -> anyhow::Result<()> {
    if is_stdout(file) {
        console::print_text(text);
        return Ok(());
    }
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}
