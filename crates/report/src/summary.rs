//! The summary: everything that people see, computed once from the record. Formatters compute nothing.
//!
//! Serialised as JSON it is the public, documented output (`tare report --json`, schema `tare-summary/1`) and what the page reads.
//! Units stand in the names. A value that could not be had is `null`, never zero.

use serde::{Deserialize, Serialize};

/// Version of the JSON form.
pub const SCHEMA: &str = "tare-summary/1";

/// One run, ready to be shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// What was asked, when, by which command, and how it ended.
    pub run: RunInfo,
    /// Verdict sentences, one per comparison, in the order of the plan.
    pub sentences: Vec<Sentence>,
    /// One entry per variant × scenario × load, baselines first within a group.
    pub cells: Vec<Cell>,
    /// One entry per variant that was weighed against a baseline under one scenario.
    pub comparisons: Vec<Comparison>,
    /// The A/A controls: a baseline weighed against a second start of itself.
    pub noise: Vec<Noise>,
    /// Warnings with a remedy.
    pub findings: Vec<Finding>,
    /// The plan, flat, with where each value came from.
    pub plan: Vec<Section>,
    /// Machine, kernel, JVM, libraries.
    pub environment: Vec<Section>,
}

/// What was asked and how it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Name of the run, unique in its `.tare` folder: `2026-11-20-1`.
    pub id: String,
    /// Name of the suite.
    pub suite: String,
    /// The question in words.
    pub question: String,
    /// When it began, RFC 3339 UTC.
    pub started_at: String,
    /// How long it took.
    pub duration_s: f64,
    /// How it measured.
    pub mode: Mode,
    /// How it ended.
    pub status: RunStatus,
    /// The command that makes it again.
    pub command: String,
    /// Seed of every random order.
    pub seed: u64,
    /// Version of tare.
    pub tare_version: String,
    /// Git revision of the working directory, where there is one.
    pub git_revision: Option<String>,
    /// `server: cores 0 · generator: cores 1 · JDK 25.0.1 …`: one line a fact.
    pub headline: Vec<String>,
    /// Region of practical equivalence: 0.02 stands for ±2 %.
    pub region: f64,
    /// Error probability of each comparison.
    pub alpha: f64,
}

/// How a run measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Forks and alternating slices: comparisons with intervals.
    Compared,
    /// One cell after another, one fork: no intervals.
    Sequential,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Decided, or all planned forks done.
    Complete,
    /// The budget was spent before everything was decided.
    BudgetSpent,
    /// Ctrl-C: what was measured stands.
    Interrupted,
    /// tare itself failed or was killed: what was measured stands.
    Partial,
}

/// A verdict in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sentence {
    /// Id of the [`Comparison`].
    pub comparison: String,
    /// `http4s.Tapir is slower than http4s.Vanilla on SimpleGet by 8.1 % [7.2, 9.0].`
    pub text: String,
    /// What it says, for colour and order.
    pub verdict: VerdictKind,
}

/// What a verdict says. The direction is the reader's: `worse` is slower, dearer or later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// The interval lies inside the region.
    NoMaterialDifference,
    /// The interval excludes 0 on the bad side.
    Worse,
    /// The interval excludes 0 on the good side.
    Better,
    /// None of these: more forks are needed.
    Inconclusive,
    /// One fork: a figure without an interval.
    NoInterval,
    /// Not to be used: see the reasons.
    Void,
}

/// A mean over forks with its interval, where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end of the interval; `null` with fewer than two forks.
    pub lo: Option<f64>,
    /// Upper end.
    pub hi: Option<f64>,
}

/// One variant under one scenario and load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Unique in the summary: `g1/SimpleGet/http4s.Tapir`.
    pub id: String,
    /// Group it belongs to: variants compared with one another.
    pub group: String,
    /// Scenario.
    pub scenario: String,
    /// One line on the scenario.
    pub scenario_title: String,
    /// Variant, as shown.
    pub variant: String,
    /// Server name without version.
    pub server: String,
    /// Family of the server (`http4s`), for sections; the server name where there is none.
    pub family: String,
    /// `vanilla`, `tapir`, `tapir-interceptor`, … or empty.
    pub kind: String,
    /// Library version asked for, where the server has several.
    pub version: Option<String>,
    /// True for the baseline of its group.
    pub baseline: bool,
    /// True for the second start of the baseline (the A/A control).
    pub control: bool,
    /// Starts that contributed.
    pub forks: u32,
    /// Of these, how many were steady when measuring began.
    pub steady_forks: u32,
    /// May its numbers be used?
    pub validity: Validity,
    /// Which side limited the saturating slices.
    pub bottleneck: Bottleneck,
    /// Throughput under the saturating load; `null` when there was none.
    pub throughput_per_s: Option<Estimate>,
    /// CPU of the server per request, at the load that [`Self::cpu_load`] names.
    pub cpu_ns_per_request: Option<Estimate>,
    /// `same fixed rate`, `Poisson 4,000/s` or `saturating`.
    pub cpu_load: String,
    /// The same by kind of thread; sums to the total.
    pub cpu_by_kind: Vec<KindShare>,
    /// Resident memory at the end of each fork, mean.
    pub rss_bytes: Option<Estimate>,
    /// Largest resident memory of a fork.
    pub rss_peak_bytes: Option<u64>,
    /// CPU of the generator as a share of its cores (0–1), mean over slices.
    pub generator_cpu_share: Option<f64>,
    /// Requests sent and answered rightly, over all measured slices.
    pub requests_ok: u64,
    /// Requests that failed, over all measured slices.
    pub requests_failed: u64,
    /// Failures by class.
    pub errors: Vec<ErrorCount>,
    /// Bytes received in answers, over all measured slices.
    pub bytes_in: u64,
    /// Bytes sent in requests.
    pub bytes_out: u64,
    /// Latency, one entry per load model that was driven.
    pub latency: Vec<Latency>,
    /// The run over time: one point per slice, warm-up included.
    pub timeline: Vec<TimePoint>,
    /// Per fork: what each start said. Empty in a sequential run.
    pub fork_values: Vec<ForkValue>,
    /// Library versions resolved for this server.
    pub resolved: Vec<Row>,
    /// The command that started it.
    pub command: String,
}

/// May the numbers of a cell be used?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// Verdict on the measurement itself.
    pub state: ValidityState,
    /// Why it is not `valid`; empty when it is.
    pub reasons: Vec<String>,
}

/// Verdict on the measurement itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValidityState {
    /// Nothing speaks against it.
    Valid,
    /// Usable with care; the reasons say which.
    Suspect,
    /// Not to be used.
    Void,
}

/// Which side limited a saturating load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// The server's cores were busy.
    Server,
    /// The generator's cores were busy: the throughput is a lower bound.
    Generator,
    /// Both.
    Both,
    /// Neither: the load (few users, waiting) was the limit.
    Neither,
    /// Not known: no process metrics.
    Unknown,
}

/// CPU of one kind of thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KindShare {
    /// `application`, `gc`, `jit`, `vm`, `other`.
    pub kind: String,
    /// CPU of these threads per request.
    pub ns_per_request: f64,
}

/// Failed requests of one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// connect, tls, write, read, timeout, status, protocol, validation.
    pub class: String,
    /// How many.
    pub count: u64,
    /// The first of them, in words.
    pub example: String,
}

/// Latency under one load model, merged over forks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// `saturating`, `fixed`, `poisson`: the kind of slice.
    pub slice_kind: String,
    /// `closed, 128 users` or `open Poisson, 4,000/s over 128 connections`.
    pub model: String,
    /// Offered rate of an open model.
    pub offered_per_s: Option<f64>,
    /// From the intended start.
    pub response: Distribution,
    /// From the actual send.
    pub service: Distribution,
    /// Actual minus intended start; `null` for a closed model.
    pub send_lag: Option<Distribution>,
}

/// A latency distribution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Samples.
    pub count: u64,
    /// Smallest.
    pub min_ns: u64,
    /// Largest.
    pub max_ns: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Standard deviation.
    pub stdev_ns: f64,
    /// Standard percentiles that may be stated (at least 10 samples above them), with their interval over forks.
    pub percentiles: Vec<PercentileValue>,
    /// The whole curve, for plots on a log-nines axis.
    pub curve: Vec<CurvePoint>,
    /// How many lie below 800 ms, between 800 and 1,200 ms, and above: Gatling's three ranges.
    pub gatling_ranges: [u64; 3],
}

/// One stated percentile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PercentileValue {
    /// 0–100.
    pub percentile: f64,
    /// Value of the merged histogram.
    pub value_ns: u64,
    /// Lower end of the interval over forks.
    pub lo_ns: Option<u64>,
    /// Upper end.
    pub hi_ns: Option<u64>,
}

/// One point of a latency curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// 0–100; the last point is 100.
    pub percentile: f64,
    /// Value there.
    pub value_ns: u64,
}

/// One slice, on the time axis of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimePoint {
    /// Middle of the slice, since the run began.
    pub t_s: f64,
    /// 1-based fork.
    pub fork: u32,
    /// `warmup` or `measure`.
    pub phase: String,
    /// `saturating`, `fixed`, `poisson`.
    pub slice_kind: String,
    /// Right answers per second.
    pub throughput_per_s: f64,
    /// Median response time.
    pub p50_ns: Option<u64>,
    /// 99th percentile of response time.
    pub p99_ns: Option<u64>,
    /// CPU of the server per request.
    pub cpu_ns_per_request: Option<f64>,
    /// Share of the server's CPU that JIT threads took (0–1).
    pub jit_share: Option<f64>,
    /// Resident memory.
    pub rss_bytes: Option<u64>,
    /// Failed requests.
    pub failed: u64,
}

/// What one start said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForkValue {
    /// 1-based fork.
    pub fork: u32,
    /// Was it steady when measuring began?
    pub steady: bool,
    /// How long it warmed up.
    pub warmup_s: f64,
    /// Mean throughput of its saturating slices.
    pub throughput_per_s: Option<f64>,
    /// CPU per request.
    pub cpu_ns_per_request: Option<f64>,
}

/// One variant weighed against its baseline under one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Unique: `g1/SimpleGet/http4s.Tapir`, the same as the cell's.
    pub id: String,
    /// Group.
    pub group: String,
    /// Scenario.
    pub scenario: String,
    /// The variant weighed.
    pub variant: String,
    /// What it is weighed against.
    pub baseline: String,
    /// Cell ids of both.
    pub cell: String,
    /// Cell id of the baseline.
    pub baseline_cell: String,
    /// The currencies, the deciding one first.
    pub currencies: Vec<Currency>,
}

/// One figure of a comparison: the ratio of variant to baseline in one currency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Currency {
    /// `throughput`, `cpu_per_request`, `latency_p50`, `latency_p99`.
    pub name: String,
    /// `throughput`, `CPU/request`, `p99 at half load`: for people.
    pub label: String,
    /// Unit of the two values: `per_s` or `ns`.
    pub unit: String,
    /// True where more is better (throughput).
    pub higher_is_better: bool,
    /// Baseline's value.
    pub baseline_value: f64,
    /// Variant's value.
    pub variant_value: f64,
    /// variant / baseline: 0.92 is 92 % of the baseline. Mean over forks (geometric).
    pub ratio: f64,
    /// Lower end; `null` where there is no finite interval.
    pub lo: Option<f64>,
    /// Upper end.
    pub hi: Option<f64>,
    /// `confidence sequence, α 0.01` or `Student t, α 0.05, 10 forks`.
    pub method: String,
    /// Starts that contributed.
    pub forks: u32,
    /// Standard deviation of the forks' log-ratios.
    pub sd_forks: Option<f64>,
    /// Each fork's ratio.
    pub fork_ratios: Vec<f64>,
    /// The verdict.
    pub verdict: VerdictKind,
    /// With worse or better: does the interval exclude the region too?
    pub material: bool,
    /// The verdict in few words: `slower 8.1 % [7.2, 9.0]`, `inconclusive`.
    pub short: String,
    /// Why it is inconclusive or void.
    pub reason: Option<String>,
    /// With inconclusive: how much longer it would have taken, about.
    pub needed_s: Option<f64>,
}

/// An A/A control.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Group.
    pub group: String,
    /// Scenario.
    pub scenario: String,
    /// The server that was weighed against itself.
    pub server: String,
    /// Its comparison, in every currency.
    pub currencies: Vec<Currency>,
    /// Half-width of the deciding currency's interval: 0.011 stands for ±1.1 %; `null` without an interval.
    pub floor: Option<f64>,
}

/// A warning with a remedy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// Few words.
    pub title: String,
    /// What was seen.
    pub text: String,
    /// What to do about it.
    pub remedy: Option<String>,
    /// Cell it belongs to, where it belongs to one.
    pub cell: Option<String>,
    /// Text of the server under test that shows it (last log lines): untrusted.
    pub log: Option<String>,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// The numbers are usable with care.
    Warning,
    /// Numbers are missing or void.
    Error,
}

/// A titled table of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// Title.
    pub title: String,
    /// Rows.
    pub rows: Vec<Row>,
}

/// One line of a section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What.
    pub key: String,
    /// Value as text.
    pub value: String,
    /// Where the value came from: `default`, `suite`, `flag`; `null` for facts.
    #[serde(default)]
    pub source: Option<String>,
}
