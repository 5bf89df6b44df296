//! Names and times of the results of other tools: figures that would share a line have each their own.

use std::time::Duration;

use tare_stats::histogram::{LatencyHistogram, interval_log};

use super::{lines, read};

#[test]
fn benchmarks_of_several_go_packages_are_told_apart_and_a_log_between_them_is_no_result() {
    let one = "pkg: example.com/a\nBenchmarkParse-8 10 1000 ns/op\n";
    let two = "BenchmarkLog-8 100 messages were dropped\npkg: example.com/b\nBenchmarkParse-8 10 9000 ns/op\n";
    assert_eq!(lines(&read("go.txt", one)), ["BenchmarkParse-8 mean = 1000 ns/op ↓"]);
    let both = read("go.txt", &[one, two].concat());
    assert_eq!(both.left_out, ["BenchmarkLog-8 100 messages were dropped"]);
    assert_eq!(
        lines(&both),
        ["example.com/a.BenchmarkParse-8 mean = 1000 ns/op ↓", "example.com/b.BenchmarkParse-8 mean = 9000 ns/op ↓"]
    );
}

#[test]
fn a_benchmark_under_several_jobs_has_a_line_for_each() {
    let entry = |job: &str, mean: &str| {
        let statistics = if mean.is_empty() { "null".to_owned() } else { format!("{{\"Mean\": {mean}}}") };
        format!("{{\"FullName\": \"N.X\", \"DisplayInfo\": \"N.X: {job}\", \"Statistics\": {statistics}}}")
    };
    let of = |entries: [String; 2]| {
        let text = format!("{{\"HostEnvironmentInfo\": {{}}, \"Benchmarks\": [{}]}}", entries.join(", "));
        let result = read("x.json", &text);
        (lines(&result), result.left_out.clone())
    };
    let (both, _) = of([entry("net6", "100"), entry("net8", "50")]);
    assert_eq!(both, ["N.X (net6) mean = 100 ns ↓", "N.X (net8) mean = 50 ns ↓"]);
    let (one, left_out) = of([entry("net6", ""), entry("net8", "50")]);
    assert_eq!((one, left_out), (vec!["N.X (net8) mean = 50 ns ↓".to_owned()], vec!["N.X (net6)".to_owned()]));
}

#[test]
fn loads_of_one_url_by_another_model_or_with_other_urls_are_other_lines() {
    let load = |model: &str, urls: &str| {
        let text = format!(
            "{{\"url\": \"http://h/a\", \"model\": {{\"text\": \"{model}\"}}, \"throughput_per_s\": 5, {urls}
             \"response\": {{\"percentiles\": []}}}}"
        );
        lines(&read("load.json", &text)).remove(0)
    };
    assert_eq!(load("closed loop", ""), "http://h/a, closed loop throughput = 5 per_s ↑");
    assert_eq!(load("open loop", ""), "http://h/a, open loop throughput = 5 per_s ↑");
    let two = "\"urls\": [{\"url\": \"GET /a\"}, {\"url\": \"GET /b\"}],";
    assert_eq!(load("closed loop", two), "http://h/a, GET /b, closed loop throughput = 5 per_s ↑");
}

#[test]
fn a_file_that_says_when_it_measured_is_of_that_time() {
    let vegeta = r#"{"latencies": {"mean": 2, "99th": 4}, "earliest": "2026-11-01T10:00:00+01:00", "throughput": 4.5}"#;
    assert_eq!(read("a.json", vegeta).at, "2026-11-01T09:00:00Z");
    let log = "#[StartTime: 1761991200.5 (seconds since epoch), at 1970]\n";
    let mut times = LatencyHistogram::new();
    times.record_ns(1_000);
    let intervals = interval_log(Duration::ZERO, std::iter::once((Duration::ZERO, Duration::from_secs(1), times)));
    assert_eq!(read("run.hlog", &[log, &intervals].concat()).at, "2025-11-01T10:00:00Z");
    assert_eq!(read("run.hlog", &["#[StartTime: x]\n", &intervals].concat()).at, "2026-11-20T00:00:00Z");
}

#[test]
fn histograms_of_different_tags_are_different_results() {
    let mut histogram = LatencyHistogram::new();
    histogram.record_ns(1_000);
    let part = (Duration::ZERO, Duration::from_secs(1), histogram);
    let log = interval_log(Duration::ZERO, [part.clone(), part.clone(), part].into_iter());
    let tags = ["", "Tag=read,", "Tag=write,"];
    let mut intervals = 0;
    let tagged = log.lines().map(|line| {
        let is_interval = line.contains("HISTFAAA");
        intervals += usize::from(is_interval);
        format!("{}{line}\n", if is_interval { tags[intervals - 1] } else { "" })
    });
    let names = |log: &str| -> Vec<String> {
        let medians = read("run.hlog", log).figures.into_iter().filter(|one| one.figure == "p50");
        medians.map(|one| one.name).collect()
    };
    assert_eq!(names(&tagged.collect::<String>()), ["run", "run (read)", "run (write)"]);
    assert_eq!(names(&log), ["run"]);
}
