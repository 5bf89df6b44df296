//! `tare run` where the server sends, and the search for the largest load that keeps a curve.

use crate::common::{Bench, all_of, cell, server, stderr};

const PUSHES: &str = r#"
[run]
users = 4
forks = 1
warmup = "200ms"

[scenarios.Push]
request = { path = "/ws/ts" }
expect = { status = 101 }
push = { period = "20ms", messages = 600 }

[scenarios.Get]
request = { path = "/path0/4" }
expect = { body = "4" }

"#;

fn suite() -> String {
    let period = ["--push-period-ms", "20"];
    [PUSHES.to_owned(), server("bare", None, &period), server("other", Some("bare"), &period)].concat()
}

#[test]
fn each_user_receives_all_of_its_messages() {
    let bench = Bench::new();
    let output = bench.run_suite(&suite(), &["-m", "Push", "--messages", "5"]);
    let said = all_of(&output);
    let summary = bench.summary();
    for variant in ["bare", "other"] {
        let messages = &cell(&summary, variant)["messages"];
        let counts = ["received", "subscriptions", "missing", "duplicated"].map(|key| messages[key].as_u64().unwrap());
        assert_eq!(counts, [20, 4, 0, 0], "{said}");
        assert_eq!(cell(&summary, variant)["latency"][0]["slice_kind"], "push");
    }
    assert!(said.contains("20 messages to 4 users, none missing"), "{said}");
    bench.assert_nothing_left();
}

#[test]
fn what_is_pushed_is_profiled_like_any_other_load() {
    let bench = Bench::new();
    bench.suite(&suite());
    let flags = ["--suite", "suite.toml", "--forks", "1", "--span", "300ms", "-e", "cpu"];
    let output = bench.run(&[&["profile", "other", "Push"][..], &flags].concat());
    let said = all_of(&output);
    // Where perf is missing, the sampler says so: it has been called.
    assert!(output.status.success() || said.contains("perf"), "{said}");
    bench.assert_nothing_left();
}

#[test]
fn a_curve_that_always_holds_is_kept_by_the_most_that_is_tried() {
    let bench = Bench::new();
    let search = ["-m", "Get,Push", "--slo", "p50<10s,p99<10s,errors<50%", "--slo-by", "users", "--slo-most", "20"];
    let output = bench.run_suite(&suite(), &[&search[..], &["--slo-each", "200ms"]].concat());
    let said = all_of(&output);
    let summary = bench.summary();
    let capacity = &cell(&summary, "other")["capacity"];
    assert_eq!((&capacity["load"]["value"], &capacity["forks_at_most"]), (&20.0.into(), &1.into()), "{said}");
    assert!(said.contains("up to 20 users at least, the largest load that was tried"), "{said}");
    // Both keep all that is tried, which says nothing of a difference.
    for comparison in summary["comparisons"].as_array().unwrap() {
        let first = &comparison["currencies"][0];
        assert_eq!((&first["name"], &first["verdict"]), (&"capacity".into(), &"inconclusive".into()), "{said}");
        assert_eq!(first["bound"], "unknown", "{first}");
    }
    assert!(said.contains("--slo-most tries more") && !said.contains("no material difference in capacity"), "{said}");
    let none = bench.run_suite(&suite(), &["-m", "Get", "--slo", "p99>4ms"]);
    assert!(stderr(&none).contains("write upper limits"), "{}", stderr(&none));
}
