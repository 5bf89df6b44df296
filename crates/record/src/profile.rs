//! The result of a sampler in one profiled start: raw stacks, and the figures that turn their shares into costs.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};
use tare_plan::profile::ProfileEvent;

use crate::figure::read_number;

/// Largest unpacked text of a profile; tare writes none that is longer.
const LONGEST_BYTES: u64 = 4 << 30;

/// One profile: one event, of one variant, in one start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileRecord {
    /// 1-based start.
    pub fork: u32,
    pub group: String,
    pub scenario: String,
    pub variant: String,
    pub event: ProfileEvent,
    /// The sampler and its settings: `async-profiler 4.5, every 1 ms of CPU time`.
    pub sampler: String,
    pub span_ns: u64,
    #[serde(deserialize_with = "read_number")]
    pub offered_per_s: f64,
    /// Correct answers during the recording.
    pub requests: u64,
    /// CPU time of the server's processes during the recording, from the kernel; `None` if unknown.
    pub cpu_ns: Option<u64>,
    /// Name of the sampler's own file, in the folder `profiles` of the run.
    pub file: Option<String>,
    pub weight: Weight,
    #[serde(skip)]
    pub stacks: PackedText,
}

/// The unit of stacks' weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    Samples { every_ns: u64 },
    Ns,
    Bytes,
}

/// Long text, compressed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackedText(Vec<u8>);

impl PackedText {
    pub fn pack(text: &str) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        // Writing to memory cannot fail.
        let _ = encoder.write_all(text.as_bytes());
        Self(encoder.finish().unwrap_or_default())
    }

    /// Bytes of a file, not checked yet.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn unpack(&self) -> io::Result<String> {
        self.unpack_within(LONGEST_BYTES)
    }

    /// The text of at most `limit` bytes. Memory does not grow beyond them. Errors: when it is longer, or the bytes are
    /// damaged.
    pub fn unpack_within(&self, limit: u64) -> io::Result<String> {
        let mut text = Vec::new();
        DeflateDecoder::new(self.0.as_slice()).take(limit.saturating_add(1)).read_to_end(&mut text)?;
        let wrong = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
        if text.len() as u64 > limit {
            return Err(wrong(format!("more than {limit} bytes")));
        }
        String::from_utf8(text).map_err(|error| wrong(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_text_comes_back_and_takes_less_room() {
        let text = "main;a;b;c 5\n".repeat(1000);
        let packed = PackedText::pack(&text);
        assert!(packed.as_bytes().len() < text.len() / 20);
        assert_eq!(packed.unpack().unwrap(), text);
    }

    #[test]
    fn a_text_that_is_too_long_is_refused() {
        let packed = PackedText::pack(&"a 1\n".repeat(1_000_000));
        assert_eq!(packed.unpack_within(4_000_000).unwrap().len(), 4_000_000);
        assert!(packed.unpack_within(3_999_999).unwrap_err().to_string().contains("more than 3999999 bytes"));
    }

    #[test]
    fn damaged_bytes_are_an_error_and_not_some_other_text() {
        assert!(PackedText::from_bytes(vec![0xff, 0xff, 1, 2, 3]).unpack().is_err());
        assert!(PackedText::default().unpack().is_err());
    }
}
