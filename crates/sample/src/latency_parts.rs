//! Divides answered requests into those that met a stop of the server, those that met a stall of the machine or of the
//! generator, and others: by the first of these that each overlaps between its intended start and its end. A stop lasts
//! until the queue that it caused is gone: a request that waits behind those that arrived during it has met it too.

use tare_stats::LatencyHistogram;

use crate::packed::PackedHistogram;
use crate::slice_sample::{SliceSample, TracedRequest};

/// The shortest time that is a silence of the server.
const SILENCE_NS: u64 = 1_000_000;

/// The shortest lateness that shows a stall of the generator. On a quiet machine fewer than one in 1000 requests are
/// later. With a longer one, stalls just below it decided the p99 of the others.
const LATE_NS: u64 = 100_000;

/// So many requests must wait at once for an answer to anyone, so that a slow request alone is no silence of the server.
const WAITING: usize = 3;

/// A time in which a server or the machine did nothing, in nanoseconds on the clock of the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IdleSpan {
    pub begin_ns: u64,
    pub end_ns: u64,
}

/// The response times of the three parts. Together they are those of the whole slice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LatencyParts {
    pub met_stop: PackedHistogram,
    /// Requests that met a stall of the machine or of the generator, and no stop of the server.
    pub met_stall: PackedHistogram,
    pub met_none: PackedHistogram,
}

impl LatencyParts {
    /// `stops` are those of the server, `stalls` those of the machine; those of the generator follow from what it sent
    /// late. `None` where the slice does not have the times of all its requests.
    pub fn of(sample: &SliceSample, stops: &[IdleSpan], stalls: &[IdleSpan]) -> Option<Self> {
        let SliceSample { trace, offered, cancelled, .. } = sample;
        if *cancelled || trace.len() as u64 != *offered {
            return None;
        }
        let flights = Flights::of(trace);
        let stalls: Vec<IdleSpan> = stalls.iter().copied().chain(late_sends(trace)).collect();
        Some(Self::by_overlap(trace, &flights.with_queues(stops), &flights.with_queues(&stalls)))
    }

    /// Divides requests by the spans that they overlap, which are in order and apart from one another.
    pub(crate) fn by_overlap(trace: &[TracedRequest], stops: &[IdleSpan], stalls: &[IdleSpan]) -> Self {
        let [mut met_stop, mut met_stall, mut met_none] = <[LatencyHistogram; 3]>::default();
        for request in trace.iter().filter(|request| request.is_answered) {
            let part = if meets(stops, request.intended_ns, request.ended_ns) {
                &mut met_stop
            } else if meets(stalls, request.intended_ns, request.ended_ns) {
                &mut met_stall
            } else {
                &mut met_none
            };
            part.record_ns(request.ended_ns.saturating_sub(request.intended_ns));
        }
        Self { met_stop: (&met_stop).into(), met_stall: (&met_stall).into(), met_none: (&met_none).into() }
    }

    pub(crate) fn append(&mut self, others: &Self) {
        self.met_stop.merge(&others.met_stop);
        self.met_stall.merge(&others.met_stall);
        self.met_none.merge(&others.met_none);
    }
}

/// The times of a millisecond or more in which several requests waited and none was answered, for a server that does
/// not tell its stops; a stall of its machine looks the same. Each begins with the first request that was sent in vain.
/// Until `answered_until_ns` others were answered, which the trace does not have.
pub fn silences(trace: &[TracedRequest], answered_until_ns: u64) -> Vec<IdleSpan> {
    let mut sends: Vec<u64> = trace.iter().filter_map(|request| request.sent_ns).collect();
    let mut answers: Vec<u64> = trace.iter().filter(|request| request.is_answered).map(|one| one.ended_ns).collect();
    // A silence may be under way when the slice begins.
    answers.push(answered_until_ns);
    sends.sort_unstable();
    answers.sort_unstable();
    let silence = |pair: &[u64]| {
        let waiting =
            &sends[sends.partition_point(|sent| *sent < pair[0])..sends.partition_point(|sent| *sent < pair[1])];
        let span = IdleSpan { begin_ns: *waiting.first()?, end_ns: pair[1] };
        (waiting.len() >= WAITING && span.end_ns - span.begin_ns >= SILENCE_NS).then_some(span)
    };
    answers.windows(2).filter_map(silence).collect()
}

/// The times in which the generator should have sent a request and did not.
pub(crate) fn late_sends(trace: &[TracedRequest]) -> impl Iterator<Item = IdleSpan> {
    let late_send = |request: &TracedRequest| {
        let span = IdleSpan { begin_ns: request.intended_ns, end_ns: request.sent_ns? };
        (span.end_ns.saturating_sub(span.begin_ns) >= LATE_NS).then_some(span)
    };
    trace.iter().filter(|request| !request.was_blocked).filter_map(late_send)
}

/// Whether a time from one moment to another meets one of these spans, which are in order and apart from one another.
fn meets(spans: &[IdleSpan], from_ns: u64, until_ns: u64) -> bool {
    let next = spans.partition_point(|span| span.end_ns < from_ns);
    spans.get(next).is_some_and(|span| span.begin_ns <= until_ns)
}

/// The spans in order of time; those that meet are one.
fn joined(mut spans: Vec<IdleSpan>) -> Vec<IdleSpan> {
    spans.sort_unstable();
    spans.dedup_by(|later, earlier| {
        let is_one = later.begin_ns <= earlier.end_ns;
        if is_one {
            earlier.end_ns = earlier.end_ns.max(later.end_ns);
        }
        is_one
    });
    spans
}

/// When the requests of a slice began and ended, each in order of time.
pub(crate) struct Flights {
    begins: Vec<u64>,
    ends: Vec<u64>,
}

impl Flights {
    pub(crate) fn of(trace: &[TracedRequest]) -> Self {
        let mut begins: Vec<u64> = trace.iter().map(|request| request.intended_ns).collect();
        let mut ends: Vec<u64> = trace.iter().map(|request| request.ended_ns).collect();
        begins.sort_unstable();
        ends.sort_unstable();
        Self { begins, ends }
    }

    /// How many requests are in flight just before this moment.
    fn before(&self, at_ns: u64) -> usize {
        let begun = self.begins.partition_point(|begin| *begin < at_ns);
        begun.saturating_sub(self.ends.partition_point(|end| *end < at_ns))
    }

    /// The spans in order of time, each until the queue that it caused is gone; those that meet are one.
    pub(crate) fn with_queues(&self, spans: &[IdleSpan]) -> Vec<IdleSpan> {
        let spans = joined(spans.to_vec());
        let usual = self.usual_outside(&spans);
        let mut gone_ns = 0;
        let until_gone = spans.into_iter().map(|span| {
            // The queue in which a span ends is followed once, however many end in it.
            if span.end_ns > gone_ns {
                gone_ns = self.queue_gone_at(span, usual);
            }
            IdleSpan { end_ns: gone_ns, ..span }
        });
        joined(until_gone.collect())
    }

    /// How many requests one that arrives outside these spans finds in flight, in the median.
    fn usual_outside(&self, spans: &[IdleSpan]) -> usize {
        let is_outside = |begin: &&u64| !meets(spans, **begin, **begin);
        let mut found: Vec<usize> = self.begins.iter().filter(is_outside).map(|begin| self.before(*begin)).collect();
        found.sort_unstable();
        found.get(found.len().saturating_sub(1) / 2).copied().unwrap_or(0)
    }

    /// When at most `usual` requests are in flight: the end of the span, or of a later request.
    fn queue_gone_at(&self, span: IdleSpan, usual: usize) -> u64 {
        let mut ended = self.ends.partition_point(|end| *end <= span.end_ns);
        let mut begun = self.begins.partition_point(|begin| *begin <= span.end_ns);
        let mut at_ns = span.end_ns;
        while begun.saturating_sub(ended) > usual {
            let Some(end) = self.ends.get(ended) else { break };
            at_ns = *end;
            ended += 1;
            begun += self.begins[begun..].iter().take_while(|begin| **begin <= at_ns).count();
        }
        at_ns
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const US: u64 = 1_000;

    pub(crate) fn request(intended_us: u64, ended_us: u64) -> TracedRequest {
        TracedRequest {
            intended_ns: intended_us * US,
            sent_ns: Some(intended_us * US),
            ended_ns: ended_us * US,
            is_answered: true,
            was_blocked: false,
        }
    }

    pub(crate) fn span(begin_us: u64, end_us: u64) -> IdleSpan {
        IdleSpan { begin_ns: begin_us * US, end_ns: end_us * US }
    }

    fn sample(trace: Vec<TracedRequest>) -> SliceSample {
        SliceSample { offered: trace.len() as u64, trace, ..SliceSample::default() }
    }

    /// How many requests met a stop, and how many a stall.
    fn counts(trace: Vec<TracedRequest>, stops: &[IdleSpan], stalls: &[IdleSpan]) -> (u64, u64) {
        let answered = trace.iter().filter(|request| request.is_answered).count() as u64;
        let parts = LatencyParts::of(&sample(trace), stops, stalls).unwrap();
        assert_eq!(parts.met_stop.samples() + parts.met_stall.samples() + parts.met_none.samples(), answered);
        (parts.met_stop.samples(), parts.met_stall.samples())
    }

    #[test]
    fn a_request_belongs_to_the_part_whose_time_it_overlaps() {
        let trace = vec![request(0, 99), request(90, 100), request(150, 210), request(200, 220), request(400, 401)];
        assert_eq!(counts(trace.clone(), &[span(100, 200)], &[]), (3, 0), "touching is meeting");
        assert_eq!(counts(trace.clone(), &[], &[span(100, 200)]), (0, 3));
        assert_eq!(counts(trace.clone(), &[span(100, 120)], &[span(100, 200)]), (1, 2), "a stop comes before a stall");
        assert_eq!(counts(trace, &[], &[]), (0, 0));
    }

    #[test]
    fn a_slow_request_that_met_no_stop_belongs_to_none() {
        let trace = vec![request(0, 9_000), request(20_000, 20_100)];
        assert_eq!(counts(trace, &[span(20_050, 20_060)], &[]), (1, 0));
    }

    #[test]
    fn a_stop_lasts_until_the_queue_that_it_caused_is_gone() {
        // One request is always in flight. Three arrive during the stop, and two while these are answered.
        let trace = vec![
            request(0, 1_000),
            request(110, 210),
            request(120, 220),
            request(130, 230),
            request(215, 240),
            request(225, 250),
            request(260, 270),
        ];
        assert_eq!(counts(trace, &[span(100, 200)], &[]), (6, 0), "the last one arrives behind nobody");
    }

    #[test]
    fn two_stops_in_one_queue_are_one_and_an_unfinished_queue_ends_with_its_last_request() {
        let trace = vec![request(10, 90), request(20, 95), request(60, 99)];
        let flights = Flights::of(&trace);
        assert_eq!(flights.with_queues(&[span(50, 55), span(15, 40)]), [span(15, 99)]);
        assert_eq!(flights.with_queues(&[span(200, 300)]), [span(200, 300)], "nothing waited");
    }

    #[test]
    fn stops_in_the_queue_of_another_last_as_each_alone_does() {
        let trace: Vec<TracedRequest> =
            (0..3_000).map(|at| request(at * 10, at * 10 + 5 + (at % 500) * (at % 7) * 3)).collect();
        let stops: Vec<IdleSpan> = (0..150).map(|at| span(at * 190, at * 190 + 20 + at % 60)).collect();
        let flights = Flights::of(&trace);
        let usual = flights.usual_outside(&stops);
        let alone = |stop: &IdleSpan| IdleSpan { end_ns: flights.queue_gone_at(*stop, usual), ..*stop };
        let expected = joined(stops.iter().map(alone).collect());
        assert_eq!((expected.len(), flights.with_queues(&stops)), (93, expected));
    }

    #[test]
    fn a_server_that_never_catches_up_is_in_its_stop_for_the_rest_of_the_slice() {
        // Each request takes 300 µs, and one comes every 200 µs: after a stop the queue only grows.
        let calm = (0..40).map(|at| request(at * 400, at * 400 + 300));
        let overload = (0..50).map(|at| request(16_000 + at * 200, 19_000 + at * 300));
        let trace: Vec<TracedRequest> = calm.chain(overload).collect();
        assert_eq!(counts(trace, &[span(16_000, 18_000)], &[]), (50, 0));
    }

    #[test]
    fn a_generator_that_sends_late_stalls_unless_no_connection_was_free() {
        let late_by = |us: u64| TracedRequest { sent_ns: Some(us * US), ..request(0, us + 100) };
        let blocked = TracedRequest { was_blocked: true, ..late_by(150) };
        let trace = |first| vec![first, request(100, 170), request(500, 510)];
        assert_eq!(counts(trace(late_by(150)), &[], &[]), (0, 2));
        assert_eq!(counts(trace(late_by(99)), &[], &[]), (0, 0), "too short");
        assert_eq!(counts(trace(blocked), &[], &[]), (0, 0));
    }

    #[test]
    fn a_server_is_silent_while_several_requests_wait_and_none_is_answered() {
        let quick = (0..20).map(|at| request(at * 200, at * 200 + 50));
        let stopped = (20..30).map(|at| request(at * 200, 6_000 + at));
        let later = (31..40).map(|at| request(at * 200, at * 200 + 50));
        let trace: Vec<TracedRequest> = quick.chain(stopped).chain(later).collect();
        assert_eq!(silences(&trace, 0), [span(4_000, 6_020)]);
        let (met, _) = counts(trace.clone(), &silences(&trace, 0), &[]);
        assert_eq!(met, 10, "those that waited");
    }

    #[test]
    fn slow_requests_beside_quick_ones_and_a_rest_without_requests_are_no_silence() {
        let slow = [request(1_000, 11_000), request(1_010, 11_010), request(1_020, 11_020)];
        let beside: Vec<TracedRequest> = (0..80).map(|at| request(at * 200, at * 200 + 50)).chain(slow).collect();
        assert_eq!(silences(&beside, 0), []);
        assert_eq!(silences(&[request(0, 10), request(9_000, 9_010), request(9_900, 9_910)], 0), []);
        assert_eq!(silences(&slow[..2], 0), [], "two may be slow by themselves");
        assert_eq!(silences(&slow, 0), [span(1_000, 11_000)], "under way when the slice began");
        assert_eq!(silences(&slow, 10_500 * US), [], "others were answered meanwhile");
        assert_eq!(silences(&[], 0), []);
    }

    #[test]
    fn failed_requests_are_in_no_part_and_a_slice_without_all_its_times_is_not_divided() {
        let failed = TracedRequest { is_answered: false, ..request(10, 20) };
        assert_eq!(counts(vec![failed, request(12, 14)], &[span(0, 100)], &[]), (1, 0));
        let cut = SliceSample { offered: 3, ..sample(vec![request(10, 20)]) };
        assert_eq!(LatencyParts::of(&cut, &[], &[]), None);
        let cancelled = SliceSample { cancelled: true, ..sample(vec![request(10, 20)]) };
        assert_eq!(LatencyParts::of(&cancelled, &[], &[]), None);
    }
}
