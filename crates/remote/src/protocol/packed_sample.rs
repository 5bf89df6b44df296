//! A sample as a message, and back. A sample from outside is checked: no generator makes counts that contradict one another.

use serde::{Deserialize, Serialize};
use tare_sample::{ClockEstimate, ErrorClass, ErrorTallies, ErrorTally, PackedHistogram, RequestTally, SliceSample};

use super::ProtocolError;
use super::frame::Bytes;

/// No count of one period is larger, so that the sums of a long load do not overflow.
const LARGEST_COUNT: u64 = 1 << 44;
/// The limit for the time that all requests of a period waited together: two million requests that wait for a minute each.
const LONGEST_WAITING_NS: u64 = 1 << 57;
const MOST_WORKERS: u32 = 1 << 16;
/// The longest text of an error, in characters.
const LONGEST_EXAMPLE: usize = 300;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackedSample {
    /// All counters, in the JSON form that records have. Its start counts from the start of the load.
    counters: SliceSample<PackedHistogram>,
    /// All histograms in the order of their declaration, in HdrHistogram's packed form; empty without samples.
    histograms: Vec<Bytes>,
}

/// What an agent did in a whole load, of whose periods it has sent the samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadTotals {
    pub offered: u64,
    pub ok: u64,
    pub failed: u64,
    pub completed: u64,
    /// What is known of the server's clock, and the largest error.
    pub clock: Option<ClockEstimate>,
    pub clock_within_ns: u64,
}

/// The message of a sample. Its start counts from `begin_ns`, in nanoseconds on the clock of the sample.
pub fn pack_sample(sample: SliceSample, begin_ns: u64) -> PackedSample {
    let mut counters = sample.pack();
    counters.start_ns = counters.start_ns.saturating_sub(begin_ns);
    let bytes = |histogram| Bytes(std::mem::take::<PackedHistogram>(histogram).as_bytes().to_vec());
    let histograms = counters.histograms_mut().map(bytes).collect();
    PackedSample { counters, histograms }
}

/// The sample of the message of a period or a turn. An error if its counts cannot be true.
pub fn unpack_sample(message: PackedSample) -> Result<SliceSample<PackedHistogram>, ProtocolError> {
    let untrue = |reason: String| ProtocolError::Sample(reason);
    let PackedSample { counters: mut sample, histograms } = message;
    check_sizes(&sample).map_err(untrue)?;
    sample.errors = with_plain_examples(&sample.errors);
    sample.connection_events = with_plain_examples(&sample.connection_events);
    for text in sample.statuses.0.values_mut().map(|tally| &mut tally.example) {
        *text = plain(text);
    }
    for tally in &mut sample.by_request {
        // The name is as the coordinator has it, so that conditions find it.
        tally.name = without_control(&tally.name).collect();
        tally.example = plain(&tally.example);
    }
    let (held, wanted) = (histograms.len(), sample.histograms().count());
    if held != wanted {
        return Err(untrue(format!("{held} histograms instead of {wanted}")));
    }
    for (histogram, bytes) in sample.histograms_mut().zip(histograms) {
        *histogram = PackedHistogram::from_bytes(bytes.0).map_err(|error| untrue(error.to_string()))?;
    }
    sample.contradiction().map_or(Ok(sample), |contradiction| Err(untrue(contradiction)))
}

fn check_sizes(sample: &SliceSample<PackedHistogram>) -> Result<(), String> {
    let times = [sample.start_ns, sample.discarded_head_ns, sample.window_ns, sample.tick_ns];
    let messages = &sample.messages;
    let pushed = [messages.received, messages.missing, messages.late, messages.subscriptions, messages.silent];
    let tallies = sample.errors.iter().chain(sample.connection_events.iter()).map(|(_, tally)| tally.count);
    let statuses = sample.statuses.0.values().flat_map(|tally| [tally.count, tally.failed]);
    let requests = sample.by_request.iter().flat_map(|tally| [tally.ok, tally.failed, tally.messages]);
    let tallies = tallies.chain(statuses).chain(requests);
    let counters = sample.counters().filter(|(name, _)| *name != "blocked_ns").map(|(_, count)| count);
    let count = counters.chain(times).chain(pushed).chain(tallies).max().unwrap_or(0);
    if count > LARGEST_COUNT || sample.blocked_ns > LONGEST_WAITING_NS {
        return Err(format!("{} is larger than any count", count.max(sample.blocked_ns)));
    }
    if sample.by_request.len() > RequestTally::MOST + 1 || sample.statuses.0.values().any(|one| one.failed > one.count)
    {
        return Err("more requests or failed answers than there can be".to_owned());
    }
    if sample.workers > MOST_WORKERS {
        return Err(format!("{} workers are too many", sample.workers));
    }
    Ok(())
}

/// Replaces control characters: a text comes from another machine and is printed.
fn without_control(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c })
}

fn plain(text: &str) -> String {
    without_control(text).take(LONGEST_EXAMPLE).collect()
}

fn with_plain_examples(tallies: &ErrorTallies) -> ErrorTallies {
    let of_class = |(class, tally): (ErrorClass, &ErrorTally)| {
        (class, ErrorTally { example: plain(&tally.example), ..tally.clone() })
    };
    tallies.iter().map(of_class).collect()
}

#[cfg(test)]
mod tests {
    use tare_sample::StatusTally;

    use super::*;

    fn sample() -> SliceSample {
        let mut sample = SliceSample {
            start_ns: 5_000,
            window_ns: 900,
            offered: 2,
            ok: 1,
            failed: 1,
            workers: 3,
            ..SliceSample::default()
        };
        sample.response.record_ns(1_000);
        sample.failed_time.record_ns(2_000);
        sample.errors.add_failure(ErrorClass::Read, "reset\u{1b}[31m");
        sample
    }

    /// What arrives of a sample that was a text on the way.
    fn sent(sample: &PackedSample) -> Result<SliceSample<PackedHistogram>, ProtocolError> {
        unpack_sample(serde_json::from_str(&serde_json::to_string(sample).unwrap()).unwrap())
    }

    #[test]
    fn a_sample_arrives_as_it_was_sent_and_its_texts_move_no_cursor() {
        let with_texts = |start_ns: u64, escape: char| {
            let text = format!("reset{escape}[31m");
            let mut sample = SliceSample { start_ns, errors: ErrorTallies::default(), ..sample() };
            sample.errors.add_failure(ErrorClass::Read, &text);
            sample.statuses.0.insert(503, StatusTally { count: 1, failed: 1, example: text.clone() });
            let response = PackedHistogram::from(&sample.response);
            let name = format!("GET /{}{escape}", "a".repeat(1_000));
            sample.by_request.push(RequestTally { name, ok: 1, failed: 1, messages: 0, example: text, response });
            sample
        };
        let read = sent(&pack_sample(with_texts(5_000, '\u{1b}'), 4_000)).unwrap();
        assert_eq!(read, with_texts(1_000, '\u{FFFD}').pack());
    }

    #[test]
    fn requests_may_wait_long_together() {
        // After a network was cut for 5 s, 8,000 requests had waited for 7.5 hours together.
        let waited = SliceSample { blocked: 2, blocked_ns: 26_876_534_339_160, ..sample() };
        assert_eq!(sent(&pack_sample(waited, 0)).unwrap().blocked_ns, 26_876_534_339_160);
    }

    #[test]
    fn what_no_generator_makes_is_refused() {
        let good = || pack_sample(sample(), 0);
        let with = |key: &str, value: u64| {
            let mut message = serde_json::to_value(good()).unwrap();
            message["counters"][key] = value.into();
            serde_json::from_value(message).unwrap()
        };
        let with_status = |count: u64, failed: u64| {
            let mut sample = sample();
            sample.statuses.0.insert(200, StatusTally { count, failed, example: String::new() });
            pack_sample(sample, 0)
        };
        let with_histograms = |histograms: Vec<Bytes>| PackedSample { histograms, ..good() };
        for (message, says) in [
            (with_histograms(Vec::new()), "0 histograms instead of 6"),
            (with_histograms(vec![Bytes::default(); 5]), "5 histograms instead of 6"),
            (with_histograms(vec![Bytes(vec![7; 9]); 6]), "cannot be true"),
            (with("ok", 7), "2 requests offered contradict 8 that ended"),
            (with("bytes_in", u64::MAX), "larger than any count"),
            (with("blocked_ns", u64::MAX), "larger than any count"),
            (with("window_ns", u64::MAX), "larger than any count"),
            (with("workers", 1 << 20), "workers are too many"),
            (with_status(1, 2), "failed answers"),
            (with_status(u64::MAX, 0), "larger than any count"),
        ] {
            let error = unpack_sample(message).unwrap_err().to_string();
            assert!(error.contains(says), "{says}: {error}");
        }
    }
}
