//! JUnit XML: a test case for each comparison. A cost is no failure. A void comparison is an error, and one without a
//! verdict is skipped. A run of `tare check` has a test case for each limit instead: one that is exceeded is a failure,
//! and a void one an error.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::clean::{sanitize_line, sanitize_lines};
use tare_analysis::summary::{Cell, Comparison, LimitResult, LimitVerdictKind, Summary, ValidityState, VerdictKind};

/// The run as one test suite. Without comparisons each cell is a test case.
pub fn render(summary: &Summary) -> String {
    let run = &summary.run;
    let mut suite = TestSuite::new(sanitize_line(&run.suite));
    suite.set_time(Duration::try_from_secs_f64(run.duration_s).unwrap_or_default());
    let facts = [("run", &run.id), ("started_at", &run.started_at), ("tare_version", &run.tare_version)];
    suite.add_properties(facts.map(|(name, value)| (name, value.as_str())));
    if let Some(check) = &summary.check {
        suite.add_test_cases(check.limits.iter().map(limit_case));
    } else if summary.comparisons.is_empty() {
        suite.add_test_cases(summary.cells.iter().map(cell_case));
    } else {
        suite.add_test_cases(summary.comparisons.iter().map(|comparison| comparison_case(summary, comparison)));
    }
    let mut report = Report::new("tare");
    report.add_test_suite(suite);
    report.to_string().expect("memory takes every byte")
}

fn comparison_case(summary: &Summary, comparison: &Comparison) -> TestCase {
    let first = comparison.currencies.first();
    let verdict = first.map_or(VerdictKind::Void, |ratio| ratio.verdict);
    let why = first.map_or_else(
        || "nothing could be compared".to_owned(),
        |ratio| ratio.reason.clone().unwrap_or_else(|| ratio.short.clone()),
    );
    let status = match verdict {
        VerdictKind::Void => error_status(&why),
        VerdictKind::Inconclusive | VerdictKind::NoInterval => skipped_status(&why),
        VerdictKind::NoMaterialDifference | VerdictKind::Worse | VerdictKind::Better => TestCaseStatus::success(),
    };
    let answer = summary.sentences.iter().find(|sentence| sentence.comparison == comparison.id);
    let ratios = comparison.currencies.iter().map(|ratio| format!("{}: {}", ratio.label, ratio.short));
    let lines: Vec<String> = answer.map(|sentence| sentence.text.clone()).into_iter().chain(ratios).collect();
    let name = format!("{} vs {}", comparison.variant, comparison.baseline);
    test_case(&name, &comparison.group, &comparison.scenario, status, &lines.join("\n"))
}

fn limit_case(limit: &LimitResult) -> TestCase {
    let why = limit.reason.as_ref().unwrap_or(&limit.short);
    let status = match limit.verdict {
        LimitVerdictKind::Regressed => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(sanitize_line(why)).set_type("regressed");
            status
        }
        LimitVerdictKind::Void => error_status(why),
        LimitVerdictKind::Undecided => skipped_status(why),
        LimitVerdictKind::Improved | LimitVerdictKind::NoMaterialChange => TestCaseStatus::success(),
    };
    let name = format!("{} vs {}: {}", limit.variant, limit.baseline, limit.limit);
    let output = format!("{}: {} {}", limit.label, limit.short, limit.verdict.name());
    test_case(&name, "limits", &limit.scenario, status, &output)
}

fn cell_case(cell: &Cell) -> TestCase {
    let reasons = cell.validity.joined_reasons();
    let is_void = cell.validity.state == ValidityState::Void;
    let status = if is_void { error_status(&reasons) } else { TestCaseStatus::success() };
    test_case(&cell.variant, &cell.group, &cell.scenario, status, &reasons)
}

fn skipped_status(why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(sanitize_line(why));
    status
}

fn error_status(why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message(sanitize_line(why)).set_type("void");
    status
}

fn test_case(name: &str, group: &str, scenario: &str, status: TestCaseStatus, output: &str) -> TestCase {
    let mut case = TestCase::new(sanitize_line(name), status);
    case.set_classname(sanitize_line(&format!("{group}.{scenario}")));
    if !output.is_empty() {
        case.set_system_out(sanitize_lines(output));
    }
    case
}
