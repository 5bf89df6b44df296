//! A small histogram for the terminal: few bars, evenly spaced on a logarithmic axis, because latencies spread over
//! orders of magnitude.

use tare_stats::histogram::LatencyHistogram;

use crate::summary::HistogramBin;

const BARS: usize = 12;
/// Bars end at these multiples of powers of ten.
const STEPS: [f64; 6] = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0];

/// Counts between round bounds, from the first that holds a sample to the last.
pub(super) fn bins(histogram: &LatencyHistogram) -> Vec<HistogramBin> {
    let (Some(min), Some(max)) = (histogram.min_ns(), histogram.max_ns()) else { return Vec::new() };
    let bounds = thinned(bounds(min, max));
    let mut above = histogram.len();
    let bin = |upto_ns: u64| {
        let left = if upto_ns >= max { 0 } else { histogram.count_above_ns(upto_ns) };
        let count = above - left;
        above = left;
        HistogramBin { upto_ns, count }
    };
    bounds.into_iter().map(bin).collect()
}

/// Round bounds. The first is not below `min`, and the last is not below `max`.
fn bounds(min: u64, max: u64) -> Vec<u64> {
    let decades = (0..=12).map(|power| 10f64.powi(power));
    let all = decades.flat_map(|decade| STEPS.iter().map(move |step| (step * decade) as u64));
    let from_min = all.filter(|bound| *bound >= min);
    let below_max = from_min.clone().take_while(|bound| *bound < max).count();
    from_min.take(below_max + 1).collect()
}

fn thinned(bounds: Vec<u64>) -> Vec<u64> {
    let every = bounds.len().div_ceil(BARS).max(1);
    let last = bounds.len().saturating_sub(1);
    bounds.into_iter().enumerate().filter(|(at, _)| (last - at).is_multiple_of(every)).map(|(_, bound)| bound).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Vec<(u64, u64)> {
        let mut histogram = LatencyHistogram::new();
        values.iter().for_each(|value| histogram.record_ns(*value));
        bins(&histogram).iter().map(|bin| (bin.upto_ns, bin.count)).collect()
    }

    #[test]
    fn every_sample_stands_in_one_bar() {
        assert_eq!(of(&[]), []);
        assert_eq!(of(&[990_000]), [(1_000_000, 1)]);
        assert_eq!(of(&[900, 1_200, 1_400, 4_000]), [(1_000, 1), (1_500, 2), (2_000, 0), (3_000, 0), (5_000, 1)]);
        let wide = of(&[30_000, 40_000, 2_000_000_000]);
        assert!(wide.len() <= 12, "{wide:?}");
        assert_eq!(wide.iter().map(|(_, count)| count).sum::<u64>(), 3);
    }
}
