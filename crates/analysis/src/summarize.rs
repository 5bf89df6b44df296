//! Makes the summary of a record. Pure, and possible at any time, also for a record that was cut short.

use tare_plan::plan::{Mode, Plan, SliceKind};
use tare_record::RunRecord;
use tare_record::cross_check::{CrossCheckOutcome, CrossCheckRecord, ToolFigures};

use crate::cell::{CellAnalysis, analyze_cells, ladder};
use crate::compare::{Pairs, compare_cells};
use crate::limits::{judge_limits, limit_check};
use crate::run_info::{environment_sections, run_info, setting_sections, shell, shortened};
use crate::summary::{
    Cell, CrossCheck, Distribution, FindingKind, ReportFinding, SCHEMA, Sentence, Summary, ToolFigure, VerdictKind,
};
use crate::words::{findings, headline, limit_words, next_step, tail, trust::trust};

/// A tool whose resolution is coarser than this share of a figure gets no ratio.
const COARSE: f64 = 0.1;

/// The text of a run that measured the same start again and again, as one whose servers tare does not start. A word that is a
/// name stays.
fn without_starts(text: &str, names: &[&str]) -> String {
    let is_of_word = |c: char| c.is_alphanumeric() || ['-', '_', '.', '/'].contains(&c);
    let words = text.split_inclusive(|c: char| !is_of_word(c));
    let renamed = words.map(|word| match word.trim_end_matches(|c: char| !c.is_alphanumeric()) {
        start @ ("start" | "starts") if !names.contains(&start) => word.replacen("start", "repeat", 1),
        _ => word.to_owned(),
    });
    renamed.collect()
}

/// What servers and scenarios of a plan are called.
fn names(plan: &Plan) -> Vec<&str> {
    let variants = plan.groups.iter().flat_map(|group| &group.variants);
    let scenarios = plan.groups.iter().flat_map(|group| &group.scenarios).map(|scenario| &*scenario.name);
    variants.flat_map(|variant| [&*variant.name, &*variant.server]).chain(scenarios).collect()
}

pub fn summarize(record: &RunRecord) -> Summary {
    let plan = &record.header.plan;
    // A profiled run has no scores and so no cells.
    let cells = if plan.mode == Mode::Profiled { Vec::new() } else { analyze_cells(record) };
    let pairs = Pairs::of(record, &cells);
    let mut compared = compare_cells(plan, &pairs);
    let limits = judge_limits(plan, &pairs);
    let mut sentences: Vec<Sentence> =
        compared.comparisons.iter().filter_map(|comparison| headline::sentence(comparison, &compared)).collect();
    let mut headline = headline::headline(&compared.comparisons, &compared);
    let mut findings = findings::findings(record, &cells, &compared);
    if plan.never_restarts() {
        let ratios = compared.comparisons.iter_mut().flat_map(|comparison| &mut comparison.currencies);
        let ratios = ratios.flat_map(|ratio| [Some(&mut ratio.method), ratio.reason.as_mut()]).flatten();
        let one_start =
            findings.iter_mut().filter(|finding| finding.kind == FindingKind::Report(ReportFinding::OneFork));
        let findings = one_start.flat_map(|finding| [&mut finding.title, &mut finding.text]);
        let answers = sentences.iter_mut().map(|sentence| &mut sentence.text);
        let answers = answers.chain(headline.as_mut().map(|headline| &mut headline.text));
        ratios.chain(answers).chain(findings).for_each(|text| *text = without_starts(text, &names(plan)));
    }
    let ladders = ladder::ladders(plan, &cells);
    let mut cells: Vec<Cell> = cells.into_iter().map(CellAnalysis::into_cell).collect();
    let tails = tail::tails(&cells, &compared.comparisons);
    cells.iter_mut().zip(tails).for_each(|(cell, tail)| cell.tail = tail);
    let run = run_info(record);
    let mut headline = headline.unwrap_or_else(|| headline::without_comparison(plan, &cells));
    let has_interval = headline.verdict.is_decision() || headline.verdict == VerdictKind::Inconclusive;
    let check = limit_check(plan, limits, &compared.comparisons);
    let mut next = match &check {
        Some(check) => {
            limit_words::answer(check, &compared.comparisons, &mut headline);
            limit_words::next_step(check, record, run.duration_s)
        }
        None => next_step::next_step(record, &compared.comparisons, &cells, &findings, run.duration_s),
    };
    if let Some(next) = next.as_mut().filter(|_| plan.never_restarts()) {
        next.text = without_starts(&next.text, &names(plan));
    }
    // What is to be known of an answer stands behind that of limits, too.
    if has_interval && plan.never_restarts() {
        headline.text += " tare did not start these servers: the interval shows how repeated measurements differ, not how \
                          starts differ.";
    }
    if let Some(doubt) = headline::unread_variable(record, &compared.comparisons) {
        headline.text += &format!(" {doubt}");
    }
    Summary {
        schema: SCHEMA.to_owned(),
        trust: trust(&headline, &compared.comparisons, &cells, &findings),
        headline,
        next,
        check,
        run,
        sentences,
        ladders,
        profiles: None,
        load: None,
        findings,
        cross_checks: cross_checks(record, &cells),
        cells,
        comparisons: compared.comparisons,
        noise: compared.noise,
        plan: setting_sections(&plan.settings, true),
        environment: environment_sections(&record.header.environment),
    }
}

/// One entry per cell and tool, in the order they were driven.
fn cross_checks(record: &RunRecord, cells: &[Cell]) -> Vec<CrossCheck> {
    record.cross_checks.iter().map(|check| cross_check(check, cells)).collect()
}

fn cross_check(check: &CrossCheckRecord, cells: &[Cell]) -> CrossCheck {
    let cell =
        cells.iter().find(|c| (&c.group, &c.scenario, &c.variant) == (&check.group, &check.scenario, &check.variant));
    let (measured, note) = match &check.outcome {
        CrossCheckOutcome::Measured(figures) => (Some(figures), None),
        CrossCheckOutcome::NotPossible { because } => (None, Some(format!("cannot be asked this: {because}"))),
        CrossCheckOutcome::Failed { because } => (None, Some(format!("failed: {because}"))),
    };
    CrossCheck {
        cell: cell.map(|cell| cell.id.clone()).unwrap_or_default(),
        engine: check.engine.name().to_owned(),
        version: check.version.clone(),
        scenario: check.scenario.clone(),
        variant: check.variant.clone(),
        users: check.users,
        command: shell(&shortened(&check.command)),
        figures: measured.map(|figures| beside(figures, cell)).unwrap_or_default(),
        requests_failed: measured.map(|figures| figures.failed),
        resolution_ns: measured.map(|figures| figures.resolution_ns),
        note,
    }
}

fn beside(theirs: &ToolFigures, cell: Option<&Cell>) -> Vec<ToolFigure> {
    let closed = cell.and_then(|cell| cell.latency_under(SliceKind::Saturating));
    let ours: Option<&Distribution> = closed.map(|latency| &latency.service);
    let per_s = theirs.ok as f64 * 1e9 / theirs.window_ns.max(1) as f64;
    let mut figures = vec![figure("throughput", "1/s", per_s, cell.and_then(|c| c.throughput_per_s).map(|e| e.value))];
    figures.push(figure("mean", "ns", theirs.mean_ns, ours.and_then(|d| d.mean_ns)));
    figures.extend(theirs.percentiles.iter().map(|&(percentile, value_ns)| {
        let same_ns = ours.and_then(|d| d.percentile_ns(percentile));
        let mut latency = figure(&format!("p{percentile}"), "ns", value_ns as f64, same_ns.map(|ns| ns as f64));
        latency.ratio = latency.ratio.filter(|_| theirs.resolution_ns as f64 <= COARSE * value_ns as f64);
        latency
    }));
    figures
}

fn figure(name: &str, unit: &str, theirs: f64, ours: Option<f64>) -> ToolFigure {
    let ratio = ours.filter(|ours| *ours > 0.0).map(|ours| theirs / ours);
    ToolFigure { name: name.to_owned(), unit: unit.to_owned(), theirs, ours, ratio }
}

#[cfg(test)]
mod tests {
    use super::without_starts;

    #[test]
    fn a_start_is_named_a_repeat_and_no_other_word_changes() {
        for (told, expected) in [
            ("with 3 starts, differences below 9 %", "with 3 repeats, differences below 9 %"),
            ("one start; the 5 starts of the plan", "one repeat; the 5 repeats of the plan"),
            ("2 of at least 5 starts. More time", "2 of at least 5 repeats. More time"),
            ("restart starter and my-start at /start", "restart starter and my-start at /start"),
        ] {
            assert_eq!(without_starts(told, &["bare"]), expected);
        }
        let told = without_starts("start is slower than start@baseline: 3 starts", &["start"]);
        assert_eq!(told, "start is slower than start@baseline: 3 repeats");
    }
}
