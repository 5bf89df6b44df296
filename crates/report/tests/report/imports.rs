//! Results of other tools, as their documents describe them.

mod contents;
mod names;

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
const CRITERION: &str = r#"{"std_dev": {}, "mean": {"confidence_interval": {"confidence_level": 0.95, "lower_bound": 9.5, "upper_bound": 10.5},
    "point_estimate": 10.0, "standard_error": 0.25},
    "median": {"confidence_interval": {"confidence_level": 0.95, "lower_bound": 9.0, "upper_bound": 10.0},
    "point_estimate": 9.5, "standard_error": 0.25}}"#;

fn read(file: &str, text: &str) -> ImportedResult {
    let path = &Path::new("/home/me").join(file);
    import(text, origin(file, path)).unwrap()
}

fn origin<'a>(file: &'a str, path: &'a Path) -> ImportOrigin<'a> {
    let written_at = "2026-11-20T00:00:00Z".to_owned();
    ImportOrigin { file: Path::new(file), path, stated_at: None, written_at, revision: None }
}

fn refusal(file: &str, text: &str) -> String {
    import(text, origin(file, Path::new(file))).unwrap_err().to_string()
}

/// All figures as `name figure = value unit`, with an arrow for the good direction.
fn lines(result: &ImportedResult) -> Vec<String> {
    let arrow = |one: &ImportedFigure| if one.polarity == Polarity::HigherIsBetter { '↑' } else { '↓' };
    result
        .figures
        .iter()
        .map(|one| format!("{} {} = {} {} {}", one.name, one.figure, one.estimate.value, one.unit, arrow(one)))
        .collect()
}

fn figure<'a>(result: &'a ImportedResult, figure: &str) -> &'a ImportedFigure {
    result.figures.iter().find(|one| one.figure == figure).unwrap_or_else(|| panic!("no {figure} in {result:#?}"))
}

#[test]
fn k6_is_read_in_both_of_its_forms() {
    for text in [K6, K6_HANDLED] {
        let result = read("load.json", text);
        assert_eq!((result.tool.as_str(), result.figures[0].name.as_str()), ("k6", "load"));
        assert_eq!((figure(&result, "p50").estimate.value, figure(&result, "p95").estimate.value), (1.25, 3.25));
        let rate = figure(&result, "throughput");
        assert_eq!((rate.estimate.value, rate.polarity), (99.5, Polarity::HigherIsBetter));
    }
}

#[test]
fn oha_is_read_without_percentiles_that_it_lacks() {
    let result = read("oha.json", OHA);
    assert_eq!((result.tool.as_str(), result.figures.len(), &*result.left_out), ("oha", 5, &["p99.9".to_owned()][..]));
    assert_eq!(
        (figure(&result, "p99").estimate.value, figure(&result, "throughput").estimate.value),
        (0.0012, 20000.5)
    );
}

#[test]
fn jmh_is_read_with_intervals_parameters_and_direction() {
    let result = read("jmh.json", JMH);
    let [uri, path] = &result.figures[..] else { panic!("{result:#?}") };
    assert_eq!(
        (uri.name.as_str(), uri.estimate.lo, uri.estimate.hi),
        ("org.example.Parse.uri (size=16)", Some(12.0), Some(13.0))
    );
    assert_eq!((path.estimate.lo, path.polarity), (None, Polarity::HigherIsBetter));
    assert_eq!((uri.unit.as_str(), uri.polarity), ("ns/op", Polarity::LowerIsBetter));
}

#[test]
fn a_score_that_is_no_number_is_left_out_by_name() {
    let without = JMH.replace(r#""score": 8.0"#, r#""score": "NaN""#);
    let result = read("jmh.json", &without);
    assert_eq!((result.figures.len(), &*result.left_out), (1, &["org.example.Parse.path".to_owned()][..]));
    let error = refusal("jmh.json", &without.replace(r#""score": 12.5"#, r#""score": "NaN""#));
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
    assert!((mean.estimate.hi.unwrap() - 0.124_84).abs() < 1e-4, "{mean:?}");
}

#[test]
fn criterion_is_named_by_its_folders() {
    let result = read("target/criterion/parse/uri/new/estimates.json", CRITERION);
    assert_eq!((result.tool.as_str(), result.figures[0].name.as_str()), ("criterion", "parse/uri"));
    assert_eq!((figure(&result, "mean").estimate.value, figure(&result, "median").estimate.lo), (10.0, Some(9.0)));
    let name =
        |path: &str| import(CRITERION, origin("estimates.json", Path::new(path))).unwrap().figures[0].name.clone();
    assert_eq!(name("/repo/target/criterion/parse/uri/new/estimates.json"), "parse/uri", "from within its folder");
    assert_eq!(name("/results/parse/new/estimates.json"), "parse");
    assert_eq!(name("/results/parse/estimates.json"), "parse");
    assert_eq!(name("/target/criterion/estimates.json"), "estimates");
    assert_eq!(
        name("/repo/target/criterion/parse/uri/base/estimates.json"),
        "parse/uri (base)",
        "an earlier measurement"
    );
    let change = "target/criterion/parse/uri/change/estimates.json";
    assert!(refusal(change, CRITERION).contains("a share and no time. Give the folder target/criterion"));
    let capitals = CRITERION.replace("\"mean\"", "\"Mean\"").replace("\"median\"", "\"Median\"");
    assert_eq!(read("parse/new/estimates.json", &capitals).figures.len(), 2);
    let slope = CRITERION.replacen('{', r#"{"slope": null, "#, 1);
    assert_eq!(read("parse/new/estimates.json", &slope).figures.len(), 2, "a benchmark of few iterations has no slope");
}

#[test]
fn an_interval_log_is_read_whole() {
    let mut histogram = LatencyHistogram::new();
    (1..=1_000).for_each(|i| histogram.record_ns(i * 1_000));
    let parts = [(Duration::ZERO, Duration::from_secs(1), histogram)];
    let result = read("run.hlog", &interval_log(Duration::ZERO, parts.into_iter()));
    assert_eq!(result.tool, "hdr-histogram");
    assert!((figure(&result, "p50").estimate.value / 500_000.0 - 1.0).abs() < 0.01, "{result:#?}");
}

#[test]
fn k6_keeps_every_statistic_and_every_part_and_names_what_it_leaves_out() {
    let chosen = r#"{"metrics": {"http_req_duration": {"p(98)": 6.33, "p(99.9)": 9.5, "max": 12.0, "count": 9, "odd": 1},
        "http_req_duration{name:login}": {"avg": 9}, "grpc_req_duration": {"avg": 4.5}, "iterations": {"count": 10, "rate": 5},
        "http_req_failed": {"passes": 1, "fails": 3, "value": 0.25}, "checks": {"passes": 1, "fails": 0}}}"#;
    let result = read("load.json", chosen);
    let expected = [
        "load (grpc_req_duration) mean = 4.5 ms ↓",
        "load max = 12 ms ↓",
        "load p98 = 6.33 ms ↓",
        "load p99.9 = 9.5 ms ↓",
        "load (http_req_duration{name:login}) mean = 9 ms ↓",
        "load failed = 0.25 share ↓",
        "load (iterations) throughput = 5 per_s ↑",
    ];
    assert_eq!(lines(&result), expected);
    assert_eq!(result.left_out, ["checks", "odd of http_req_duration"]);
    let version_1 = r#"{"version": "1.0.0", "results": {"metrics": [
        {"name": "http_req_duration", "type": "trend", "contains": "time", "values": {"avg": 4.2, "p95": 6.3}},
        {"name": "http_reqs", "type": "counter", "values": {"count": 3, "rate": 1.5}}]}}"#;
    let expected = ["load mean = 4.2 ms ↓", "load p95 = 6.3 ms ↓", "load throughput = 1.5 per_s ↑"];
    assert_eq!(lines(&read("load.json", version_1)), expected);
}

#[test]
fn the_unit_says_which_direction_of_jmh_is_good_whatever_the_mode() {
    let score = |mode: &str, unit: &str| {
        let metric =
            format!(r#"{{"score": 2.0, "scoreUnit": "{unit}", "scorePercentiles": {{"50.0": 1.5, "99.9": 9.0}}}}"#);
        let allocated = r#"{"·gc.alloc.rate.norm": {"score": 24.0, "scoreUnit": "B/op"}, "·gc.count": {"score": 3.0, "scoreUnit": "counts"}}"#;
        format!(
            r#"[{{"benchmark": "B.c", "mode": "{mode}", "primaryMetric": {metric}, "secondaryMetrics": {allocated}}}]"#
        )
    };
    let avgt = read("jmh.json", &score("avgt", "ops/s"));
    assert_eq!(lines(&avgt), ["B.c avgt = 2 ops/s ↑", "B.c gc.alloc.rate.norm = 24 B/op ↓"]);
    assert_eq!(avgt.left_out, ["gc.count of B.c"]);
    let sampled = lines(&read("jmh.json", &score("sample", "ns/op")));
    assert_eq!(sampled[..3], ["B.c sample = 2 ns/op ↓", "B.c p50 = 1.5 ns/op ↓", "B.c p99.9 = 9 ns/op ↓"]);
    let thrpt = lines(&read("jmh.json", &score("thrpt", "ops/us")));
    assert_eq!(thrpt[0], "B.c thrpt = 2 ops/us ↑");
}

#[test]
fn each_form_of_another_tool_has_its_figures() {
    for (tool, text, expected) in [
        (
            "vegeta",
            r#"{"latencies": {"total": 1, "mean": 2, "50th": 3, "99th": 4}, "requests": 10, "rate": 5, "throughput": 4.5, "success": 0.9}"#,
            &[
                "a mean = 2 ns ↓",
                "a p50 = 3 ns ↓",
                "a p99 = 4 ns ↓",
                "a throughput = 4.5 per_s ↑",
                "a success = 0.9 share ↑",
            ][..],
        ),
        (
            "fortio",
            r#"{"RunType": "HTTP", "StartTime": "2026-11-01T10:00:00.5+01:00", "ActualQPS": 100.0, "RetCodes": {"-1": 2, "200": 9, "SERVING": 1}, "DurationHistogram": {"Avg": 0.001, "Max": 0.5, "Percentiles": [{"Percentile": 99.9, "Value": 0.002}]}}"#,
            &["a mean = 0.001 s ↓", "a max = 0.5 s ↓", "a p99.9 = 0.002 s ↓", "a throughput = 100 per_s ↑"],
        ),
        (
            "autocannon",
            r#"{"requests": {"average": 1000, "total": 1}, "latency": {"average": 1, "p97_5": 2}, "2xx": 5, "non2xx": 3, "errors": 0}"#,
            &["a mean = 1 ms ↓", "a p97.5 = 2 ms ↓", "a throughput = 1000 per_s ↑"],
        ),
        (
            "bombardier",
            r#"{"spec": {}, "result": {"req2xx": 9, "req5xx": 4, "others": 1, "latency": {"mean": 120.5, "percentiles": {"50": 100, "99": 900}}, "rps": {"mean": 8000.0}}}"#,
            &["a mean = 120.5 us ↓", "a p50 = 100 us ↓", "a p99 = 900 us ↓", "a throughput = 8000 per_s ↑"],
        ),
        (
            "benchmark-dotnet",
            r#"{"HostEnvironmentInfo": {}, "Benchmarks": [{"FullName": "N.B.M(size: 2)", "Statistics": {"Mean": 12.5, "Median": 12.0}, "Memory": {"BytesAllocatedPerOperation": 24}}, {"FullName": "N.B.X", "Statistics": null}]}"#,
            &[
                "N.B.M(size: 2) mean = 12.5 ns ↓",
                "N.B.M(size: 2) median = 12 ns ↓",
                "N.B.M(size: 2) allocated = 24 B/op ↓",
            ],
        ),
        (
            "github-action-benchmark",
            r#"[{"name": "x", "unit": "ms", "value": 12.5}, {"name": "y", "unit": "req/s", "value": 3}, {"name": "z", "unit": "score", "value": 1}]"#,
            &["x value = 12.5 ms ↓", "y value = 3 req/s ↑"],
        ),
        (
            "wrk",
            "Running 10s test @ http://127.0.0.1:8080/\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   500.00us    0.89ms  12.50ms   93.69%\n    Req/Sec    56.20k     8.07k   62.00k    86.54%\n  Latency Distribution\n     50%  250.00us\n   99.900%    1.50s\n  Non-2xx or 3xx responses: 5\nRequests/sec: 748868.53\n",
            &[
                "a mean = 0.5 ms ↓",
                "a max = 12.5 ms ↓",
                "a p50 = 0.25 ms ↓",
                "a p99.9 = 1500 ms ↓",
                "a throughput = 748868.53 per_s ↑",
            ],
        ),
        (
            "locust",
            "Type,Name,Request Count,Failure Count,Average Response Time,Requests/s,Failures/s,50%,99.9%\nGET,/a,5,0,1.5,10,0.5,1,9\nGET,/b,0,0,0,0.0,0.0,N/A,N/A\n,Aggregated,5,0,1.5,10,0,N/A,9\n",
            &[
                "GET /a mean = 1.5 ms ↓",
                "GET /a throughput = 10 per_s ↑",
                "GET /a failures = 0.5 per_s ↓",
                "GET /a p50 = 1 ms ↓",
                "GET /a p99.9 = 9 ms ↓",
                "Aggregated mean = 1.5 ms ↓",
                "Aggregated throughput = 10 per_s ↑",
                "Aggregated failures = 0 per_s ↓",
                "Aggregated p99.9 = 9 ms ↓",
            ],
        ),
        (
            "go",
            "goos: linux\nBenchmarkX-8   \t 100\t 12 ns/op\t 8 B/op\t 7 things\nBenchmarkX-8   \t 100\t 14 ns/op\t 8 B/op\t 7 things\nPASS\n",
            &["BenchmarkX-8 mean = 8 B/op ↓", "BenchmarkX-8 mean = 13 ns/op ↓"],
        ),
    ] {
        let result = read("a.json", text);
        assert_eq!(
            (result.tool.as_str(), &lines(&result)[..]),
            (tool, &expected.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>()[..])
        );
        let left_out: &[&str] = match tool {
            "benchmark-dotnet" => &["N.B.X"],
            "github-action-benchmark" => &["z (whether more of the unit \"score\" is better is not in the file)"],
            "wrk" => &["Non-2xx or 3xx responses: 5"],
            "locust" => &["GET /b (no requests)", "p50"],
            "autocannon" => &["non2xx: 3"],
            "bombardier" => &["req5xx: 4", "others: 1"],
            "fortio" => &["status -1: 2"],
            "go" => &["things of BenchmarkX-8"],
            _ => &[],
        };
        assert_eq!(result.left_out, left_out, "{tool}");
        assert_eq!(result.at, if tool == "fortio" { "2026-11-01T09:00:00Z" } else { "2026-11-20T00:00:00Z" }, "{tool}");
    }
}

#[test]
fn a_text_of_wrk_without_a_success_leaves_those_beside_it_their_names() {
    let text = |mean: &str, rate: &str| format!("    Latency {mean} 1.00ms 2.00ms 90.00%\nRequests/sec: {rate}\n");
    let (failed, good) = (text("0.00us", "0.00"), text("1.50ms", "8.50"));
    for (texts, name) in [([&failed, &good], "a (2)"), ([&good, &failed], "a")] {
        let result = read("a.txt", &texts.map(String::as_str).concat());
        let expected = ["mean = 1.5 ms ↓", "max = 2 ms ↓", "throughput = 8.5 per_s ↑"];
        assert_eq!(lines(&result), expected.map(|figure| format!("{name} {figure}")));
        assert_eq!(result.left_out.len(), 3, "{:?}", result.left_out);
    }
}

#[test]
fn a_stated_time_counts_before_that_of_the_file() {
    let text = r#"{"StartTime": "2026-11-01T10:00:00Z", "ActualQPS": 1.0, "DurationHistogram": {"Avg": 1.0}}"#;
    let stated =
        ImportOrigin { stated_at: Some("2026-10-01T00:00:00Z".to_owned()), ..origin("a.json", Path::new("a.json")) };
    assert_eq!(import(text, stated).unwrap().at, "2026-10-01T00:00:00Z");
}

#[test]
fn a_load_of_tare_is_named_by_its_url_and_dated_by_itself() {
    let load = r#"{"schema": "tare-load/1", "url": "http://localhost:8080/", "started_at": "2026-11-02T06:53:38Z", "verdict": {"state": "valid"},
        "throughput_per_s": 900.5, "requests": {"failed_share": 0.25},
        "response": {"mean_ns": 10.5, "max_ns": 40, "percentiles": [{"percentile": 50.0, "value_ns": 9}, {"percentile": 99.9, "value_ns": 39}]}}"#;
    let result = read("load.json", load);
    let name = "http://localhost:8080/";
    let expected = [
        "mean = 10.5 ns ↓",
        "max = 40 ns ↓",
        "p50 = 9 ns ↓",
        "p99.9 = 39 ns ↓",
        "throughput = 900.5 per_s ↑",
        "failed = 0.25 share ↓",
    ];
    assert_eq!(lines(&result), expected.map(|figure| format!("{name} {figure}")));
    assert_eq!(result.at, "2026-11-02T06:53:38Z");
    let void = load.replace("valid", "void");
    // A command may hold a whole body, and `jq -S` sorts the keys.
    let long = void.replace(r#""verdict""#, &format!(r#""command": "{}", "verdict""#, "x".repeat(5_000)));
    let sorted =
        void.replacen(r#""schema": "tare-load/1", "#, "", 1).replacen("]}}", r#"]}, "schema": "tare-load/1"}"#, 1);
    for text in [&void, &long, &sorted] {
        assert!(refusal("load.json", text).contains("a load that tare calls void"), "{text}");
    }
}

#[test]
fn what_cannot_be_read_names_the_file_and_what_can_be() {
    for (text, says) in [
        (&K6[..40], "it is no whole JSON"),
        ("{\"some\": 1}", "no tool that tare knows wrote it: it is JSON with the keys some"),
        ("[]", "its entries are of no form that tare knows"),
        ("", "it is empty"),
        ("plain text", "no tool that tare knows wrote it: it is text that begins with \"plain text\""),
        (r#"[{"benchmark": "cut", "primaryMetric": {}}]"#, "it is of jmh, but entry 1 of it is not whole"),
        (r#"{"results": [{"command": "cut"}]}"#, "it is of hyperfine, but entry 1 of it is not whole"),
        ("{\"type\": \"Metric\", \"metric\": \"http_reqs\"}\n{\"type\": \"Point\"}", "it is the single points of k6"),
        ("RUN\tbasic.S\ts\t1700000000000\t \t3.9.5\n", "it is Gatling's simulation.log"),
        ("timeStamp,elapsed,label,responseCode\n1,12,home,200\n", "it is JMeter's JTL"),
        (r#"{"schema": "tare-summary/1", "run": {}}"#, "it is the summary of tare run"),
        (
            r#"{"summary": {"successRate": 0.0}, "latencyPercentiles": {"p50": null}}"#,
            "it has figures, but no request of it succeeded",
        ),
        (
            r#"{"requests": {"average": 1000}, "latency": {"average": 1}, "2xx": 0, "non2xx": 3}"#,
            "it has figures, but no request of it succeeded",
        ),
        (
            r#"{"ActualQPS": 100.0, "RetCodes": {"503": 9}, "DurationHistogram": {"Avg": 0.001}}"#,
            "it has figures, but no request of it succeeded",
        ),
        (
            r#"{"result": {"req2xx": 0, "others": 9, "latency": {"mean": 1}, "rps": {"mean": 5}}}"#,
            "it has figures, but no request of it succeeded",
        ),
        (
            r#"{"metrics": {"http_req_duration": {"avg": 1.5}, "http_req_failed": {"value": 1.0}}}"#,
            "it has figures, but no request of it succeeded",
        ),
        (
            "    Latency     0.00us    0.00us   0.00us    -nan%\nRequests/sec:      0.00\n",
            "it has figures, but no request of it succeeded",
        ),
        (
            r#"[{"name": "z", "unit": "score", "value": 1}]"#,
            "holds no figure: no number for z (whether more of the unit",
        ),
    ] {
        let error = refusal("dir/cut.json", text);
        assert!(error.contains("cannot import dir/cut.json") && error.contains(says), "{text}: {error}");
        assert!(error.contains("hyperfine (--export-json)"), "{error}");
    }
}
