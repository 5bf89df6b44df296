//! A latency histogram as bytes: a run has thousands, and each takes a quarter of a megabyte when unpacked.

use std::fmt::Write;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tare_stats::StatsError;
use tare_stats::histogram::LatencyHistogram;

/// The bytes of a valid [`LatencyHistogram`]; empty if it has no samples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackedHistogram {
    bytes: Vec<u8>,
    samples: u64,
}

impl PackedHistogram {
    /// Checks bytes that come from a file.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, StatsError> {
        let samples = if bytes.is_empty() { 0 } else { LatencyHistogram::from_bytes(&bytes)?.len() };
        Ok(Self { bytes, samples })
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub const fn samples(&self) -> u64 {
        self.samples
    }

    pub const fn is_empty(&self) -> bool {
        self.samples == 0
    }

    pub fn unpack(&self) -> LatencyHistogram {
        // The bytes were checked when the value was made, so only the empty form uses the default.
        LatencyHistogram::from_bytes(&self.bytes).unwrap_or_default()
    }

    pub fn merge_into(&self, sum: &mut LatencyHistogram) {
        if !self.bytes.is_empty() {
            sum.merge(&self.unpack());
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if other.samples > 0 {
            let mut sum = self.unpack();
            other.merge_into(&mut sum);
            *self = Self::from(&sum);
        }
    }
}

impl Serialize for PackedHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(2 * self.bytes.len());
        self.bytes.iter().try_for_each(|byte| write!(text, "{byte:02x}")).map_err(S::Error::custom)?;
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for PackedHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = digits.map(byte).collect();
        Self::from_bytes(bytes.ok_or_else(|| D::Error::custom("no hexadecimal digits"))?).map_err(D::Error::custom)
    }
}

impl From<&LatencyHistogram> for PackedHistogram {
    fn from(histogram: &LatencyHistogram) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        Self { bytes: histogram.to_bytes(), samples: histogram.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_every_sample() {
        let mut histogram = LatencyHistogram::new();
        (1..=1_000).for_each(|i| histogram.record_ns(i * 1_000));
        let packed = PackedHistogram::from(&histogram);
        assert_eq!((packed.unpack(), packed.samples()), (histogram, 1_000));
        assert_eq!(PackedHistogram::from_bytes(packed.as_bytes().to_vec()).unwrap(), packed);
    }

    #[test]
    fn no_samples_are_no_bytes() {
        let packed = PackedHistogram::from(&LatencyHistogram::new());
        assert!(packed.as_bytes().is_empty());
        assert!(packed.unpack().is_empty());
    }

    #[test]
    fn bytes_that_are_no_histogram_are_refused() {
        assert!(PackedHistogram::from_bytes(vec![1, 2, 3]).is_err());
    }
}
