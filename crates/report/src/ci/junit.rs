//! JUnit XML: a test case for each comparison. A cost is no failure. A void comparison is an error, and one without a
//! verdict is skipped. A run of `tare check` has a test case for each limit instead: one that is exceeded is a failure,
//! and a void one an error. A load has one for each condition of `--fail-if`, and one for itself.

use std::io;

use quick_xml::Writer;
use quick_xml::events::BytesText;

use crate::clean::{sanitize_line, sanitize_lines};
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
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 4);
    write_suites(&mut writer, summary, &cases).expect("memory takes every byte");
    let text = String::from_utf8(writer.into_inner()).expect("only text was written");
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{text}\n")
}

fn write_suites(writer: &mut Writer<Vec<u8>>, summary: &Summary, cases: &[ConditionOutcome]) -> io::Result<()> {
    let run = &summary.run;
    let count = |tag: &str| {
        let found = cases.iter().filter(|case| outcome_element(&case.result).is_some_and(|(name, ..)| name == tag));
        found.count().to_string()
    };
    let (failures, errors, skipped) = (count("failure"), count("error"), count("skipped"));
    let (tests, time, name) = (cases.len().to_string(), format!("{:.3}", run.duration_s), sanitize_line(&run.suite));
    let counts = [("tests", tests.as_str()), ("failures", &failures), ("errors", &errors)];
    let facts = [("run", &run.id), ("started_at", &run.started_at), ("tare_version", &run.tare_version)];
    let suites = writer.create_element("testsuites").with_attribute(("name", "tare")).with_attributes(counts);
    suites.write_inner_content(|writer| {
        let suite = writer.create_element("testsuite").with_attribute(("name", name.as_str())).with_attributes(counts);
        suite.with_attributes([("skipped", skipped.as_str()), ("time", &time)]).write_inner_content(|writer| {
            writer.create_element("properties").write_inner_content(|writer| {
                for (name, value) in facts {
                    let value = sanitize_line(value);
                    let fact = [("name", name), ("value", value.as_str())];
                    writer.create_element("property").with_attributes(fact).write_empty()?;
                }
                Ok(())
            })?;
            cases.iter().try_for_each(|case| write_case(writer, case))
        })?;
        Ok(())
    })?;
    Ok(())
}

fn write_case(writer: &mut Writer<Vec<u8>>, case: &ConditionOutcome) -> io::Result<()> {
    let (name, class) = (sanitize_line(&case.name), sanitize_line(&case.subject));
    let element = writer.create_element("testcase");
    element.with_attributes([("name", name.as_str()), ("classname", &class)]).write_inner_content(|writer| {
        if let Some((tag, kind, why)) = outcome_element(&case.result) {
            let element = writer.create_element(tag).with_attribute(("message", sanitize_line(why).as_str()));
            element.with_attributes(kind.map(|kind| ("type", kind))).write_empty()?;
        }
        if !case.text.is_empty() {
            let output = sanitize_lines(&case.text);
            writer.create_element("system-out").write_text_content(BytesText::new(&output))?;
        }
        Ok(())
    })?;
    Ok(())
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
