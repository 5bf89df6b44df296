//! A histogram as bytes for a database, in the V2 encoding that all HdrHistogram ports read.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

use super::{HIGHEST_NS, LatencyHistogram, SIGNIFICANT_DIGITS};
use crate::error::StatsError;

/// Cookie, payload length, offset, digits (4 bytes each), lowest, highest, ratio (8 bytes each), all big-endian.
const HEADER_BYTES: usize = 40;
/// More samples than any run can take; sums of thousands of such histograms still fit 64 bits.
const MOST_SAMPLES: u64 = 1 << 48;

impl LatencyHistogram {
    /// The samples in HdrHistogram's V2 encoding: empty stretches cost next to nothing, a usual slice is a few KB.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Only a single count above i64::MAX could fail here, and no run lasts that long.
        V2Serializer::new().serialize(&self.inner, &mut bytes).expect("writing to memory cannot fail");
        bytes
    }

    /// The histogram that [`to_bytes`](Self::to_bytes) wrote. Errors: the bytes are not such a histogram: cut short,
    /// altered, or of other bounds.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StatsError> {
        check_frame(bytes)?;
        let mut inner: Histogram<u64> =
            Deserializer::new().deserialize(&mut &bytes[..]).map_err(|e| corrupt(format!("its counts: {e}")))?;
        // Equal resolution and the common cap are what makes merging exact and infallible, so nothing else is let in.
        if (inner.low(), inner.sigfig()) != (1, SIGNIFICANT_DIGITS) {
            return Err(corrupt(format!("its lowest value is {} and its digits are {}", inner.low(), inner.sigfig())));
        }
        // The decoder's own sum stops at the highest number, where that of a quantile would overflow.
        if inner.len() > MOST_SAMPLES {
            return Err(corrupt(format!("it claims {} samples or more", inner.len())));
        }
        inner.auto(true);
        Ok(Self { inner })
    }
}

/// Checks what the decoder does not check: the length and range that the header claims, and runs of zeros.
fn check_frame(bytes: &[u8]) -> Result<(), StatsError> {
    let Some(payload) = bytes.get(HEADER_BYTES..) else {
        return Err(corrupt(format!("{} bytes are fewer than the header's {HEADER_BYTES}", bytes.len())));
    };
    let claimed = u32::from_be_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
    if claimed as usize != payload.len() {
        return Err(corrupt(format!("its header claims {claimed} bytes of counts and {} follow", payload.len())));
    }
    let highest =
        u64::from_be_bytes([bytes[24], bytes[25], bytes[26], bytes[27], bytes[28], bytes[29], bytes[30], bytes[31]]);
    if highest > HIGHEST_NS {
        return Err(corrupt(format!("its highest value is {highest}")));
    }
    if payload.windows(9).any(|w| w == [0xff; 9]) {
        return Err(corrupt("a count is out of range".to_owned()));
    }
    Ok(())
}

fn corrupt(cause: String) -> StatsError {
    StatsError::CorruptHistogram { cause }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        (0..1_000u64).for_each(|i| histogram.record_ns(50_000 + i * i * 97));
        histogram
    }

    #[test]
    fn bytes_bring_back_the_same_histogram() {
        for histogram in [LatencyHistogram::new(), sample()] {
            assert_eq!(LatencyHistogram::from_bytes(&histogram.to_bytes()).unwrap(), histogram);
        }
    }

    #[test]
    fn what_was_read_back_still_takes_every_value() {
        let mut histogram = LatencyHistogram::from_bytes(&LatencyHistogram::new().to_bytes()).unwrap();
        histogram.record_ns(u64::MAX);
        histogram.merge(&sample());
        assert_eq!((histogram.len(), histogram.max_ns()), (1_001, Some(HIGHEST_NS)));
    }

    #[test]
    fn every_truncation_is_refused() {
        let bytes = sample().to_bytes();
        for end in 0..bytes.len() {
            assert!(LatencyHistogram::from_bytes(&bytes[..end]).is_err(), "cut at {end}");
        }
        assert!(LatencyHistogram::from_bytes(&[&bytes[..], &[0]].concat()).is_err(), "a byte too many");
    }

    #[test]
    fn other_bounds_are_refused() {
        let mut other = Histogram::<u64>::new_with_bounds(1, 1_000_000, 2).unwrap();
        other.record(5).unwrap();
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&other, &mut bytes).unwrap();
        let error = LatencyHistogram::from_bytes(&bytes).unwrap_err();
        assert!(error.to_string().contains("digits are 2"), "{error}");
    }

    #[test]
    fn a_range_beyond_the_cap_is_refused_before_memory_is_reserved_for_it() {
        let mut bytes = LatencyHistogram::new().to_bytes();
        bytes[24..32].copy_from_slice(&(HIGHEST_NS + 1).to_be_bytes());
        let error = LatencyHistogram::from_bytes(&bytes).unwrap_err();
        assert!(error.to_string().contains("highest value is 4398046511104"), "{error}");
    }

    #[test]
    fn more_samples_than_can_be_added_up_are_refused() {
        let mut inner = Histogram::<u64>::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS).unwrap();
        inner.record_n(5, i64::MAX as u64).unwrap();
        inner.record_n(6, i64::MAX as u64).unwrap();
        inner.record_n(7, 2).unwrap();
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&inner, &mut bytes).unwrap();
        let error = LatencyHistogram::from_bytes(&bytes).unwrap_err();
        assert!(error.to_string().contains("samples or more"), "{error}");
    }

    #[test]
    fn a_zero_run_of_impossible_length_is_refused() {
        let mut bytes = LatencyHistogram::new().to_bytes();
        bytes.truncate(HEADER_BYTES);
        bytes.extend([0xff; 9]);
        bytes[7] = 9;
        assert!(LatencyHistogram::from_bytes(&bytes).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

        #[test]
        fn altered_bytes_never_panic(changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8)) {
            let mut bytes = sample().to_bytes();
            for (index, byte) in changes {
                let at = index.index(bytes.len());
                bytes[at] = byte;
            }
            if let Ok(histogram) = LatencyHistogram::from_bytes(&bytes) {
                // A changed count cannot be noticed, but what was let in must be usable.
                sample().merge(&histogram);
            }
        }
    }
}
