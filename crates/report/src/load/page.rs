//! A load in the forms of a run: the page, and wrk's text.

use tare_record::sample::RunRecord;

use super::summary::{LoadSummary, Reason};
use super::text::figures;
use crate::error::ReportError;
use crate::summary::{Finding, Mode, Severity, Summary, ValidityState};

/// The self-contained page.
///
/// # Errors
/// As [`crate::json::render`].
pub fn html(record: &RunRecord, load: &LoadSummary) -> Result<String, ReportError> {
    crate::html::render(&as_run(record, load))
}

/// Text in the shape of `wrk --latency`, for who parses that.
pub fn wrk(record: &RunRecord, load: &LoadSummary) -> String {
    let summary = crate::summarize(record);
    let workers = record.slices.first().map_or(1, |slice| slice.generator_workers);
    let under = format!("{workers} threads and {} connections", load.model.connections);
    let loads = summary.cells.iter().flat_map(|cell| cell.latency.iter().map(move |latency| (cell, latency)));
    loads.map(|(cell, latency)| crate::wrk::one(&load.url, &under, cell, latency)).collect()
}

/// The summary of a run with one cell, saying what a load has to say instead of what a comparison would.
fn as_run(record: &RunRecord, load: &LoadSummary) -> Summary {
    let mut summary = crate::summarize(record);
    summary.run.mode = Mode::Load;
    summary.run.question = load.url.clone();
    summary.run.headline =
        std::iter::once(load.model.text.clone()).chain(figures(load).iter().map(|line| one_space(line))).collect();
    // What a comparison of several starts would have to say of itself is no matter of one load.
    summary.findings.retain(|finding| !finding.title.starts_with("One fork"));
    let remedies = load.verdict.reasons.iter().map(|reason| finding(load.verdict.state, reason));
    summary.findings.splice(0..0, remedies);
    for cell in &mut summary.cells {
        cell.scenario_title = load.model.meaning.clone();
        cell.latency.iter_mut().for_each(|latency| latency.model = load.model.text.clone());
    }
    summary
}

fn finding(state: ValidityState, reason: &Reason) -> Finding {
    let severity = if state == ValidityState::Void { Severity::Error } else { Severity::Warning };
    let (title, text) = (state.word().to_owned(), reason.text.clone());
    Finding { severity, title, text, remedy: reason.remedy.clone(), cell: None, log: None }
}

/// The line without the blanks that align it in a terminal.
fn one_space(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
