//! HdrHistogram's interval log (`.hlog`): histograms over time in one text, as its log processors read it.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{
    IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, LogIteratorError,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};

use super::{LatencyHistogram, NS_PER_MS};
use crate::error::StatsError;

/// The log of histograms in nanoseconds, each with its start and its length counted from `begin`, the time since 1970.
/// Their maxima follow in milliseconds. Source: the log format version 1.3 of HdrHistogram, with V2 compressed
/// histograms.
pub fn interval_log(begin: Duration, parts: impl Iterator<Item = (Duration, Duration, LatencyHistogram)>) -> String {
    let (mut text, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
    let mut builder = IntervalLogWriterBuilder::new();
    builder.add_comment("Response times in nanoseconds, maxima in milliseconds");
    builder.with_start_time(UNIX_EPOCH + begin).with_base_time(UNIX_EPOCH + begin).with_max_value_divisor(NS_PER_MS);
    let mut log = builder.begin_log_with(&mut text, &mut serializer).expect("writing to memory cannot fail");
    for (start, length, histogram) in parts {
        log.write_histogram(&histogram.inner, start, length, None).expect("writing to memory cannot fail");
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// The histograms of each tag of a log together, in the unit in which it has them; those without a tag under `""`. Errors: a
/// line is none of the format, or a histogram cannot be read; the log has no histogram.
pub fn read_interval_log(text: &str) -> Result<BTreeMap<&str, LatencyHistogram>, StatsError> {
    let refuse = |cause: String| StatsError::NoIntervalLog { cause };
    let mut tags = BTreeMap::new();
    for entry in IntervalLogIterator::new(text.as_bytes()) {
        let entry = entry.map_err(|LogIteratorError::ParseError { offset }| {
            let line = text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
            refuse(format!("line {line} is none of an interval log"))
        })?;
        let LogEntry::Interval(interval) = entry else { continue };
        let decoded =
            BASE64_STANDARD.decode(interval.encoded_histogram()).map_err(|error| refuse(error.to_string()))?;
        let part: Histogram<u64> =
            Deserializer::new().deserialize(&mut &decoded[..]).map_err(|error| refuse(error.to_string()))?;
        let whole: &mut LatencyHistogram = tags.entry(interval.tag().map_or("", |tag| tag.as_str())).or_default();
        whole.inner.add(part).map_err(|error| refuse(format!("{error:?}")))?;
    }
    if tags.is_empty() {
        return Err(refuse("the log has no histogram".to_owned()));
    }
    Ok(tags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_logged_reads_back() {
        let mut histogram = LatencyHistogram::new();
        (1..=100).for_each(|i| histogram.record_ns(i * 10_000));
        let second = Duration::from_secs(1);
        let parts = [(Duration::ZERO, second, histogram.clone()), (second, second, LatencyHistogram::new())];
        let text = interval_log(Duration::from_millis(1_500), parts.into_iter());
        let entries: Vec<LogEntry> = IntervalLogIterator::new(text.as_bytes()).map(Result::unwrap).collect();
        let intervals: Vec<_> = entries
            .iter()
            .filter_map(|entry| match entry {
                LogEntry::Interval(i) => Some(i),
                _ => None,
            })
            .collect();
        assert_eq!((intervals.len(), intervals[1].start_timestamp(), intervals[0].max()), (2, second, 1.0));
        let bytes = BASE64_STANDARD.decode(intervals[0].encoded_histogram()).unwrap();
        let back: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        assert_eq!(back, histogram.inner);
    }

    #[test]
    fn a_log_is_read_as_one_histogram() {
        let parts: Vec<LatencyHistogram> = [10_000, 20_000]
            .map(|value| {
                let mut part = LatencyHistogram::new();
                (0..50).for_each(|_| part.record_ns(value));
                part
            })
            .to_vec();
        let second = Duration::from_secs(1);
        let text = interval_log(Duration::ZERO, parts.iter().map(|part| (Duration::ZERO, second, part.clone())));
        let whole = &read_interval_log(&text).unwrap()[""];
        assert_eq!((whole.len(), whole.count_above_ns(15_000)), (100, 50));
        for broken in ["", "no log at all", &text[..text.len() - 20]] {
            assert!(matches!(read_interval_log(broken), Err(StatsError::NoIntervalLog { .. })), "{broken}");
        }
        let error = read_interval_log("# a comment\nno line\n").unwrap_err().to_string();
        assert_eq!(error, "it is no interval log of HdrHistogram: line 2 is none of an interval log");
    }
}
