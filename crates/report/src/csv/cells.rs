//! The columns of `cells.csv`. docs/METRICS.md has the unit, the meaning and the source of each.

use tare_analysis::Currency;
use tare_analysis::summary::{Cell, Comparison, CurrencyRatio, Distribution, Headline, LatencyDivision, Sentence};
use tare_record::MessageTally;

use super::{counts, maybe, word};
use crate::clean::escape_csv;

#[derive(Debug, Clone, Copy)]
pub(super) struct CellRow<'a> {
    pub cell: &'a Cell,
    pub comparison: Option<&'a Comparison>,
    pub sentence: Option<&'a Sentence>,
    /// The answer of the run, the same in every row.
    pub headline: &'a Headline,
}

/// A column: its name, and its text in a row.
type CellColumn = (&'static str, fn(&CellRow<'_>) -> String);

pub(super) const MEASURED: &[CellColumn] = &[
    ("group", |r| escape_csv(&r.cell.group)),
    ("scenario", |r| escape_csv(&r.cell.scenario)),
    ("variant", |r| escape_csv(&r.cell.variant)),
    ("server", |r| escape_csv(&r.cell.server)),
    ("family", |r| escape_csv(&r.cell.family)),
    ("kind", |r| escape_csv(&r.cell.kind)),
    ("version", |r| escape_csv(&maybe(r.cell.version.as_ref()))),
    ("baseline", |r| r.cell.baseline.to_string()),
    ("control", |r| r.cell.control.to_string()),
    ("forks", |r| r.cell.forks.to_string()),
    ("steady_forks", |r| r.cell.steady_forks.to_string()),
    ("validity", |r| word(&r.cell.validity.state)),
    ("throughput_validity", |r| word(&r.cell.validity.state_in(Currency::Throughput))),
    ("cpu_validity", |r| word(&r.cell.validity.state_in(Currency::CpuPerRequest))),
    ("latency_validity", |r| word(&r.cell.validity.state_in(Currency::LatencyP99))),
    ("validity_reasons", |r| escape_csv(&r.cell.validity.joined_reasons())),
    ("bottleneck", |r| word(&r.cell.bottleneck)),
    ("throughput_per_s", |r| maybe(r.cell.throughput_per_s.map(|e| e.value))),
    ("throughput_per_s_lo", |r| maybe(r.cell.throughput_per_s.and_then(|e| e.lo))),
    ("throughput_per_s_hi", |r| maybe(r.cell.throughput_per_s.and_then(|e| e.hi))),
    ("capacity", |r| maybe(r.cell.capacity.as_ref().map(|c| c.load.value))),
    ("capacity_lo", |r| maybe(r.cell.capacity.as_ref().and_then(|c| c.load.lo))),
    ("capacity_hi", |r| maybe(r.cell.capacity.as_ref().and_then(|c| c.load.hi))),
    ("capacity_by", |r| escape_csv(&maybe(r.cell.capacity.as_ref().map(|c| c.by.name())))),
    ("capacity_curve", |r| escape_csv(&maybe(r.cell.capacity.as_ref().map(|c| &c.curve)))),
    ("cpu_ns_per_request", |r| maybe(r.cell.cpu_ns_per_request.map(|e| e.value))),
    ("cpu_ns_per_request_lo", |r| maybe(r.cell.cpu_ns_per_request.and_then(|e| e.lo))),
    ("cpu_ns_per_request_hi", |r| maybe(r.cell.cpu_ns_per_request.and_then(|e| e.hi))),
    ("allocated_bytes_per_request", |r| maybe(r.cell.allocated_bytes_per_request.map(|e| e.value))),
    ("allocated_bytes_per_request_lo", |r| maybe(r.cell.allocated_bytes_per_request.and_then(|e| e.lo))),
    ("allocated_bytes_per_request_hi", |r| maybe(r.cell.allocated_bytes_per_request.and_then(|e| e.hi))),
    ("gc_pause_share", |r| maybe(r.cell.gc_pause_share)),
    ("gc_pauses", |r| maybe(r.cell.gc_pauses)),
    ("heap_used_peak_bytes", |r| maybe(r.cell.heap_used_peak_bytes)),
    ("cpu_load", |r| escape_csv(&r.cell.cpu_load)),
    ("rss_bytes", |r| maybe(r.cell.rss_bytes.map(|e| e.value))),
    ("rss_peak_bytes", |r| maybe(r.cell.rss_peak_bytes)),
    ("generator_cpu_share", |r| maybe(r.cell.generator_cpu_share)),
    ("requests_ok", |r| r.cell.requests_ok.to_string()),
    ("requests_failed", |r| r.cell.requests_failed.to_string()),
    ("errors", |r| escape_csv(&counts(r.cell.errors.iter().map(|e| (e.class, e.count))))),
    ("connection_events", |r| escape_csv(&counts(r.cell.connection_events.iter().map(|e| (e.class, e.count))))),
    ("bytes_in", |r| r.cell.bytes_in.to_string()),
    ("bytes_out", |r| r.cell.bytes_out.to_string()),
    ("latency_model", |r| escape_csv(&maybe(r.cell.shown_latency().map(|l| l.model.clone())))),
    ("response_count", |r| maybe(response(r).map(|d| d.count))),
    ("response_min_ns", |r| maybe(response(r).and_then(|d| d.min_ns))),
    ("response_mean_ns", |r| maybe(response(r).and_then(|d| d.mean_ns))),
    ("response_stdev_ns", |r| maybe(response(r).and_then(|d| d.stdev_ns))),
    ("response_max_ns", |r| maybe(response(r).and_then(|d| d.max_ns))),
    ("response_p50_ns", |r| percentile(response(r), 50.0)),
    ("response_p75_ns", |r| percentile(response(r), 75.0)),
    ("response_p90_ns", |r| percentile(response(r), 90.0)),
    ("response_p95_ns", |r| percentile(response(r), 95.0)),
    ("response_p99_ns", |r| percentile(response(r), 99.0)),
    ("response_p99_9_ns", |r| percentile(response(r), 99.9)),
    ("response_p99_99_ns", |r| percentile(response(r), 99.99)),
    ("service_p50_ns", |r| percentile(r.cell.shown_latency().map(|l| &l.service), 50.0)),
    ("service_p99_ns", |r| percentile(r.cell.shown_latency().map(|l| &l.service), 99.0)),
    ("met_stop_share", |r| maybe(division(r).map(|d| d.met_stop_share))),
    ("met_stall_share", |r| maybe(division(r).map(|d| d.met_stall_share))),
    ("no_stops_p50_ns", |r| percentile(division(r).map(|d| &d.met_none), 50.0)),
    ("no_stops_p99_ns", |r| percentile(division(r).map(|d| &d.met_none), 99.0)),
    ("p99_is_at_cliff", |r| maybe(division(r).map(|d| d.p99_is_at_cliff))),
    ("stopped_ns_per_request", |r| maybe(r.cell.stopped_ns_per_request.map(|e| e.value))),
    ("stopped_ns_per_request_lo", |r| maybe(r.cell.stopped_ns_per_request.and_then(|e| e.lo))),
    ("stopped_ns_per_request_hi", |r| maybe(r.cell.stopped_ns_per_request.and_then(|e| e.hi))),
    ("stopped_time_share", |r| maybe(r.cell.stopped_time_share)),
    ("send_lag_p99_ns", |r| percentile(r.cell.shown_latency().and_then(|l| l.send_lag.as_ref()), 99.0)),
    ("messages_received", |r| count(r, |m| m.received)),
    ("messages_missing", |r| count(r, |m| m.missing)),
    ("messages_late", |r| count(r, |m| m.late)),
    ("messages_out_of_order", |r| count(r, |m| m.out_of_order)),
    ("messages_duplicated", |r| count(r, |m| m.duplicated)),
    ("messages_ahead", |r| count(r, |m| m.ahead)),
    ("pings", |r| count(r, |m| m.pings)),
    ("subscriptions", |r| count(r, |m| m.subscriptions)),
    ("stamp_unit_ns", |r| count(r, |m| m.stamp_unit_ns)),
    ("clock_within_ns", |r| count(r, |m| m.clock_within_ns)),
    ("clock_offset_ns", |r| maybe(r.cell.messages.as_ref().and_then(|messages| messages.tally.clock?.offset_ns))),
    ("jitter_p50_ns", |r| jitter(r, 50.0)),
    ("jitter_p99_ns", |r| jitter(r, 99.0)),
    ("jitter_p99_99_ns", |r| jitter(r, 99.99)),
];

/// How it compares with its baseline, before the ratios.
pub(super) const COMPARED: &[CellColumn] = &[
    ("headline", |r| escape_csv(&r.headline.text)),
    ("answer", |r| escape_csv(r.sentence.map_or("", |sentence| sentence.text.as_str()))),
    ("verdict", |r| maybe(r.deciding().map(|c| word(&c.verdict)))),
    ("material", |r| maybe(r.deciding().map(|c| c.material))),
    ("needed_s", |r| maybe(r.deciding().and_then(|c| c.needed_s))),
];

pub(super) const PROBED: &[CellColumn] = &[
    ("cpu_by_pool", |r| escape_csv(&cpu_by_pool(r))),
    ("heap_committed_peak_bytes", |r| maybe(r.cell.probes.heap_committed_peak_bytes)),
    ("heap_after_gc_peak_bytes", |r| maybe(r.cell.probes.heap_after_gc_peak_bytes)),
    ("off_heap_peak_bytes", |r| maybe(r.cell.probes.off_heap_peak_bytes)),
    ("metaspace_peak_bytes", |r| maybe(r.cell.probes.metaspace_peak_bytes)),
    ("collectors", |r| escape_csv(&collectors(r))),
    ("safepoints", |r| maybe(r.cell.probes.safepoints)),
    ("safepoint_share", |r| maybe(r.cell.probes.safepoint_share)),
    ("machine_hiccup_p99_ns", |r| percentile(r.cell.shown_latency().and_then(|l| l.machine_hiccups.as_ref()), 99.0)),
    ("machine_hiccup_max_ns", |r| maybe(r.cell.shown_latency().and_then(|l| l.machine_hiccups.as_ref()?.max_ns))),
    ("jvm_hiccup_p99_ns", |r| percentile(r.cell.shown_latency().and_then(|l| l.jvm_hiccups.as_ref()), 99.0)),
    ("jvm_hiccup_max_ns", |r| maybe(r.cell.shown_latency().and_then(|l| l.jvm_hiccups.as_ref()?.max_ns))),
    ("pause_causes", |r| escape_csv(&pauses(r))),
    ("probe_cpu_share", |r| maybe(r.cell.probes.probe_cpu_share)),
];

pub(super) type RatioColumn = (&'static str, fn(&CurrencyRatio) -> Option<f64>);

pub(super) const RATIO_COLUMNS: [RatioColumn; 3] =
    [("_ratio", |ratio| Some(ratio.ratio)), ("_ratio_lo", |ratio| ratio.lo), ("_ratio_hi", |ratio| ratio.hi)];

impl CellRow<'_> {
    /// The ratio in one currency, where both sides have it and it counts.
    pub fn ratio_in(&self, currency: Currency) -> Option<&CurrencyRatio> {
        let comparison = self.comparison?;
        comparison.ratio_in(currency).filter(|ratio| ratio.is_known() && comparison.untold(ratio).is_none())
    }

    fn deciding(&self) -> Option<&CurrencyRatio> {
        self.comparison?.currencies.first()
    }
}

fn response<'a>(row: &CellRow<'a>) -> Option<&'a Distribution> {
    row.cell.shown_latency().map(|l| &l.response)
}

fn division<'a>(row: &CellRow<'a>) -> Option<&'a LatencyDivision> {
    row.cell.shown_latency()?.division.as_ref()
}

/// Empty where too few samples lie above it.
fn percentile(distribution: Option<&Distribution>, percentile: f64) -> String {
    maybe(distribution.and_then(|d| d.percentile_ns(percentile)))
}

fn count(row: &CellRow<'_>, of: fn(&MessageTally) -> u64) -> String {
    maybe(row.cell.messages.as_ref().map(|messages| of(&messages.tally)))
}

fn jitter(row: &CellRow<'_>, at: f64) -> String {
    percentile(row.cell.messages.as_ref().map(|messages| &messages.jitter), at)
}

fn cpu_by_pool(row: &CellRow<'_>) -> String {
    let of_kind = row.cell.cpu_by_kind.iter().flat_map(|kind| kind.pools.iter().map(move |pool| (&kind.kind, pool)));
    joined(of_kind.map(|(kind, pool)| format!("{kind}/{}={:.0}", pool.pool, pool.ns_per_request)))
}

fn collectors(row: &CellRow<'_>) -> String {
    joined(row.cell.probes.collectors.iter().map(|c| format!("{}={}:{}", c.collector, c.pauses, c.pause_ns)))
}

fn pauses(row: &CellRow<'_>) -> String {
    joined(row.cell.probes.pauses.iter().map(|p| format!("{}={}:{}", p.cause.name(), p.pauses, p.pause_ns)))
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("; ")
}
