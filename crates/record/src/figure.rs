//! One figure of a histogram, or why it cannot be stated.

use serde::{Deserialize, Deserializer};
use tare_plan::condition::{Clock, Statistic};
use tare_sample::{PackedHistogram, SliceSample};
use tare_stats::histogram::LatencyHistogram;
use tare_stats::quantile::{SAMPLES_ABOVE, printable};

/// The figure in nanoseconds. Errors: a text, when there are no samples, or too few above a percentile.
pub fn histogram_figure(histogram: &LatencyHistogram, statistic: Statistic) -> Result<f64, String> {
    let some = |value: Option<f64>| value.ok_or_else(|| "no answers to measure it on".to_owned());
    match statistic {
        Statistic::Min => some(histogram.min_ns().map(|ns| ns as f64)),
        Statistic::Mean => some(histogram.mean_ns()),
        Statistic::Max => some(histogram.max_ns().map(|ns| ns as f64)),
        Statistic::Percentile(p) if !printable(histogram.len(), p) => {
            let needed = (SAMPLES_ABOVE / (1.0 - p / 100.0)).round() as u64;
            Err(format!("too few answers to tell: it takes {needed}, and there are {}", histogram.len()))
        }
        Statistic::Percentile(p) => some(histogram.value_at_quantile_ns(p / 100.0).map(|ns| ns as f64)),
    }
}

pub fn times_by(clock: Clock, load: &SliceSample<PackedHistogram>) -> &PackedHistogram {
    match clock {
        Clock::Response => &load.response,
        Clock::Service => &load.service,
        Clock::SendLag => &load.send_lag,
    }
}

/// Reads a number of an entry. JSON has no infinite one: it is written as `null`, and must not cost the record.
pub(crate) fn read_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Option::<f64>::deserialize(deserializer).map(|number| number.unwrap_or(f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_percentile_states_how_many_samples_it_needs() {
        let mut histogram = LatencyHistogram::new();
        (0..999).for_each(|_| histogram.record_ns(1_000));
        let why = histogram_figure(&histogram, Statistic::Percentile(99.0)).unwrap_err();
        assert_eq!(why, "too few answers to tell: it takes 1000, and there are 999");
        histogram.record_ns(1_000);
        assert_eq!(histogram_figure(&histogram, Statistic::Percentile(99.0)), Ok(1_000.0));
    }
}
