//! Results of other tools, as their documents describe them.

use std::path::Path;
use std::time::Duration;

use tare_report::import::{ImportOrigin, ImportedFigure, ImportedResult, import};
use tare_stats::Polarity;
use tare_stats::histogram::{LatencyHistogram, interval_log};

const K6: &str = r#"{"metrics": {
    "http_req_duration": {"avg": 1.5, "min": 0.2, "med": 1.25, "max": 9.5, "p(90)": 2.5, "p(95)": 3.25},
    "http_reqs": {"count": 1000, "rate": 99.5}}, "root_group": {"name": ""}}"#;
const K6_HANDLED: &str = r#"{"metrics": {
    "http_req_duration": {"type": "trend", "contains": "time", "values": {"avg": 1.5, "med": 1.25, "p(95)": 3.25}},
    "http_reqs": {"type": "counter", "values": {"count": 1000, "rate": 99.5}}}}"#;
const OHA: &str = r#"{"summary": {"successRate": 1.0, "total": 10.0, "slowest": 0.02, "fastest": 0.0001, "average": 0.0005,
    "requestsPerSec": 20000.5, "totalData": 1, "sizePerRequest": 1, "sizePerSec": 1.0},
    "latencyPercentiles": {"p10": 0.0002, "p50": 0.0004, "p90": 0.0008, "p99": 0.0012, "p99.9": null}}"#;
const JMH: &str = r#"[{"benchmark": "org.example.Parse.uri", "mode": "avgt", "params": {"size": "16"},
    "primaryMetric": {"score": 12.5, "scoreError": 0.5, "scoreConfidence": [12.0, 13.0], "scoreUnit": "ns/op"}},
    {"benchmark": "org.example.Parse.path", "mode": "thrpt",
    "primaryMetric": {"score": 8.0, "scoreError": "NaN", "scoreConfidence": ["NaN", "NaN"], "scoreUnit": "ops/us"}}]"#;
const HYPERFINE: &str = r#"{"results": [{"command": "sleep 0.1", "mean": 0.1, "stddev": 0.01, "median": 0.1, "user": 0.0,
    "system": 0.0, "min": 0.09, "max": 0.11, "times": [0.09, 0.1, 0.11], "exit_codes": [0, 0, 0]}]}"#;
const CRITERION: &str = r#"{"mean": {"confidence_interval": {"confidence_level": 0.95, "lower_bound": 9.5, "upper_bound": 10.5},
    "point_estimate": 10.0, "standard_error": 0.25},
    "median": {"confidence_interval": {"confidence_level": 0.95, "lower_bound": 9.0, "upper_bound": 10.0},
    "point_estimate": 9.5, "standard_error": 0.25}}"#;

fn read(file: &str, text: &str) -> ImportedResult {
    let path = &Path::new("/home/me").join(file);
    let origin = ImportOrigin { file: Path::new(file), path, at: "2026-11-20T00:00:00Z".to_owned(), revision: None };
    import(text, origin).unwrap()
}

fn figure<'a>(result: &'a ImportedResult, figure: &str) -> &'a ImportedFigure {
    result.figures.iter().find(|one| one.figure == figure).unwrap_or_else(|| panic!("no {figure} in {result:#?}"))
}

#[test]
fn k6_is_read_in_both_of_its_forms() {
    for text in [K6, K6_HANDLED] {
        let result = read("load.json", text);
        assert_eq!((result.tool.as_str(), result.figures[0].name.as_str()), ("k6", "load"));
        assert_eq!((figure(&result, "p50").value, figure(&result, "p95").value), (1.25, 3.25));
        let rate = figure(&result, "throughput");
        assert_eq!((rate.value, rate.polarity), (99.5, Polarity::HigherIsBetter));
    }
}

#[test]
fn oha_is_read_without_percentiles_that_it_lacks() {
    let result = read("oha.json", OHA);
    assert_eq!((result.tool.as_str(), result.figures.len()), ("oha", 4));
    assert_eq!((figure(&result, "p99").value, figure(&result, "throughput").value), (0.0012, 20000.5));
}

#[test]
fn jmh_is_read_with_intervals_parameters_and_direction() {
    let result = read("jmh.json", JMH);
    let [uri, path] = &result.figures[..] else { panic!("{result:#?}") };
    assert_eq!((uri.name.as_str(), uri.lo, uri.hi), ("org.example.Parse.uri (size=16)", Some(12.0), Some(13.0)));
    assert_eq!((path.lo, path.polarity), (None, Polarity::HigherIsBetter));
    assert_eq!((uri.unit.as_str(), uri.polarity), ("ns/op", Polarity::LowerIsBetter));
}

#[test]
fn a_score_that_is_no_number_is_left_out_by_name() {
    let without = JMH.replace(r#""score": 8.0"#, r#""score": "NaN""#);
    let result = read("jmh.json", &without);
    assert_eq!((result.figures.len(), &*result.left_out), (1, &["org.example.Parse.path".to_owned()][..]));
    let origin =
        ImportOrigin { file: Path::new("jmh.json"), path: Path::new("jmh.json"), at: String::new(), revision: None };
    let error = import(&without.replace(r#""score": 12.5"#, r#""score": "NaN""#), origin).unwrap_err().to_string();
    assert!(
        error.contains("it is of jmh, but holds no figure: no number for org.example.Parse.uri (size=16), "),
        "{error}"
    );
}

#[test]
fn figures_of_one_file_have_different_names() {
    let names = |text: &str| read("a.json", text).figures.into_iter().map(|one| one.name).collect::<Vec<_>>();
    let entry = |threads: u32| {
        let metric = r#"{"score": 5.0, "scoreUnit": "ops/s"}"#;
        format!(r#"{{"benchmark": "B.c", "mode": "thrpt", "threads": {threads}, "primaryMetric": {metric}}}"#)
    };
    assert_eq!(names(&format!("[{}, {}]", entry(1), entry(8))), ["B.c", "B.c (threads=8)"]);
    assert_eq!(names(&format!("[{}, {}]", entry(8), entry(8))), ["B.c (threads=8)", "B.c (threads=8) (2)"]);
    let command = r#"{"command": "sleep 1", "mean": 1.0}"#;
    assert_eq!(names(&format!(r#"{{"results": [{command}, {command}]}}"#)), ["sleep 1", "sleep 1 (2)"]);
}

#[test]
fn a_byte_order_mark_is_no_text() {
    assert_eq!(read("load.json", &format!("\u{feff}{K6}")).tool, "k6");
}

#[test]
fn hyperfine_gets_students_interval_of_its_times() {
    let result = read("bench.json", HYPERFINE);
    let mean = figure(&result, "mean");
    // t(0.975, 2) = 4.3027, sd 0.01: ± 0.02484.
    assert_eq!(mean.name, "sleep 0.1");
    assert!((mean.hi.unwrap() - 0.124_84).abs() < 1e-4, "{mean:?}");
}

#[test]
fn criterion_is_named_by_its_folders() {
    let result = read("target/criterion/parse/uri/new/estimates.json", CRITERION);
    assert_eq!((result.tool.as_str(), result.figures[0].name.as_str()), ("criterion", "parse/uri"));
    assert_eq!((figure(&result, "mean").value, figure(&result, "median").lo), (10.0, Some(9.0)));
    let name = |path: &str| {
        let file = Path::new("estimates.json");
        let origin = ImportOrigin { file, path: Path::new(path), at: String::new(), revision: None };
        import(CRITERION, origin).unwrap().figures[0].name.clone()
    };
    assert_eq!(name("/repo/target/criterion/parse/uri/new/estimates.json"), "parse/uri", "from within its folder");
    assert_eq!(name("/results/parse/new/estimates.json"), "parse");
    assert_eq!(name("/results/parse/estimates.json"), "parse");
    assert_eq!(name("/target/criterion/estimates.json"), "estimates");
}

#[test]
fn an_interval_log_is_read_whole() {
    let mut histogram = LatencyHistogram::new();
    (1..=1_000).for_each(|i| histogram.record_ns(i * 1_000));
    let parts = [(Duration::ZERO, Duration::from_secs(1), histogram)];
    let result = read("run.hlog", &interval_log(Duration::ZERO, parts.into_iter()));
    assert_eq!(result.tool, "hdr-histogram");
    assert!((figure(&result, "p50").value / 500_000.0 - 1.0).abs() < 0.01, "{result:#?}");
}

#[test]
fn what_cannot_be_read_names_the_file_and_what_can_be() {
    for (text, says) in [
        (&K6[..40], "it is no whole JSON"),
        ("{\"some\": 1}", "no tool that tare knows wrote it"),
        ("[]", "holds no figure"),
        ("", "the log has no histogram"),
        ("plain text", "no interval log"),
        (r#"[{"benchmark": "cut"}]"#, "no tool that tare knows wrote it"),
    ] {
        let file = Path::new("dir/cut.json");
        let origin = ImportOrigin { file, path: file, at: String::new(), revision: None };
        let error = import(text, origin).unwrap_err().to_string();
        assert!(error.contains("cannot import dir/cut.json") && error.contains(says), "{text}: {error}");
        assert!(error.contains("hyperfine (--export-json)"), "{error}");
    }
}
