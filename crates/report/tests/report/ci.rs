//! The forms for continuous integration, read back.

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::Document;
use serde::Deserialize;
use tare_analysis::summarize;
use tare_analysis::summary::{Summary, VerdictKind};
use tare_plan::plan::{SliceKind, Source};
use tare_report::ci;
use tare_report::load::summary_as_run;
use tare_stats::Polarity;

use crate::loads;
use crate::synthetic::{self, baseline, standard_summary, variant};

const HOSTILE: &str = "</testcase> \"quoted\"\\ \u{1b}[31m\u{0}\u{ffff}{}\n|`*";

fn hostile_summary() -> Summary {
    summarize(&synthetic::run(&[baseline(), variant(HOSTILE, 0.9)], 3, &[SliceKind::Saturating]))
}

/// A test case of JUnit, as another parser reads it.
pub struct TestCase {
    pub name: String,
    class: String,
    /// The element that says why it did not pass, and its message.
    pub problem: Option<(String, String)>,
    output: Option<String>,
}

/// The test cases of the one suite, whose counts add up.
pub fn test_cases(summary: &Summary) -> Vec<TestCase> {
    let text = ci::junit::render(summary);
    let document = Document::parse(&text).unwrap();
    let suites: Vec<_> = document.root_element().children().filter(|node| node.has_tag_name("testsuite")).collect();
    assert_eq!(suites.len(), 1);
    let of_problem = |tag: &str| ["failure", "error", "skipped"].contains(&tag);
    let read = |case: roxmltree::Node<'_, '_>| {
        let problem = case.children().find(|node| of_problem(node.tag_name().name()));
        let output = case.children().find(|node| node.has_tag_name("system-out"));
        TestCase {
            name: case.attribute("name").unwrap().to_owned(),
            class: case.attribute("classname").unwrap().to_owned(),
            problem: problem
                .map(|node| (node.tag_name().name().to_owned(), node.attribute("message").unwrap().to_owned())),
            output: output.and_then(|node| node.text().map(str::to_owned)),
        }
    };
    let cases: Vec<TestCase> = suites[0].children().filter(|node| node.has_tag_name("testcase")).map(read).collect();
    let count = |name: &str| suites[0].attribute(name).unwrap().parse::<usize>().unwrap();
    let having =
        |tag: &str| cases.iter().filter(|case| case.problem.as_ref().is_some_and(|(has, _)| has == tag)).count();
    assert_eq!(count("tests"), cases.len());
    let told = [count("failures"), count("errors"), count("skipped")];
    assert_eq!(told, [having("failure"), having("error"), having("skipped")]);
    cases
}

/// The samples of an OpenMetrics text, each name with its labels and value. No line is anything else.
fn samples(text: &str) -> Vec<(&str, &str, f64)> {
    let lines = text.strip_suffix("# EOF\n").unwrap().lines();
    let told = lines.filter(|line| !line.starts_with("# HELP tare_") && !line.starts_with("# TYPE tare_"));
    let parts = |line| {
        let (named, value) = str::rsplit_once(line, ' ').unwrap();
        let (name, labels) = named.strip_suffix('}').unwrap().split_once('{').unwrap();
        (name, labels, value.parse().unwrap())
    };
    told.map(parts).collect()
}

#[test]
fn junit_has_a_test_case_per_comparison() {
    let cases = test_cases(&standard_summary());
    assert_eq!(cases.len(), 1);
    assert_eq!(
        (cases[0].name.as_str(), cases[0].class.as_str()),
        ("http4s.Tapir vs http4s.Vanilla", "http4s.SimpleGet")
    );
    assert_eq!(cases[0].problem, None, "a cost is no failure");
    let output = cases[0].output.clone().unwrap();
    assert!(output.contains(&standard_summary().sentences[0].text), "{output:?}");
}

#[test]
fn junit_skips_what_is_undecided_and_reports_what_is_void() {
    for (verdict, is_skipped) in [(VerdictKind::Inconclusive, true), (VerdictKind::Void, false)] {
        let mut summary = standard_summary();
        summary.comparisons[0].currencies[0].verdict = verdict;
        summary.comparisons[0].currencies[0].reason = Some("too few starts".to_owned());
        let problem = test_cases(&summary).remove(0).problem.unwrap();
        let element = if is_skipped { "skipped" } else { "error" };
        assert_eq!(problem, (element.to_owned(), "too few starts".to_owned()), "{verdict:?}");
    }
}

#[test]
fn junit_of_a_run_without_comparisons_has_its_cells() {
    let summary = summarize(&synthetic::run(&[baseline()], 2, &[SliceKind::Saturating]));
    assert_eq!(test_cases(&summary)[0].name.as_str(), "http4s.Vanilla");
}

#[test]
fn hostile_names_stay_text_in_junit_and_openmetrics() {
    let summary = hostile_summary();
    let cases = test_cases(&summary);
    assert!(cases[0].name.starts_with("</testcase> \"quoted\"\\ "), "{:?}", cases[0].name);
    let text = ci::openmetrics::render(&summary);
    assert!(samples(&text).iter().any(|(name, labels, _)| *name == "tare_ratio" && labels.contains(r#"\"quoted\""#)));
}

#[test]
fn openmetrics_has_each_figure_once_in_base_units() {
    let summary = standard_summary();
    let text = ci::openmetrics::render(&summary);
    let families: BTreeSet<&str> = samples(&text).iter().map(|(name, ..)| *name).collect();
    for name in ["tare_run_info", "tare_cpu_seconds_per_request", "tare_requests_per_second", "tare_ratio"] {
        assert!(families.contains(name), "{name} is not in {families:?}");
    }
    assert!(text.lines().filter(|line| line.starts_with("# TYPE ")).all(|line| line.ends_with(" gauge")), "{text}");
    let cpu_ns = summary.cells[0].cpu_ns_per_request.unwrap().value;
    let line = text.lines().find(|line| line.starts_with("tare_cpu_seconds_per_request{")).unwrap();
    let cpu_s: f64 = line.rsplit(' ').next().unwrap().parse().unwrap();
    assert!((cpu_s * 1e9 / cpu_ns - 1.0).abs() < 1e-9, "{line}");
    let ratios = summary.comparisons.iter().map(|comparison| comparison.currencies.len()).sum::<usize>();
    assert_eq!(text.lines().filter(|line| line.starts_with("tare_ratio{")).count(), ratios);
}

#[test]
fn the_same_run_gives_the_same_openmetrics() {
    let summary = standard_summary();
    assert_eq!(ci::openmetrics::render(&summary), ci::openmetrics::render(&summary));
}

/// The fields of `ExportMetricsServiceRequest` in OTLP/JSON that tare writes, and no others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct OtlpRead {
    resource_metrics: Vec<OtlpResourceRead>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct OtlpResourceRead {
    resource: OtlpAttributesRead,
    scope_metrics: Vec<OtlpScopeRead>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OtlpAttributesRead {
    attributes: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OtlpScopeRead {
    scope: BTreeMap<String, String>,
    metrics: Vec<OtlpMetricRead>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OtlpMetricRead {
    name: String,
    description: String,
    unit: String,
    gauge: OtlpGaugeRead,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct OtlpGaugeRead {
    data_points: Vec<OtlpPointRead>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct OtlpPointRead {
    attributes: Vec<serde_json::Value>,
    /// 64-bit integers are texts.
    start_time_unix_nano: String,
    time_unix_nano: String,
    as_double: f64,
}

#[test]
fn otlp_has_the_gauges_of_openmetrics_at_the_end_of_the_run() {
    let mut summary = standard_summary();
    summary.run.duration_s = 2.5;
    let text = ci::otlp::render(&summary, 1_000_000_000).unwrap();
    let read: OtlpRead = serde_json::from_str(&text).unwrap();
    let [resource] = read.resource_metrics.as_slice() else { panic!("{text}") };
    let service = serde_json::json!({"key": "service.name", "value": {"stringValue": "tare"}});
    assert!(resource.resource.attributes.contains(&service), "{text}");
    let scope = &resource.scope_metrics[0];
    assert_eq!(scope.scope["name"], "tare");
    let mut told: Vec<(&str, f64)> = Vec::new();
    for metric in &scope.metrics {
        assert!(!metric.description.is_empty() && !metric.unit.is_empty());
        for point in &metric.gauge.data_points {
            assert_eq!(
                (point.start_time_unix_nano.as_str(), point.time_unix_nano.as_str()),
                ("1000000000", "3500000000")
            );
            assert!(point.attributes.len() >= 3, "{text}");
            told.push((&metric.name, point.as_double));
        }
    }
    let openmetrics = ci::openmetrics::render(&summary);
    let gauges = samples(&openmetrics).into_iter().filter(|(name, ..)| *name != "tare_run_info");
    let gauges: Vec<_> = gauges.map(|(name, _, value)| (name, value)).collect();
    assert_eq!(told.len(), gauges.len());
    for ((name, value), (wanted_name, wanted)) in told.into_iter().zip(gauges) {
        assert!(
            name == wanted_name && (value / wanted - 1.0).abs() < 1e-12,
            "{name} {value} is {wanted_name} {wanted}"
        );
    }
}

#[test]
fn a_picture_has_every_change_and_nothing_that_runs() {
    let summary = standard_summary();
    let picture = ci::picture::render(&summary);
    let ratios = &summary.comparisons[0].currencies;
    assert_eq!(picture.matches("<circle ").count(), ratios.len());
    assert!(ratios.iter().all(|ratio| picture.contains(&ratio.label)), "{picture}");
    for text in [picture, ci::picture::render(&hostile_summary())] {
        assert_eq!(text.matches("<text ").count(), text.matches("</text>").count(), "{text}");
        assert!(["<script", "href", "<style", "</testcase>"].iter().all(|word| !text.contains(word)), "{text}");
    }
}

#[test]
fn a_picture_of_many_changes_or_of_none_stays_a_picture() {
    let mut many = standard_summary();
    let ratio = many.comparisons[0].currencies[0].clone();
    many.comparisons[0].currencies = vec![ratio; 100];
    many.comparisons[0].currencies[0].hi = Some(f64::MAX);
    let picture = ci::picture::render(&many);
    assert_eq!(picture.matches("<circle ").count(), 40);
    assert!(picture.contains("60 more changes are in the report.") && !picture.contains("NaN"), "{picture}");
    let none = summarize(&synthetic::run(&[baseline()], 2, &[SliceKind::Saturating]));
    assert!(ci::picture::render(&none).contains("Nothing could be compared."));
}

/// What Bencher's schema allows and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BencherRead {
    value: f64,
    lower_value: Option<f64>,
    upper_value: Option<f64>,
}

#[test]
fn bencher_reads_levels_and_ratios_of_every_cell() {
    let summary = standard_summary();
    let text = ci::bencher::render(&summary).unwrap();
    let read: BTreeMap<String, BTreeMap<String, BencherRead>> = serde_json::from_str(&text).unwrap();
    assert_eq!(read.len(), summary.cells.len());
    let comparison = &summary.comparisons[0];
    for ratio in &comparison.currencies {
        let name = format!("{}-ratio", ratio.name.facts().name.replace('_', "-"));
        let metric = &read[&comparison.cell][&name];
        let is_same = |read: Option<f64>, ratio: Option<f64>| (read.unwrap() - ratio.unwrap()).abs() < 1e-12;
        assert!(is_same(metric.lower_value, ratio.lo) && is_same(metric.upper_value, ratio.hi), "{name}");
        assert!(is_same(Some(metric.value), Some(ratio.ratio)), "{name}");
    }
    assert!(read[&comparison.baseline_cell].contains_key("cpu-per-request"));
}

/// The fields that github-action-benchmark reads.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GithubRead {
    name: String,
    unit: String,
    value: f64,
    range: Option<String>,
    extra: String,
}

#[test]
fn the_github_action_gets_each_currency_in_the_list_of_its_direction() {
    let summary = standard_summary();
    let read = |polarity| -> Vec<GithubRead> {
        serde_json::from_str(&ci::github_benchmark::render(&summary, polarity).unwrap()).unwrap()
    };
    let (smaller, bigger) = (read(Polarity::LowerIsBetter), read(Polarity::HigherIsBetter));
    assert_eq!(smaller.len() + bigger.len(), summary.comparisons[0].currencies.len());
    assert_eq!(bigger[0].name, "SimpleGet: http4s.Tapir vs http4s.Vanilla, throughput");
    assert_eq!(bigger[0].unit, "× baseline");
    assert!(bigger[0].value < 1.0 && smaller.iter().any(|entry| entry.value > 1.0));
    assert!(bigger[0].range.as_ref().is_some_and(|range| range.starts_with("± ")) && !bigger[0].extra.is_empty());
}

/// The keys that come more than once.
fn given_twice(keys: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    keys.into_iter().filter(|key| !seen.insert(key.clone())).collect()
}

#[test]
fn no_form_has_a_key_twice_however_groups_are_named_and_conditions_given() {
    let compared = synthetic::in_two_groups(synthetic::standard());
    let mut checked = compared.clone();
    let limits = ["cpu > +3%", "cpu > +3%", "p99 > +50%"].map(|limit| limit.parse().unwrap());
    checked.header.plan.set_limits(limits.to_vec(), Source::Flag);
    let alone = synthetic::in_two_groups(synthetic::run(&[baseline()], 2, &[SliceKind::Saturating]));
    let load = summary_as_run(loads::record(), &loads::summary(&["p99>1s", "p99>1s", "p50>1us"]));
    assert_eq!((summarize(&checked).conditions().len(), load.conditions().len()), (4, 2));
    for summary in [summarize(&compared), summarize(&checked), summarize(&alone), load] {
        let text = ci::openmetrics::render(&summary);
        let series = samples(&text).into_iter().map(|(name, labels, _)| format!("{name} {labels}")).collect();
        assert_eq!(given_twice(series), [""; 0]);
        let cases = test_cases(&summary).into_iter().map(|case| format!("{}.{}", case.class, case.name)).collect();
        assert_eq!(given_twice(cases), [""; 0]);
        for polarity in [Polarity::LowerIsBetter, Polarity::HigherIsBetter] {
            let text = ci::github_benchmark::render(&summary, polarity).unwrap();
            let entries: Vec<GithubRead> = serde_json::from_str(&text).unwrap();
            assert_eq!(given_twice(entries.into_iter().map(|entry| entry.name).collect()), [""; 0]);
        }
    }
}

#[test]
fn void_figures_are_in_no_form() {
    let mut summary = standard_summary();
    summary.comparisons[0].currencies.iter_mut().for_each(|ratio| ratio.verdict = VerdictKind::Void);
    assert!(!ci::openmetrics::render(&summary).contains("tare_ratio"));
    assert!(!ci::bencher::render(&summary).unwrap().contains("-ratio"));
    assert_eq!(ci::github_benchmark::render(&summary, Polarity::LowerIsBetter).unwrap(), "[]\n");
}

#[test]
fn a_comment_is_marked_and_folds_the_report() {
    let summary = standard_summary();
    let text = ci::comment::render(&summary);
    assert!(text.starts_with("<!-- tare report of "), "{text}");
    let (shown, folded) = text.split_once("<details>").unwrap();
    assert!(shown.lines().count() < 12 && shown.contains("http4s.Tapir"), "{shown}");
    assert!(folded.contains("## How") && folded.trim_end().ends_with("</details>"));
    let mut long = standard_summary();
    let findings: Vec<_> = long.findings.iter().cycle().take(2_000).cloned().collect();
    long.findings = findings;
    assert!(ci::comment::render(&long).len() < 65_536);
    // Table and report are short enough by themselves, and not together.
    let mut wide = standard_summary();
    let comparisons: Vec<_> = wide.comparisons.iter().cycle().take(80).cloned().collect();
    wide.comparisons = comparisons;
    wide.headline.text = "long ".repeat(5_000);
    let text = ci::comment::render(&wide);
    assert!(text.len() < 65_536 && text.contains("too long for a comment"), "{}", text.len());
}

#[test]
fn a_comment_on_any_number_of_comparisons_or_limits_fits_and_says_what_it_leaves_out() {
    let mut table = standard_summary();
    table.comparisons = vec![table.comparisons[0].clone(); 2_000];
    let mut record = synthetic::run(&[baseline(), variant("http4s.Tapir", 0.99)], 2, &[SliceKind::Saturating]);
    record.header.plan.set_limits(vec!["cpu > +3%".parse().unwrap()], Source::Flag);
    let mut checked = summarize(&record);
    let check = checked.check.as_mut().unwrap();
    assert!(check.limits[0].reason.is_some());
    (check.limits, check.legend) = (vec![check.limits[0].clone(); 2_000], None);
    checked.headline.text = checked.headline.text.repeat(2_000);
    for (summary, left_out) in [(&table, " more rows."), (&checked, " more rows and 2,000 more notes.")] {
        let text = ci::comment::render(summary);
        assert!(text.len() < 65_536 && text.contains("too long for a comment"), "{} bytes", text.len());
        let (shown, rest) = text.split_once("\nThe report has ").unwrap();
        let (more, after) = rest.split_once(" more rows").unwrap();
        assert!(format!(" more rows{after}").starts_with(left_out), "{rest}");
        let rows = shown.lines().filter(|line| line.starts_with("| ")).count() - 1;
        assert_eq!(rows + more.replace(',', "").parse::<usize>().unwrap(), 2_000);
        assert!(rows > 50, "{rows} rows");
    }
}

#[test]
fn rows_of_groups_with_the_same_names_can_be_told_apart() {
    let summary = summarize(&synthetic::in_two_groups(synthetic::standard()));
    let (comment, picture) = (ci::comment::render(&summary), ci::picture::render(&summary));
    for scenario in ["SimpleGet (group http4s)", "SimpleGet (group again)"] {
        assert!(comment.contains(&format!("| {scenario} | http4s.Tapir |")), "{comment}");
        assert_eq!(picture.matches(&format!("{scenario} · http4s.")).count(), 1, "{picture}");
    }
}

#[test]
fn nothing_in_a_comment_is_markup_of_a_server() {
    let text = ci::comment::render(&hostile_summary());
    assert!(!text.contains("</testcase>") || text.contains("```text"), "{text}");
    assert_eq!(text.matches("<!--").count(), 2, "the mark, and the place of the picture");
}
