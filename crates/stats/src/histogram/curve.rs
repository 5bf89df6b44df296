//! Latency by percentile on an axis of log-nines: as points for a chart and as HdrHistogram's text.

use std::fmt::Write;

use super::{LatencyHistogram, NS_PER_MS};

/// Points for every halving of the distance to 100 %, as HdrHistogram's own tools use.
const TICKS_PER_HALF_DISTANCE: u32 = 5;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PercentilePoint {
    /// The point's place on the axis, 0–100.
    pub percentile: f64,
    /// The latency there, to 3 digits.
    pub value_ns: u64,
    /// How many samples do not exceed it.
    pub count: u64,
}

impl LatencyHistogram {
    /// Latency by percentile, five points per half-distance to 100 %, ending with 100; empty without samples. The curve
    /// ends where the samples end. [`crate::quantile::printable`] says which points have enough samples above them.
    pub fn percentile_curve(&self) -> Vec<PercentilePoint> {
        let (mut points, mut percentile, mut count) = (Vec::new(), 0.0, 0);
        for step in self.inner.iter_recorded() {
            count += step.count_at_value();
            let value_ns = step.value_iterated_to();
            let is_last = count == self.len();
            let reached = 100.0 * count as f64 / self.len() as f64;
            while percentile <= reached {
                points.push(PercentilePoint { percentile, value_ns, count });
                percentile = next_percentile(percentile);
                if is_last {
                    points.push(PercentilePoint { percentile: 100.0, value_ns, count });
                    break;
                }
            }
        }
        points
    }

    /// HdrHistogram's percentile distribution (`.hgrm`), which its plotter reads, in milliseconds. Values carry as many
    /// decimals as a nanosecond needs.
    pub fn to_hgrm(&self) -> String {
        let mut text =
            format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
        for point in self.percentile_curve() {
            let quantile = point.percentile / 100.0;
            let value = point.value_ns as f64 / NS_PER_MS;
            // Writing to a String cannot fail.
            let _ = write!(text, "{value:>12.6} {quantile:>14.12} {:>10}", point.count);
            let _ = if quantile < 1.0 { writeln!(text, " {:>14.2}", 1.0 / (1.0 - quantile)) } else { writeln!(text) };
        }
        text.push_str(&self.hgrm_footer());
        text
    }

    fn hgrm_footer(&self) -> String {
        let scaled = |ns: Option<f64>| ns.unwrap_or(0.0) / NS_PER_MS;
        let (mean, sd) = (scaled(self.mean_ns()), scaled(self.stdev_ns()));
        let max = scaled(self.max_ns().map(|ns| ns as f64));
        // Three digits need 2,048 sub-buckets, as HdrHistogram counts them.
        let (count, buckets, sub_buckets) = (self.len(), self.inner.buckets(), 2_048);
        format!(
            "#[Mean    = {mean:>12.6}, StdDeviation   = {sd:>12.6}]\n\
             #[Max     = {max:>12.6}, Total count    = {count:>12}]\n\
             #[Buckets = {buckets:>12}, SubBuckets     = {sub_buckets:>12}]\n"
        )
    }
}

/// The point after this one. Percentiles are added up in per cent, as HdrHistogram's Java library does: as shares, the sum for
/// 95 % would lie above 0.95, and miss a value that is the 95th of 100.
fn next_percentile(percentile: f64) -> f64 {
    let halvings = (100.0 / (100.0 - percentile)).log2().floor() + 1.0;
    percentile + 100.0 / (f64::from(TICKS_PER_HALF_DISTANCE) * halvings.exp2())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(n: u64) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        (1..=n).for_each(|i| histogram.record_ns(i * 1_000));
        histogram
    }

    #[test]
    fn the_curve_has_five_points_per_half_distance() {
        let curve = uniform(10_000).percentile_curve();
        let percentiles: Vec<f64> = curve.iter().map(|p| p.percentile).collect();
        let expected = [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 55.0, 60.0, 65.0, 70.0, 75.0, 77.5, 80.0, 82.5, 85.0, 87.5];
        for (got, want) in percentiles.iter().zip(expected) {
            assert!((got - want).abs() < 1e-9, "{got} for {want}");
        }
        assert_eq!((curve.last().unwrap().percentile, curve.last().unwrap().count), (100.0, 10_000));
    }

    #[test]
    fn a_point_stands_at_the_first_sample_that_reaches_it() {
        // Each sample has a bucket of its own.
        for n in [100, 200, 400] {
            for point in uniform(n).percentile_curve() {
                // In millionths of a per cent, so that 95 % is the 95th of 100 and not the 96th.
                let rank = ((point.percentile * 1e6).round() as u64 * n).div_ceil(100_000_000).max(1);
                assert_eq!(point.count, rank, "{point:?} of {n}");
            }
        }
    }

    #[test]
    fn the_curve_follows_the_samples() {
        for point in uniform(10_000).percentile_curve().iter().skip(1) {
            // Of 1..=10,000 µs, exactly p % do not exceed p · 100 µs; a bucket is 0.1 % wide.
            let exact_ns = point.percentile * 100.0 * 1_000.0;
            assert!((point.value_ns as f64 - exact_ns).abs() <= exact_ns * 0.001 + 1_000.0, "{point:?}");
        }
        assert!(LatencyHistogram::new().percentile_curve().is_empty());
    }

    #[test]
    fn the_text_has_the_shape_that_the_plotter_reads() {
        let mut histogram = LatencyHistogram::new();
        [1_000, 1_000, 1_000, 2_000].iter().for_each(|v| histogram.record_ns(*v));
        let text = histogram.to_hgrm();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "       Value     Percentile TotalCount 1/(1-Percentile)");
        assert_eq!(lines[1], "");
        assert_eq!(lines[2], "    0.001000 0.000000000000          3           1.00");
        assert!(lines.contains(&"    0.002000 1.000000000000          4"), "{text}");
        assert_eq!(lines[lines.len() - 3], "#[Mean    =     0.001250, StdDeviation   =     0.000433]");
        assert_eq!(lines[lines.len() - 2], "#[Max     =     0.002000, Total count    =            4]");
        assert_eq!(lines[lines.len() - 1], "#[Buckets =            1, SubBuckets     =         2048]");
    }

    #[test]
    fn milliseconds_keep_their_nanoseconds() {
        let mut histogram = LatencyHistogram::new();
        histogram.record_ns(1_234);
        assert!(histogram.to_hgrm().contains("    0.001234 0.000000000000          1           1.00\n"));
        assert!(LatencyHistogram::new().to_hgrm().contains("Total count    =            0"));
    }
}
