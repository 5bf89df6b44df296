//! A load in the forms of a run: the page, and wrk's text.

use tare_record::sample::RunRecord;

use super::summary::LoadSummary;
use super::text::figures;
use crate::error::ReportError;
use crate::summary::{Finding, Severity, Summary, ValidityState};

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
    summary.run.headline = std::iter::once(load.model.text.clone()).chain(figures(load)).collect();
    // What a comparison of several starts would have to say of itself is no matter of one load.
    summary.findings.retain(|finding| !finding.title.starts_with("One fork"));
    for reason in &load.verdict.reasons {
        summary.findings.insert(0, finding(load.verdict.state, &reason.text, reason.remedy.clone()));
    }
    for cell in &mut summary.cells {
        cell.scenario_title = load.model.meaning.clone();
        cell.latency.iter_mut().for_each(|latency| latency.model = load.model.text.clone());
    }
    summary
}

fn finding(state: ValidityState, text: &str, remedy: Option<String>) -> Finding {
    let severity = if state == ValidityState::Void { Severity::Error } else { Severity::Warning };
    Finding { severity, title: state.word().to_owned(), text: text.to_owned(), remedy, cell: None, log: None }
}
