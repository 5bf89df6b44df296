//! A load in the formats of a run: the page, wrk's text, and all others that render the summary of a run.

use tare_record::LoadRecord;

use super::text::{closing_rows, figure_rows, missed_rate};
use crate::error::ReportError;
use tare_analysis::cell::cell_of_load;
use tare_analysis::format::{Unit, count, rate, share, single};
use tare_analysis::load::LoadSummary;
use tare_analysis::rfc3339;
use tare_analysis::run_info::{duration_s, environment_sections, run_status, setting_sections, shell};
use tare_analysis::summary::{
    self, Finding, Headline, LoadFacts, Mode, Pace, Reason, ReportFinding, RunInfo, Summary, ValidityState, VerdictKind,
};
use tare_analysis::words::{findings_of_load, trust};

pub fn html(record: &LoadRecord, load: &LoadSummary) -> Result<String, ReportError> {
    crate::html::render(&summary_as_run(record, load))
}

/// Text in the shape of `wrk --latency`, for programs that parse it.
pub fn wrk(record: &LoadRecord, load: &LoadSummary) -> String {
    let cell = cell_of_load(record);
    let workers = record.intervals.first().map_or(1, |interval| interval.load.workers);
    let under = format!("{workers} threads and {} connections", load.model.connections);
    // Without an answer there is no latency, and wrk prints zeros.
    let unanswered = Pace {
        window_s: load.window_s,
        requests_failed: load.requests.failed,
        bytes_in: load.bytes.in_bytes,
        ..Pace::default()
    };
    let (pace, response) = cell.latency.first().map_or((&unanswered, &load.response), |l| (&l.pace, &l.response));
    crate::wrk::one(&load.url, &under, &cell, pace, response)
}

pub fn summary_as_run(record: &LoadRecord, load: &LoadSummary) -> Summary {
    let mut cell = cell_of_load(record);
    cell.scenario_title.clone_from(&load.model.meaning);
    cell.tail = load.server.iter().flat_map(|server| server.tail.clone()).collect();
    cell.latency.iter_mut().for_each(|latency| latency.model.clone_from(&load.model.text));
    let reasons = load.verdict.reasons.iter().map(|reason| finding(load.verdict.state, reason));
    let findings: Vec<Finding> = reasons.chain(findings_of_load(record)).collect();
    let failed = load.thresholds.iter().filter(|one| one.failed).map(|one| format!("Failed: {}. ", one.text()));
    let text = failed.collect::<String>() + &answer(load);
    let headline = Headline { text, verdict: VerdictKind::NoInterval };
    Summary {
        schema: summary::SCHEMA.to_owned(),
        trust: trust(&headline, &[], std::slice::from_ref(&cell), &findings),
        headline,
        next: None,
        run: run_info(record, load),
        sentences: Vec::new(),
        cells: vec![cell],
        comparisons: Vec::new(),
        check: None,
        noise: Vec::new(),
        cross_checks: Vec::new(),
        ladders: Vec::new(),
        profiles: None,
        load: Some(facts(load)),
        findings,
        plan: setting_sections(&record.header.plan.settings, false),
        environment: environment_sections(&record.header.environment),
    }
}

/// `The server answered 110,666 requests/s with a p99 of 329 µs and no errors.` Where a rate was asked for, that is no result:
/// `At 1,500 requests/s the p99 is 248 µs, with no errors.`, unless the server answered less.
fn answer(load: &LoadSummary) -> String {
    let failed = load.requests.failed;
    let errors = match failed {
        0 => "no errors".to_owned(),
        _ => format!("{} ({})", count(failed, "error"), share(load.requests.failed_share)),
    };
    if load.throughput_per_s <= 0.0 {
        return format!("The server gave no expected answer: {errors}.");
    }
    let (verb, what) = match &load.messages {
        Some(messages) if messages.gap.is_some() => ("sent", "events"),
        Some(_) => ("pushed", "messages"),
        None => ("answered", "requests"),
    };
    let p99 = load.response.percentile_ns(99.0).map(|ns| single(Unit::Nanos, ns as f64));
    let named = |per_s: f64| rate(per_s).replace("/s", &format!(" {what}/s"));
    let answered = match load.model.offered_per_s {
        Some(offered) if missed_rate(load).is_some() => {
            format!("{} of {}", rate(load.throughput_per_s).replace("/s", ""), named(offered))
        }
        Some(offered) => match p99 {
            Some(p99) => return format!("At {} the p99 is {p99}, with {errors}.", named(offered)),
            None => return format!("At {} the server {verb} with {errors}.", named(offered)),
        },
        // A rate that changes has no value of its own.
        None if load.model.loop_kind == "open" => format!("{} on average", named(load.throughput_per_s)),
        None => named(load.throughput_per_s),
    };
    let p99 = p99.map(|p99| format!("a p99 of {p99} and ")).unwrap_or_default();
    format!("The server {verb} {answered} with {p99}{errors}.")
}

fn run_info(record: &LoadRecord, load: &LoadSummary) -> RunInfo {
    let header = &record.header;
    RunInfo {
        id: header.id.clone(),
        suite: "load".to_owned(),
        question: format!("{} · {}", load.url, load.model.text),
        started_at: rfc3339(header.started_unix_ns),
        duration_s: duration_s(&record.intervals, &record.events, record.end),
        mode: Mode::Load,
        status: run_status(record.end),
        command: shell(&header.command),
        seed: header.plan.seed,
        tare_version: header.tare_version.clone(),
        git_revision: header.git_revision.clone(),
        headline: vec![load.model.text.clone()],
        // A load compares nothing.
        region: 0.0,
        alpha: 0.0,
        repeats_one_start: false,
    }
}

fn facts(load: &LoadSummary) -> LoadFacts {
    LoadFacts {
        rows: figure_rows(load).into_iter().chain(closing_rows(load)).collect(),
        histogram: load.response.histogram.clone(),
        conditions: load.thresholds.clone(),
        statuses: load.statuses.clone(),
        urls: load.urls.clone(),
    }
}

fn finding(state: ValidityState, reason: &Reason) -> Finding {
    let kind = if state == ValidityState::Void { ReportFinding::LoadVoid } else { ReportFinding::LoadSuspect };
    Finding { remedy: reason.remedy.clone(), ..Finding::of_report(kind, &reason.text) }
}
