//! The figures of a run as gauges, for systems that collect metrics. Times are in seconds, as these systems ask for.

use super::{levels, usable_cells, usable_ratios};
use tare_analysis::Currency::{
    self, AllocatedPerRequest, CpuPerRequest, LatencyMetStop, LatencyP50, LatencyP99, LatencyP99NoStops, LatencyP999,
    StoppedPerRequest, Throughput,
};
use tare_analysis::summary::{
    Cell, Comparison, ConditionOutcome, ConditionResult, CpuCost, CurrencyRatio, Estimate, StatusCount, Summary,
    UrlSummary,
};
use tare_plan::LatencyFigure;

/// Names with their values, which tell the samples of a gauge apart.
pub(super) type Labels = Vec<(&'static str, String)>;

#[derive(Debug)]
pub(super) struct GaugeFamily {
    pub name: &'static str,
    pub help: &'static str,
    /// As UCUM writes it, which OpenTelemetry uses.
    pub unit: &'static str,
    pub samples: Vec<(Labels, f64)>,
}

pub(super) fn run_labels(summary: &Summary) -> Labels {
    let run = &summary.run;
    let facts = [("id", &run.id), ("suite", &run.suite), ("tare_version", &run.tare_version)];
    let revision = run.git_revision.as_ref().map(|revision| ("git_revision", revision));
    facts.into_iter().chain(revision).map(|(name, value)| (name, value.clone())).collect()
}

/// All gauges of a run, in the order of the summary. No family is empty.
pub(super) fn families(summary: &Summary) -> impl Iterator<Item = GaugeFamily> {
    let families = level_families(summary).chain(ratio_families(summary));
    let families =
        families.chain(cost_families(summary)).chain([condition_family(summary)]).chain(answer_families(summary));
    families.filter(|family| !family.samples.is_empty())
}

fn level_families(summary: &Summary) -> impl Iterator<Item = GaugeFamily> {
    let families: [(_, _, _, &[Currency]); 7] = [
        ("tare_requests_per_second", "{request}/s", "Right answers per second under a saturating load", &[Throughput]),
        ("tare_cpu_seconds_per_request", "s", "CPU time of the server per request", &[CpuPerRequest]),
        ("tare_allocated_bytes_per_request", "By", "Bytes allocated per request", &[AllocatedPerRequest]),
        ("tare_response_time_seconds", "s", "Percentiles of response time", &[LatencyP50, LatencyP99, LatencyP999]),
        (
            "tare_response_time_without_stops_seconds",
            "s",
            "Percentiles of the response time of requests that met neither a stop of the server nor a stall",
            &[LatencyP99NoStops],
        ),
        (
            "tare_stopped_seconds_per_request",
            "s",
            "Time that the server's runtime stopped its threads, per request",
            &[StoppedPerRequest],
        ),
        ("tare_met_stop_share", "1", "Share of requests that met a stop of the server", &[LatencyMetStop]),
    ];
    families.into_iter().map(|(name, unit, help, currencies)| {
        let samples = usable_cells(summary).flat_map(|cell| level_samples(cell, currencies)).collect();
        GaugeFamily { name, help, unit, samples }
    })
}

fn level_samples(cell: &Cell, currencies: &[Currency]) -> Vec<(Labels, f64)> {
    let wanted = levels(cell).filter(|(currency, _)| currencies.contains(currency));
    let sample = |(currency, level): (Currency, Estimate)| {
        let mut labels = place(&cell.group, &cell.scenario, &cell.variant);
        let told = match currency.facts().latency {
            Some(LatencyFigure::Percentile(p) | LatencyFigure::WithoutStops(p)) => Some(quantile(p)),
            _ => None,
        };
        labels.extend(told.map(|quantile| ("quantile", quantile.to_string())));
        let factor = if currency.facts().unit == "ns" { 1e-9 } else { 1.0 };
        (labels, level.value * factor)
    };
    wanted.map(sample).collect()
}

fn ratio_families(summary: &Summary) -> impl Iterator<Item = GaugeFamily> {
    type Value = fn(&CurrencyRatio) -> Option<f64>;
    let families: [(&'static str, &'static str, Value); 3] = [
        ("tare_ratio", "Variant / baseline", |ratio| Some(ratio.ratio)),
        ("tare_ratio_lower", "Lower end of the interval of the ratio", |ratio| ratio.lo),
        ("tare_ratio_upper", "Upper end of the interval of the ratio", |ratio| ratio.hi),
    ];
    families.into_iter().map(|(name, help, value)| {
        let sample = |(comparison, ratio)| Some((ratio_labels(comparison, ratio), value(ratio)?));
        GaugeFamily { name, help, unit: "1", samples: usable_ratios(summary).filter_map(sample).collect() }
    })
}

fn cost_families(summary: &Summary) -> impl Iterator<Item = GaugeFamily> {
    type Value = fn(&CpuCost) -> Option<f64>;
    let families: [(&'static str, &'static str, Value); 3] = [
        ("tare_added_cpu_seconds_per_request", "CPU time that a server adds to a request of its baseline", |cost| {
            Some(cost.ns_per_request)
        }),
        ("tare_added_cpu_seconds_per_request_lower", "Lower end of the interval of the added CPU time", |cost| cost.lo),
        ("tare_added_cpu_seconds_per_request_upper", "Upper end of the interval of the added CPU time", |cost| cost.hi),
    ];
    families.into_iter().map(|(name, help, value)| {
        let of_cpu = usable_ratios(summary).filter(|(_, ratio)| ratio.name == CpuPerRequest);
        let sample = |(comparison, ratio): (&Comparison, &CurrencyRatio)| {
            Some((ratio_labels(comparison, ratio), value(comparison.cpu_cost.as_ref()?)? * 1e-9))
        };
        GaugeFamily { name, help, unit: "s", samples: of_cpu.filter_map(sample).collect() }
    })
}

fn condition_family(summary: &Summary) -> GaugeFamily {
    let sample = |condition: ConditionOutcome| {
        let value = match condition.result {
            ConditionResult::Failed(_) => 1.0,
            ConditionResult::Passed => 0.0,
            ConditionResult::Undecided(_) | ConditionResult::Void(_) => return None,
        };
        Some((vec![("condition", condition.name), ("subject", condition.subject)], value))
    };
    let samples = summary.conditions().into_iter().filter_map(sample).collect();
    let help = "1 if a condition on which the run fails was met, otherwise 0";
    GaugeFamily { name: "tare_condition_failed", help, unit: "1", samples }
}

fn answer_families(summary: &Summary) -> impl Iterator<Item = GaugeFamily> {
    let load = summary.load.iter();
    let statuses = load.clone().flat_map(|load| &load.statuses);
    let of_status = |one: &StatusCount| (vec![("status", one.status.to_string())], one.count as f64);
    let urls: Vec<&UrlSummary> = load.flat_map(|load| &load.urls).collect();
    let count = |url: &UrlSummary, outcome: &str, count: u64| {
        (vec![("url", url.url.clone()), ("outcome", outcome.to_owned())], count as f64)
    };
    let counts = urls.iter().flat_map(|url| [count(url, "ok", url.ok), count(url, "failed", url.failed)]);
    // The counts of a void load say why it is void; its times say nothing.
    let timed = urls.iter().filter(|_| usable_cells(summary).next().is_some());
    let times = timed.flat_map(|url| {
        let quantiles = [("0.5", url.p50_ns), ("0.9", url.p90_ns), ("0.99", url.p99_ns)];
        quantiles.into_iter().filter_map(|(quantile, ns)| {
            Some((vec![("url", url.url.clone()), ("quantile", quantile.to_owned())], ns? as f64 * 1e-9))
        })
    });
    let family = |name, unit, help, samples| GaugeFamily { name, help, unit, samples };
    [
        family("tare_responses", "{response}", "Responses by status", statuses.map(of_status).collect()),
        family("tare_url_requests", "{request}", "Requests by URL", counts.collect()),
        family("tare_url_response_time_seconds", "s", "Percentiles of response time by URL", times.collect()),
    ]
    .into_iter()
}

fn ratio_labels(comparison: &Comparison, ratio: &CurrencyRatio) -> Labels {
    let mut labels = place(&comparison.group, &comparison.scenario, &comparison.variant);
    labels.push(("baseline", comparison.baseline.clone()));
    labels.push(("currency", ratio.name.facts().name.to_owned()));
    labels
}

fn place(group: &str, scenario: &str, variant: &str) -> Labels {
    vec![("group", group.to_owned()), ("scenario", scenario.to_owned()), ("variant", variant.to_owned())]
}

/// 99.9 is 0.999. Divided by 100 it would be 0.9990000000000001 in binary, and a query for 0.999 would not find it.
fn quantile(percentile: f64) -> f64 {
    (percentile * 1e4).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn a_quantile_is_the_number_that_people_write() {
        let texts = [50.0, 99.0, 99.9, 99.99, 99.999].map(|percentile| quantile(percentile).to_string());
        assert_eq!(texts, ["0.5", "0.99", "0.999", "0.9999", "0.99999"]);
    }
}
