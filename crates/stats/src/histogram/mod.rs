//! Latencies of one kind in one place: recorded in nanoseconds, merged, asked for quantiles.
//! Storage as bytes is in `codec`, the log-nines curve and its text form in `curve`, the text over time in
//! `interval_log`.

mod codec;
mod curve;
mod interval_log;

use std::fmt;

use hdrhistogram::Histogram;

pub use curve::PercentilePoint;
pub use interval_log::{interval_log, read_interval_log};

use crate::quantile::printable;

/// The highest latency that is recorded as it is, in nanoseconds: 2⁴² − 1, about 1 h 13 min. Longer ones count as this.
pub const HIGHEST_NS: u64 = (1 << 42) - 1;

const NS_PER_MS: f64 = 1e6;

/// Significant decimal digits kept of every value.
pub const SIGNIFICANT_DIGITS: u8 = 3;

/// Latencies in nanoseconds, to 3 significant digits, from 1 ns to [`HIGHEST_NS`]. Recording and merging cannot fail.
/// Memory grows with the highest sample: 8 KiB per doubling, 16 KiB when empty, 120 KiB for 10 ms, 264 KiB at most. A
/// worker that keeps its histogram by [`clear`](Self::clear) soon allocates no more. Nothing is corrected afterwards.
#[derive(Clone)]
pub struct LatencyHistogram {
    inner: Histogram<u64>,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for LatencyHistogram {
    /// Equal histograms have the same samples. Their memory may differ.
    fn eq(&self, other: &Self) -> bool {
        let recorded =
            |h: &Self| h.inner.iter_recorded().map(|v| (v.value_iterated_to(), v.count_at_value())).collect();
        let (own, others): (Vec<_>, Vec<_>) = (recorded(self), recorded(other));
        own == others
    }
}

impl fmt::Debug for LatencyHistogram {
    /// A summary, because thousands of empty buckets would hide everything else.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LatencyHistogram")
            .field("len", &self.len())
            .field("min_ns", &self.min_ns())
            .field("median_ns", &self.value_at_quantile_ns(0.5))
            .field("max_ns", &self.max_ns())
            .finish()
    }
}

impl LatencyHistogram {
    pub fn new() -> Self {
        // Starts with the smallest range and grows: a run keeps thousands of histograms, and many stay empty.
        Self { inner: Histogram::new(SIGNIFICANT_DIGITS).expect("the library accepts three digits") }
    }

    /// Records one latency; above [`HIGHEST_NS`] it counts as that.
    pub fn record_ns(&mut self, value_ns: u64) {
        // Recording fails only beyond what memory can index, and the cap is far below that.
        let recorded = self.inner.record(value_ns.min(HIGHEST_NS));
        debug_assert!(recorded.is_ok(), "a growing histogram takes every value up to the cap");
    }

    /// Adds every sample of `other`. Latencies of workers and slices are combined in no other way.
    pub fn merge(&mut self, other: &Self) {
        self.inner.add(&other.inner).expect("a growing histogram takes every value up to the cap");
    }

    /// Forgets all samples and keeps the memory.
    pub fn clear(&mut self) {
        self.inner.reset();
    }

    pub fn len(&self) -> u64 {
        self.inner.len()
    }

    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// The lowest sample to 3 digits, rounded down; `None` without samples.
    pub fn min_ns(&self) -> Option<u64> {
        (!self.is_empty()).then(|| self.inner.min())
    }

    /// The highest sample to 3 digits, rounded up; `None` without samples.
    pub fn max_ns(&self) -> Option<u64> {
        (!self.is_empty()).then(|| self.inner.max())
    }

    /// The mean; `None` without samples.
    pub fn mean_ns(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.inner.mean())
    }

    /// The standard deviation of the samples about their mean (divisor n); `None` without samples. It describes the
    /// spread of latencies. It is no basis for an interval: the samples are not independent.
    pub fn stdev_ns(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.inner.stdev())
    }

    /// The value that at least the share `q` (0–1) of the samples does not exceed, to 3 digits, rounded up. `None`
    /// without samples, or where `q` is not a quantile.
    pub fn value_at_quantile_ns(&self, q: f64) -> Option<u64> {
        (!self.is_empty() && (0.0..=1.0).contains(&q)).then(|| self.inner.value_at_quantile(q))
    }

    /// The value at a percentile (0–100); `None` where it may not be printed.
    pub fn percentile_ns(&self, percentile: f64) -> Option<u64> {
        self.value_at_quantile_ns(percentile / 100.0).filter(|_| printable(self.len(), percentile))
    }

    /// The number of samples above `value_ns`; samples that agree with it to 3 digits are not above it.
    pub fn count_above_ns(&self, value_ns: u64) -> u64 {
        self.len() - self.inner.count_between(0, value_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        values.iter().for_each(|v| histogram.record_ns(*v));
        histogram
    }

    #[test]
    fn an_empty_histogram_has_no_statistics() {
        let empty = LatencyHistogram::new();
        assert!(empty.is_empty());
        assert_eq!((empty.min_ns(), empty.max_ns(), empty.value_at_quantile_ns(0.5)), (None, None, None));
        assert_eq!((empty.mean_ns(), empty.stdev_ns(), empty.count_above_ns(0)), (None, None, 0));
    }

    #[test]
    fn values_below_2048_ns_are_exact() {
        let histogram = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((histogram.min_ns(), histogram.max_ns()), (Some(2), Some(9)));
        assert_eq!(histogram.mean_ns(), Some(5.0));
        assert!((histogram.stdev_ns().unwrap() - 2.0).abs() < 1e-12);
        assert_eq!((histogram.value_at_quantile_ns(0.5), histogram.value_at_quantile_ns(0.51)), (Some(4), Some(5)));
        assert_eq!((histogram.count_above_ns(4), histogram.count_above_ns(9)), (4, 0));
        assert_eq!(histogram.value_at_quantile_ns(50.0), None, "a percentile is not a quantile");
    }

    #[test]
    fn what_is_longer_than_the_range_is_kept_as_its_end() {
        let histogram = of(&[u64::MAX, HIGHEST_NS, 0]);
        assert_eq!((histogram.len(), histogram.max_ns(), histogram.min_ns()), (3, Some(HIGHEST_NS), Some(0)));
        const { assert!(HIGHEST_NS >= 3_600_000_000_000, "the range covers an hour") };
    }

    #[test]
    fn clearing_leaves_what_a_new_one_is() {
        let mut histogram = of(&[1, 1_000_000, u64::MAX]);
        histogram.clear();
        assert_eq!(histogram, LatencyHistogram::new());
    }

    /// Latencies spread evenly over the orders of magnitude.
    fn latencies() -> impl Strategy<Value = Vec<u64>> {
        proptest::collection::vec((0u32..42).prop_flat_map(|bits| (1u64 << bits)..(2u64 << bits)), 1..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

        #[test]
        fn merging_equals_recording_all_in_one(a in latencies(), b in latencies()) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            prop_assert_eq!(merged, of(&[a, b].concat()));
        }

        #[test]
        fn quantiles_are_the_exact_order_statistics_to_three_digits(mut values in latencies(), q in 0.0f64..=1.0) {
            let histogram = of(&values);
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).max(1);
            let exact = values[rank - 1].min(HIGHEST_NS);
            let got = histogram.value_at_quantile_ns(q).unwrap();
            prop_assert!(got.abs_diff(exact) <= exact / 1_000, "q {}: {} for {}", q, got, exact);
        }

        #[test]
        fn counts_above_are_exact_away_from_the_boundary(values in latencies(), limit in 1u64..HIGHEST_NS) {
            let apart = values.iter().all(|v| v.abs_diff(limit) > limit / 500);
            prop_assume!(apart);
            let exact = values.iter().filter(|v| **v > limit).count() as u64;
            prop_assert_eq!(of(&values).count_above_ns(limit), exact);
        }
    }
}
