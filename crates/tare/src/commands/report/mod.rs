//! `tare report`: everything that people see, made again from the record.

mod bundle;
mod list;
mod secrets;

use std::path::{Path, PathBuf};

use anyhow::Context;
use tare_analysis::summarize_with;
use tare_analysis::summary::Summary;
use tare_record::{LoadRecord, Record, store};
use tare_report::text::Style;
use tare_report::{ReportError, ci, csv, gatling, html, json, load, markdown, text, wrk};
use tare_stats::Polarity;

use crate::args::{CiForm, FormArgs, Global, ReportArgs};
use crate::console;
use crate::failure::{Outcome, wrong_usage};
use crate::load_job::WITHOUT_REQUESTS;
use crate::session::{find_record, present_report, profiled_beside};

pub fn report(args: &ReportArgs, global: &Global) -> anyhow::Result<Outcome> {
    if args.form.list {
        return list::list(global);
    }
    let path = find_record(&args.run, global)?;
    if let Some(target) = &args.form.bundle {
        return bundle::write_bundle(&path, target);
    }
    let record = match store::open_record(&path)? {
        Record::Run(record) => *record,
        Record::Load(record) => return report_load(args, global, &record),
    };
    let run_dir = path.parent().map(Path::to_owned).unwrap_or_else(|| PathBuf::from("."));
    let profiled = profiled_beside(&run_dir);
    let (summary, style) = (summarize_with(&record, profiled.as_ref()), console::report_style(global.color));
    if let Some(text) = form(&args.form, &summary, record.header.started_unix_ns, &style)? {
        console::print_text(&text);
        return Ok(Outcome::Done);
    }
    let folder = args.out.clone().unwrap_or(run_dir);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    present_report(&record, profiled.as_ref(), &path, &folder, global)?;
    Ok(Outcome::Done)
}

fn form(form: &FormArgs, summary: &Summary, started_unix_ns: u64, style: &Style) -> anyhow::Result<Option<String>> {
    Ok(Some(match form {
        FormArgs { json: true, .. } => json::render(summary)?,
        FormArgs { csv: true, .. } => csv::cells_as_csv(summary),
        FormArgs { wrk: true, .. } => wrk::render(summary),
        FormArgs { html: true, .. } => html::render(summary)?,
        FormArgs { findings: true, .. } => text::render_findings(summary, style),
        _ => return form_of_any(form, summary, started_unix_ns),
    }))
}

/// The forms that runs and loads have in common; `None` where another is asked for.
fn form_of_any(form: &FormArgs, summary: &Summary, started_unix_ns: u64) -> anyhow::Result<Option<String>> {
    Ok(Some(match form {
        FormArgs { markdown: true, .. } => markdown::render(summary),
        FormArgs { memory: true, .. } => markdown::memory::render(summary),
        FormArgs { gatling: true, .. } => gatling::render(summary),
        FormArgs { ci: Some(ci), .. } => ci_form(*ci, summary, started_unix_ns)?,
        _ => return Ok(None),
    }))
}

fn ci_form(form: CiForm, summary: &Summary, started_unix_ns: u64) -> Result<String, ReportError> {
    Ok(match form {
        CiForm::Junit => ci::junit::render(summary),
        CiForm::Comment => ci::comment::render(summary),
        CiForm::Bencher => ci::bencher::render(summary)?,
        CiForm::Openmetrics => ci::openmetrics::render(summary),
        CiForm::Otlp => ci::otlp::render(summary, started_unix_ns)?,
        CiForm::Picture => ci::picture::render(summary),
        CiForm::GithubSmaller => ci::github_benchmark::render(summary, Polarity::LowerIsBetter)?,
        CiForm::GithubBigger => ci::github_benchmark::render(summary, Polarity::HigherIsBetter)?,
    })
}

/// Prints the record of a load in the form asked for, by default the summary of `tare load`.
fn report_load(args: &ReportArgs, global: &Global, record: &LoadRecord) -> anyhow::Result<Outcome> {
    if let Some(folder) = &args.out {
        return Err(wrong_usage(format!(
            "--out {}: a load has no folder of files; write one form, such as tare report {} --html > load.html",
            folder.display(),
            args.run
        )));
    }
    let (form, summary) = (&args.form, tare_analysis::load::summarize(record));
    if summary.messages.is_some() && (form.wrk || form.gatling) {
        return Err(wrong_usage(WITHOUT_REQUESTS));
    }
    let as_run = load::summary_as_run(record, &summary);
    let of_any = || form_of_any(form, &as_run, record.header.started_unix_ns);
    console::print_text(&match form {
        FormArgs { json: true, .. } => json::render(&summary)?,
        FormArgs { csv: true, .. } => load::csv(&summary),
        FormArgs { html: true, .. } => load::html(record, &summary)?,
        FormArgs { wrk: true, .. } => load::wrk(record, &summary),
        _ => of_any()?.unwrap_or_else(|| load::render(&summary, &console::report_style(global.color))),
    });
    Ok(Outcome::Done)
}
