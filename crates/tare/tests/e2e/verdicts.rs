//! Verdicts on servers with planted costs: a planted difference is found, and equal servers are never called different.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{
    Bench, QUICK, TARE, all_of, cell, comparison, is_disturbed, measured_forks, server, skip, stderr, stdout,
};
use tare_sys::affinity::{CpuSet, allowed_cpus, pin_current_thread};

#[test]
fn a_planted_slowdown_of_five_percent_is_found() {
    let bench = Bench::new();
    let suite = [
        QUICK.to_owned(),
        server("bare", None, &["--base-ns", "300000"]),
        server("wrapped", Some("bare"), &["--base-ns", "300000", "--spin-percent", "5"]),
    ]
    .concat();
    let output = bench.run_suite(&suite, &["--budget", "150s", "--saturating", "8", "--latency", "0s", "--control"]);
    let summary = bench.summary();
    let currencies = &comparison(&summary, "wrapped")["currencies"];
    let cpu = &currencies[0];
    if is_disturbed(&summary) {
        assert_ne!(cpu["verdict"], "better", "{cpu:#}");
        return skip("other programs were busy, so the ratio may be off");
    }
    assert!(output.status.success(), "{}", all_of(&output));
    assert_eq!(cpu["name"], "cpu_per_request", "it decides where servers alternate in turns");
    assert_eq!(cpu["verdict"], "worse", "{cpu:#}");
    let ratio = cpu["ratio"].as_f64().unwrap();
    assert!((1.02..1.08).contains(&ratio), "planted 1.05, found {ratio}");
    let throughput = &currencies[1];
    assert_eq!(throughput["name"], "throughput");
    let ratio = throughput["ratio"].as_f64().unwrap();
    assert!((0.92..0.98).contains(&ratio), "planted 1/1.05, found {ratio}");
    assert!(stdout(&output).contains("wrapped"), "the table names it");
    assert!(
        summary["noise"].as_array().unwrap().iter().any(|noise| noise["server"] == "bare"),
        "an A/A control stood beside"
    );
    bench.assert_nothing_left();
}

#[test]
fn other_work_on_the_cores_is_reported() {
    let cpu = allowed_cpus().unwrap().iter().next().unwrap();
    let ended = Arc::new(AtomicBool::new(false));
    let neighbour = {
        let ended = Arc::clone(&ended);
        std::thread::spawn(move || {
            pin_current_thread(&CpuSet::from_indices([cpu])).unwrap();
            while !ended.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        })
    };
    let bench = Bench::new();
    let suite = [QUICK.to_owned(), server("bare", None, &["--base-ns", "200000"])].concat();
    let output = bench.run_suite(&suite, &["-d", "1", "-u", "4", "--server-cpus", &cpu.to_string()]);
    ended.store(true, Ordering::Relaxed);
    neighbour.join().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let reasons = cell(&bench.summary(), "bare")["validity"]["reasons"].to_string();
    assert!(reasons.contains("other programs used up to"), "{reasons}");
}

/// A comparison states no difference. On a busy machine it may have too few forks for any verdict.
fn assert_not_different(summary: &serde_json::Value, variant: &str) {
    let verdict = &comparison(summary, variant)["currencies"][0]["verdict"];
    assert!(verdict != "worse" && verdict != "better", "{verdict}");
}

#[test]
fn two_identical_servers_are_never_called_different() {
    let bench = Bench::new();
    let flags = ["--base-ns", "200000"];
    let suite = [QUICK.to_owned(), server("bare", None, &flags), server("wrapped", Some("bare"), &flags)].concat();
    let output = bench.run_suite(&suite, &["--budget", "12s", "--alpha", "0.001"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_not_different(&bench.summary(), "wrapped");
}

#[test]
fn a_server_against_itself_is_a_comparison_of_its_own() {
    let bench = Bench::new();
    let suite = [QUICK.to_owned(), server("bare", None, &["--base-ns", "200000"])].concat();
    let output = bench.run_suite(&suite, &["--aa", "bare", "--forks", "3"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let summary = bench.summary();
    assert_not_different(&summary, "bare (again)");
    let bare = cell(&summary, "bare");
    assert_eq!(measured_forks(bare), 3);
    let loads: Vec<(&str, bool)> = bare["latency"]
        .as_array()
        .unwrap()
        .iter()
        .map(|load| (load["slice_kind"].as_str().unwrap(), load["offered_per_s"].is_null()))
        .collect();
    assert_eq!(loads, [("saturating", true), ("poisson", false)], "only an open load has a rate");
}

#[test]
fn a_plain_sequential_run_has_figures_and_no_intervals() {
    let bench = Bench::new();
    let suite = [QUICK.to_owned(), server("bare", None, &[]), server("wrapped", Some("bare"), &["--spin-ns", "50000"])]
        .concat();
    let output = bench.run_suite(&suite, &["-d", "2", "-u", "4"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let summary = bench.summary();
    assert_eq!(summary["run"]["mode"], "sequential");
    let throughput = &comparison(&summary, "wrapped")["currencies"][0];
    assert_eq!(throughput["verdict"], "no_interval");
    assert!(throughput["lo"].is_null() && throughput["hi"].is_null());
    let run = bench.path().join(".tare/runs").join(summary["run"]["id"].as_str().unwrap());
    for file in ["report.html", "summary.json", "cells.csv", "slices.csv", "report.md", "gatling.txt", "wrk.txt"] {
        assert!(run.join(file).metadata().is_ok_and(|file| file.len() > 0), "{file} is written");
    }
    assert!(run.join("hgrm").read_dir().unwrap().next().is_some(), "an .hgrm per cell");
}

#[test]
fn response_times_hold_the_planted_delay() {
    let bench = Bench::new();
    let suite = [QUICK.to_owned(), server("slow", None, &["--delay-us", "20000"])].concat();
    let output = bench.run_suite(&suite, &["-d", "2"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let summary = bench.summary();
    let slow = cell(&summary, "slow");
    let minimum = slow["latency"][0]["service"]["min_ns"].as_u64().unwrap();
    assert!(minimum >= 20_000_000, "no answer is faster than its planted 20 ms: {minimum} ns");
    assert_eq!(slow["bottleneck"], "neither", "eight users who wait for a sleeping server load nobody");
}

/// A program sizes its pools by the cores that it starts on, and a warm-up uses more of them.
#[test]
fn a_server_starts_on_the_cores_that_it_is_measured_on() {
    let cores: Vec<u32> = allowed_cpus().unwrap().iter().take(2).map(|cpu| cpu as u32).collect();
    let [of_server, of_load] = cores[..] else { return skip("needs two cores") };
    let bench = Bench::new();
    let warms_up_until_steady = QUICK.replace("warmup = \"200ms\"\n", "");
    let telling = server("bare", None, &[]).replace(
        &format!("command = [{TARE:?}, "),
        &format!(
            "command = [\"sh\", \"-c\", 'grep Cpus_allowed_list /proc/self/status; exec \"$@\"', \"sh\", {TARE:?}, "
        ),
    );
    let cores = ["--server-cpus", &of_server.to_string(), "--load-cpus", &of_load.to_string()];
    let output =
        bench.run_suite(&(warms_up_until_steady + &telling), &[&["--aa", "bare", "--forks", "1"], &cores[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let logs = bench.path().join(".tare/runs").join(bench.summary()["run"]["id"].as_str().unwrap()).join("logs");
    let logs: Vec<String> =
        logs.read_dir().unwrap().map(|log| std::fs::read_to_string(log.unwrap().path()).unwrap()).collect();
    let started_there = logs.iter().filter(|log| log.contains(&format!("Cpus_allowed_list:\t{of_server}\n")));
    assert_eq!(started_there.count(), 2, "{logs:?}");
}
