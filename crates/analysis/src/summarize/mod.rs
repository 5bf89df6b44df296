//! Makes the summary of a record. Pure, and possible at any time, also for a record that was cut short.

mod cross_check;

use tare_plan::plan::Mode;
use tare_record::RunRecord;

use crate::cell::{CellAnalysis, analyze_cells, ladder};
use crate::compare::{Pairs, compare_cells};
use crate::limits::{judge_limits, limit_check};
use crate::run_info::{environment_sections, run_info, setting_sections};
use crate::summary::{Cell, FindingKind, ReportFinding, SCHEMA, Sentence, Summary, VerdictKind};
use crate::words::{findings, headline, limit_words, next_step, tail, trust::trust, unread};

/// The text of a run that measured the same start again and again, as one whose servers tare does not start.
fn without_starts(text: &str) -> String {
    let is_of_word = |c: char| c.is_alphanumeric() || ['-', '_', '.', '/'].contains(&c);
    let words = text.split_inclusive(|c: char| !is_of_word(c));
    let renamed = words.map(|word| match word.trim_end_matches(|c: char| !is_of_word(c)) {
        "start" | "starts" => word.replacen("start", "repeat", 1),
        _ => word.to_owned(),
    });
    renamed.collect()
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
        ratios.chain(answers).chain(findings).for_each(|text| *text = without_starts(text));
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
        next.text = without_starts(&next.text);
    }
    // What is to be known of an answer stands behind that of limits, too.
    if has_interval && plan.never_restarts() {
        headline.text += " tare did not start these servers: the interval shows how repeated measurements differ, not how \
                          starts differ.";
    }
    if let Some(doubt) = unread::unread_variable(record, &compared.comparisons) {
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
        cross_checks: cross_check::cross_checks(record, &cells),
        cells,
        comparisons: compared.comparisons,
        noise: compared.noise,
        plan: setting_sections(&plan.settings, true),
        environment: environment_sections(&record.header.environment),
    }
}

#[cfg(test)]
mod tests {
    use super::without_starts;

    #[test]
    fn a_start_is_named_a_repeat_and_no_other_word_changes() {
        for (told, expected) in [
            ("with 3 starts, differences below 9 %", "with 3 repeats, differences below 9 %"),
            ("one start; the 5 starts of the plan", "one repeat; the 5 repeats of the plan"),
            ("restart starter and my-start at /start", "restart starter and my-start at /start"),
        ] {
            assert_eq!(without_starts(told), expected);
        }
    }
}
