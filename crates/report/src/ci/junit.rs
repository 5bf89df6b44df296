//! JUnit XML: a test case for each comparison. A cost is no failure. A void comparison is an error, and one without a
//! verdict is skipped. A run of `tare check` has a test case for each limit instead: one that is exceeded is a failure,
//! and a void one an error. A load has one for each condition of `--fail-if`, and one for itself.

use crate::clean::sanitize_lines;
use crate::html::{escape_html, escape_line};
use tare_analysis::summary::{
    Cell, Comparison, ConditionOutcome, ConditionResult, CurrencyRatio, Summary, ValidityState, VerdictKind,
};

/// The run as one test suite. Without comparisons each cell is a test case.
pub fn render(summary: &Summary) -> String {
    let conditions = summary.conditions().into_iter();
    let conditions = conditions.map(|one| ConditionOutcome { subject: format!("limits.{}", one.subject), ..one });
    let cases: Vec<ConditionOutcome> = if summary.check.is_some() {
        conditions.collect()
    } else if summary.load.is_some() {
        conditions.chain(summary.cells.iter().map(cell_case)).collect()
    } else if summary.comparisons.is_empty() {
        summary.cells.iter().map(cell_case).collect()
    } else {
        summary.comparisons.iter().map(|comparison| comparison_case(summary, comparison)).collect()
    };
    let count = |tag: &str| {
        cases.iter().filter(|case| outcome_element(&case.result).is_some_and(|(name, ..)| name == tag)).count()
    };
    let (failures, errors, skipped) = (count("failure"), count("error"), count("skipped"));
    let counts = format!(r#"tests="{}" failures="{failures}" errors="{errors}""#, cases.len());
    let run = &summary.run;
    let (suite, time) = (escape_line(&run.suite), run.duration_s);
    let facts = [("run", &run.id), ("started_at", &run.started_at), ("tare_version", &run.tare_version)];
    let property = |(name, value): (&str, &String)| {
        format!("            <property name=\"{name}\" value=\"{}\"/>\n", escape_line(value))
    };
    let (facts, cases) = (facts.map(property).concat(), cases.iter().map(test_case).collect::<String>());
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="tare" {counts}>
    <testsuite name="{suite}" {counts} skipped="{skipped}" time="{time:.3}">
        <properties>
{facts}        </properties>
{cases}    </testsuite>
</testsuites>
"#
    )
}

fn test_case(case: &ConditionOutcome) -> String {
    let (name, class) = (escape_line(&case.name), escape_line(&case.subject));
    let problem = outcome_element(&case.result).map_or(String::new(), |(tag, kind, why)| {
        let kind = kind.map_or(String::new(), |kind| format!(" type=\"{kind}\""));
        format!("            <{tag} message=\"{}\"{kind}/>\n", escape_line(why))
    });
    let output = if case.text.is_empty() {
        String::new()
    } else {
        format!("            <system-out>{}</system-out>\n", escape_html(&sanitize_lines(&case.text)))
    };
    format!("        <testcase name=\"{name}\" classname=\"{class}\">\n{problem}{output}        </testcase>\n")
}

/// The name of the element that says why a case did not pass, its type and the reason.
fn outcome_element(result: &ConditionResult) -> Option<(&'static str, Option<&'static str>, &str)> {
    match result {
        ConditionResult::Passed => None,
        ConditionResult::Undecided(why) => Some(("skipped", None, why)),
        ConditionResult::Failed(why) => Some(("failure", Some("regressed"), why)),
        ConditionResult::Void(why) => Some(("error", Some("void"), why)),
    }
}

fn comparison_case(summary: &Summary, comparison: &Comparison) -> ConditionOutcome {
    let first = comparison.currencies.first();
    let verdict = first.map_or(VerdictKind::Void, |ratio| ratio.verdict);
    let why = first.map_or_else(
        || "nothing could be compared".to_owned(),
        |ratio| ratio.reason.clone().unwrap_or_else(|| ratio.short.clone()),
    );
    let result = match verdict {
        VerdictKind::Void => ConditionResult::Void(why),
        VerdictKind::Inconclusive | VerdictKind::NoInterval => ConditionResult::Undecided(why),
        VerdictKind::NoMaterialDifference | VerdictKind::Worse | VerdictKind::Better => ConditionResult::Passed,
    };
    let answer = summary.sentences.iter().find(|sentence| sentence.comparison == comparison.id);
    let words = |ratio: &CurrencyRatio| match (comparison.untold(ratio), &ratio.reason) {
        (Some(why), _) => format!("{}: ? ({why})", ratio.label),
        (None, Some(why)) => format!("{}: {} ({why})", ratio.label, ratio.short),
        (None, None) => format!("{}: {}", ratio.label, ratio.short),
    };
    let ratios = comparison.currencies.iter().map(words);
    let cells = [&comparison.baseline_cell, &comparison.cell];
    let cells = cells.into_iter().filter_map(|id| summary.cells.iter().find(|cell| cell.id == **id));
    let tails = cells.flat_map(|cell| cell.tail.iter().map(move |line| format!("{}: {line}", cell.variant)));
    let answer = answer.map(|sentence| sentence.text.clone());
    let cost = comparison.cpu_cost.iter().map(|cost| cost.text.clone());
    let lines: Vec<String> = answer.into_iter().chain(ratios).chain(cost).chain(tails).collect();
    let name = format!("{} vs {}", comparison.variant, comparison.baseline);
    let subject = format!("{}.{}", comparison.group, comparison.scenario);
    ConditionOutcome { name, subject, result, text: lines.join("\n") }
}

fn cell_case(cell: &Cell) -> ConditionOutcome {
    let reasons = cell.validity.joined_reasons();
    let is_void = cell.validity.state == ValidityState::Void;
    let result = if is_void { ConditionResult::Void(reasons.clone()) } else { ConditionResult::Passed };
    let subject = format!("{}.{}", cell.group, cell.scenario);
    ConditionOutcome { name: cell.variant.clone(), subject, result, text: reasons }
}
