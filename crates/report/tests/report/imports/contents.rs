//! What the file of another tool says of its answers, its percentiles, and its own kind.

use super::{read, refusal};

#[test]
fn answers_that_oha_takes_for_successes_are_counted_by_their_status() {
    let of = |statuses: &str| {
        format!(
            r#"{{"summary": {{"successRate": 1.0, "requestsPerSec": 5.0}}, "latencyPercentiles": {{"p50": 0.1}},
                "statusCodeDistribution": {{{statuses}}}}}"#
        )
    };
    assert!(refusal("a.json", &of(r#""503": 500"#)).contains("no request of it succeeded"));
    let both = read("a.json", &of(r#""200": 300, "500": 200"#));
    assert_eq!((both.figures.len(), &*both.left_out), (3, &["status 500: 200".to_owned()][..]));
}

#[test]
fn every_percentile_of_jmh_is_a_figure() {
    let percentiles = r#"{"0.0": 1, "50.0": 2, "90.0": 3, "95.0": 4, "99.0": 5, "99.9": 6, "99.9999": 7, "100.0": 8}"#;
    let metric = format!(r#"{{"score": 2.5, "scoreUnit": "us/op", "scorePercentiles": {percentiles}}}"#);
    let result = read("a.json", &format!(r#"[{{"benchmark": "B", "mode": "sample", "primaryMetric": {metric}}}]"#));
    let found: Vec<(&str, f64)> =
        result.figures.iter().map(|figure| (&*figure.figure, figure.estimate.value)).collect();
    let of_requests = [("p50", 2.0), ("p90", 3.0), ("p95", 4.0), ("p99", 5.0), ("p99.9", 6.0), ("p99.9999", 7.0)];
    for wanted in of_requests.into_iter().chain([("sample", 2.5), ("min", 1.0), ("max", 8.0)]) {
        assert!(found.contains(&wanted), "{wanted:?} in {found:?}");
    }
    assert_eq!((found.len(), result.left_out.len()), (9, 0));
}

#[test]
fn a_change_of_criterion_is_no_time_wherever_it_lies() {
    let estimate = r#"{"point_estimate": 0.07, "confidence_interval": {"lower_bound": 0.05, "upper_bound": 0.09}}"#;
    let change = format!(r#"{{"mean": {estimate}, "median": {estimate}}}"#);
    assert!(refusal("saved/estimates.json", &change).contains("criterion's change between two measurements"));
}

#[test]
fn lines_with_an_object_each_are_not_called_broken() {
    let lines = "{\"latency\": 5, \"code\": 200}\n{\"latency\": 6, \"code\": 200}\n";
    let said = refusal("a.json", lines);
    assert!(said.contains("a JSON object in each line, the first with the keys"), "{said}");
    assert!(refusal("a.json", "{\"latency\":\n").contains("no whole JSON"));
}
