//! Records and histograms from disk: damaged ones are rejected, or the result is usable.

use std::io::Write;

use tare_record::{PackedHistogram, Record, open_record};
use tare_stats::LatencyHistogram;

/// Bytes are rejected as a histogram, or give one that can be merged, queried and packed again.
pub fn check_histogram(bytes: &[u8]) {
    let Ok(packed) = PackedHistogram::from_bytes(bytes.to_vec()) else { return };
    let mut sum = LatencyHistogram::new();
    packed.merge_into(&mut sum);
    assert_eq!(sum.value_at_quantile_ns(0.5).is_some(), !sum.is_empty(), "a median of what has samples");
    let again = PackedHistogram::from(&sum);
    assert_eq!(again.unpack(), sum, "packing keeps every sample");
}

/// A file is rejected as a record, or is read.
///
/// # Panics
/// Also when no temporary file can be written.
pub fn check_record(bytes: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    file.write_all(bytes).expect("a temporary file can be written");
    let slices = match open_record(file.path()) {
        Ok(Record::Run(run)) => run.slices,
        Ok(Record::Load(load)) => load.intervals,
        Err(_) => return,
    };
    for slice in &slices {
        slice.load.response.merge_into(&mut LatencyHistogram::new());
    }
}
