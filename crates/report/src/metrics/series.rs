//! Numbers of `summary.json` that have no column of their own: the run, distributions, series and comparisons in full.

use super::{Metric, json};

const RUN: &str = "record";
const HISTOGRAM: &str = "merged histogram";
const SLICE: &str = "slice";
const FORKS: &str = "forks";

pub(super) const METRICS: &[Metric] = &[
    json("duration_s", "s", "how long the run took", RUN),
    json("seed", "1", "seed of every random order and arrival", "plan"),
    json("region", "1", "region of practical equivalence: 0.02 is ±2 %", "plan"),
    json("alpha", "1", "error probability of each comparison", "plan"),
    json("forks_set_aside", "1", "numbers of the starts that other programs disturbed", FORKS),
    json("ratio_min", "1", "smallest ratio of a known fact, over the comparisons that agree", FORKS),
    json("ratio_max", "1", "largest ratio of a known fact", FORKS),
    json("warnings", "count", "findings that are warnings or errors", RUN),
    json("value", "as its parent", "an estimate: mean over forks", FORKS),
    json("lo", "as its parent", "lower end of an interval", FORKS),
    json("hi", "as its parent", "upper end of an interval", FORKS),
    json("ns_per_request", "ns", "CPU of one kind of thread per request", "/proc/PID/task/*/schedstat"),
    json("count", "count", "samples of a distribution, or failures of a class", HISTOGRAM),
    json("min_ns", "ns", "smallest", HISTOGRAM),
    json("max_ns", "ns", "largest", HISTOGRAM),
    json("mean_ns", "ns", "mean", HISTOGRAM),
    json("stdev_ns", "ns", "standard deviation of the samples; no basis for an interval", HISTOGRAM),
    json(
        "within_stdev_share",
        "1",
        "share of samples, or slices, within one standard deviation of the mean",
        HISTOGRAM,
    ),
    json("window_s", "s", "length of the scored windows of one load together", SLICE),
    json("answers_per_s", "1/s", "right answers per second under one load", SLICE),
    json("answers_stdev_per_s", "1/s", "standard deviation of the slices' answers per second", SLICE),
    json("answers_max_per_s", "1/s", "most answers per second of any slice", SLICE),
    json("percentile", "%", "place on the axis, 0–100", HISTOGRAM),
    json("value_ns", "ns", "latency at that percentile", HISTOGRAM),
    json("lo_ns", "ns", "lower end of the percentile's interval over forks", "Student's t on logs of forks"),
    json("hi_ns", "ns", "upper end of the percentile's interval over forks", "Student's t on logs of forks"),
    json("gatling_ranges", "count", "samples below 800 ms, up to 1,200 ms, and above", HISTOGRAM),
    json("t_s", "s", "middle of a slice since the run began", SLICE),
    json("fork", "count", "1-based start", SLICE),
    json("p50_ns", "ns", "median response time of a slice", SLICE),
    json("p99_ns", "ns", "99th percentile of response time of a slice, from 1,000 samples on", SLICE),
    json("jit_share", "1", "share of the server's CPU that JIT threads took in a slice", SLICE),
    json("cores", "1", "cores that a kind of thread kept busy during a slice", "/proc/PID/task/*/schedstat"),
    json("pauses", "count", "pauses of one collector, or of one cause", SLICE),
    json("pause_ns", "ns", "time in these", SLICE),
    json("pause_max_ns", "ns", "the longest of these", SLICE),
    json("warmup_s", "s", "how long a fork warmed up", "warm-up"),
    json("baseline_value", "as `unit`", "the baseline's figure", "cell"),
    json("variant_value", "as `unit`", "the variant's figure", "cell"),
    json("ratio", "1", "variant / baseline: 0.92 is 92 % of the baseline", FORKS),
    json("sd_forks", "1", "standard deviation of the forks' log-ratios", FORKS),
    json("fork_ratios", "1", "each fork's ratio", FORKS),
    json("fork_numbers", "1", "the number of each of these forks", FORKS),
    json("resolution_ns", "ns", "resolution of another load tool's latencies", "the tool"),
    json("theirs", "as `unit`", "another load tool's figure", "the tool"),
    json("ours", "as `unit`", "tare's figure of the same cell, of its closed loop", "cell"),
    json(
        "floor",
        "1",
        "noise floor: half-width that the control's spread gives the comparison, 0.011 is ±1.1 %",
        "A/A control",
    ),
];
