//! Divides the requests of a load as [`LatencyParts`] does those of a slice, but keeps the times of three pieces only.

use std::time::Duration;

use crate::latency_parts::{Flights, IdleSpan, LatencyParts, late_sends, silences};
use crate::slice_sample::TracedRequest;

/// A piece with so many requests ends before its interval. The part that filled it may bring as many again.
const FULL_PIECE: usize = 500_000;

/// The division of a load so far. Each interval is one piece, or several.
#[derive(Debug, Default)]
pub struct IntervalDivision {
    longest_request_ns: u64,
    full_piece: usize,
    /// The requests of the last divided piece, and when the last of those before them was answered.
    before: Vec<TracedRequest>,
    answered_before_ns: Option<u64>,
    /// The requests of the piece that ended last. It is divided once those after them are known.
    own: Vec<TracedRequest>,
    ends_interval: bool,
    /// The requests of the piece that is open.
    next: Vec<TracedRequest>,
    /// Stops that a request which has not ended may have met, with their queues as far as these are known.
    stops: Vec<IdleSpan>,
    are_stops_told: bool,
    /// The divided pieces of the interval of `own`, and those of the intervals before it that nobody has taken.
    parts: LatencyParts,
    whole: LatencyParts,
}

impl IntervalDivision {
    /// Nothing is divided yet. A request ends at most `longest_request` after its intended start.
    pub fn new(longest_request: Duration) -> Self {
        Self {
            longest_request_ns: u64::try_from(longest_request.as_nanos()).unwrap_or(u64::MAX),
            full_piece: FULL_PIECE,
            ..Self::default()
        }
    }

    /// Adds requests that ended after all before them.
    pub fn add(&mut self, requests: &[TracedRequest]) {
        self.next.extend_from_slice(requests);
    }

    /// Adds stops that the server has told: all since the last call. Where it tells none, its silences stand for them.
    pub fn tell(&mut self, stops: &[IdleSpan]) {
        self.stops.extend_from_slice(stops);
        self.are_stops_told = true;
    }

    pub fn are_stops_told(&self) -> bool {
        self.are_stops_told
    }

    pub fn is_full(&self) -> bool {
        self.next.len() >= self.full_piece
    }

    /// Ends the open piece, and divides the one before it. The stops up to now must be told.
    pub fn end_piece(&mut self) {
        let own = std::mem::replace(&mut self.own, std::mem::take(&mut self.next));
        let around = [self.before.as_slice(), own.as_slice(), self.own.as_slice()].concat();
        // Until its first answer a server may be slow as well as silent.
        let answered_before_ns =
            self.answered_before_ns.or_else(|| around.iter().map(|request| request.ended_ns).min());
        if !self.are_stops_told {
            self.stops.extend(silences(&around, answered_before_ns.unwrap_or(0)));
        }
        let flights = Flights::of(&around);
        self.stops = flights.with_queues(&self.stops);
        let stalls: Vec<IdleSpan> = late_sends(&around).collect();
        self.parts.append(&LatencyParts::by_overlap(&own, &self.stops, &flights.with_queues(&stalls)));
        if std::mem::take(&mut self.ends_interval) {
            self.whole.append(&std::mem::take(&mut self.parts));
        }
        self.answered_before_ns = last_answer(&self.before).or(self.answered_before_ns);
        if let Some(last_ns) = last_answer(&own) {
            let begun_ns = last_ns.saturating_sub(self.longest_request_ns);
            self.stops.retain(|stop| stop.end_ns >= begun_ns);
        }
        self.before = own;
    }

    /// Ends the open interval. Its last piece is divided when the next one ends.
    pub fn end_interval(&mut self) {
        // A piece that was full at the end of the interval is its last.
        if self.ends_interval || !self.next.is_empty() {
            self.end_piece();
        }
        self.ends_interval = true;
    }

    /// The parts of the intervals that are divided to their end and were not taken.
    pub fn take_whole(&mut self) -> LatencyParts {
        std::mem::take(&mut self.whole)
    }
}

fn last_answer(trace: &[TracedRequest]) -> Option<u64> {
    trace.iter().filter(|request| request.is_answered).map(|request| request.ended_ns).max()
}

#[cfg(test)]
mod tests {
    use tare_stats::LatencyHistogram;

    use super::*;
    use crate::latency_parts::tests::{US, request, span};
    use crate::packed::PackedHistogram;
    use crate::slice_sample::SliceSample;

    /// The requests of a server that answers in 50 µs and stands still at times, one every 200 µs. Those that wait are answered
    /// 20 µs after one another.
    fn served(stops: &[IdleSpan]) -> Vec<TracedRequest> {
        let mut free_us = 0;
        (0..10_000)
            .map(|at| {
                let begin_us = at * 200;
                let mut end_us = (begin_us + 50).max(free_us + 20);
                if let Some(stop) = stops.iter().find(|stop| stop.begin_ns < end_us * US && end_us * US <= stop.end_ns)
                {
                    end_us = stop.end_ns / US + 20;
                }
                free_us = end_us;
                request(begin_us, end_us)
            })
            .collect()
    }

    /// The requests in intervals of this length, by their ends.
    fn intervals(trace: &[TracedRequest], length_us: u64) -> Vec<Vec<TracedRequest>> {
        let mut intervals = Vec::new();
        for request in trace {
            let at = (request.ended_ns / (length_us * US)) as usize;
            intervals.resize_with(intervals.len().max(at + 1), Vec::new);
            intervals[at].push(*request);
        }
        intervals
    }

    fn all(parts: &LatencyParts) -> [&PackedHistogram; 3] {
        [&parts.met_stop, &parts.met_stall, &parts.met_none]
    }

    /// The sum of the parts of all intervals, in pieces of this many requests. The server tells each stop with the interval in which it
    /// ends, or none.
    fn divided(
        trace: &[TracedRequest],
        length_us: u64,
        full_piece: usize,
        told: Option<&[IdleSpan]>,
    ) -> [LatencyHistogram; 3] {
        let mut division = IntervalDivision { full_piece, ..IntervalDivision::new(Duration::from_secs(10)) };
        let mut sum = <[LatencyHistogram; 3]>::default();
        let mut take_whole = |division: &mut IntervalDivision| {
            let whole = division.take_whole();
            all(&whole).into_iter().zip(&mut sum).for_each(|(part, sum)| part.merge_into(sum));
        };
        for (at, own) in intervals(trace, length_us).iter().enumerate() {
            let from_ns = at as u64 * length_us * US;
            let now = |stop: &&IdleSpan| (from_ns..from_ns + length_us * US).contains(&stop.end_ns);
            if let Some(told) = told {
                division.tell(&told.iter().filter(now).copied().collect::<Vec<_>>());
            }
            for part in own.chunks(100) {
                division.add(part);
                if division.is_full() {
                    division.end_piece();
                }
            }
            division.end_interval();
            take_whole(&mut division);
        }
        division.end_piece();
        take_whole(&mut division);
        sum
    }

    const STOPS: [(u64, u64); 3] = [(99_000, 119_000), (540_000, 860_000), (1_300_010, 1_302_000)];

    #[test]
    fn intervals_of_any_length_divide_as_the_whole_does() {
        let stops = STOPS.map(|(begin_us, end_us)| span(begin_us, end_us));
        let trace = served(&stops);
        let whole = SliceSample { offered: trace.len() as u64, trace: trace.clone(), ..SliceSample::default() };
        let expected = LatencyParts::of(&whole, &stops, &[]).unwrap();
        assert!(expected.met_stop.samples() > 1_700 && expected.met_none.samples() > 7_000, "{expected:?}");
        let expected = all(&expected).map(PackedHistogram::unpack);
        for length_us in [50_000, 100_000, 333_000, 5_000_000] {
            for full_piece in [700, 20_000] {
                let name = format!("intervals of {length_us} µs, pieces of {full_piece} requests");
                assert_eq!(divided(&trace, length_us, full_piece, Some(&stops)), expected, "{name}");
                assert_eq!(divided(&trace, length_us, full_piece, None), expected, "seen, not told: {name}");
            }
        }
    }

    #[test]
    fn what_is_in_flight_at_the_end_of_an_interval_is_no_silence() {
        // Each takes 10 ms, and ten are in flight at any time.
        let trace: Vec<TracedRequest> = (0..2_000).map(|at| request(at * 900, at * 900 + 10_000)).collect();
        for length_us in [20_000, 50_000, 100_000] {
            assert_eq!(divided(&trace, length_us, 20_000, None)[0].len(), 0, "{length_us}");
        }
    }

    #[test]
    fn each_interval_has_its_own_requests_however_many_pieces_it_is_divided_in() {
        let trace: Vec<TracedRequest> = (0..500).map(|at| request(at * 200, at * 200 + 50)).collect();
        for full_piece in [30, 50, 100, 1_000] {
            let mut division = IntervalDivision { full_piece, ..IntervalDivision::new(Duration::from_secs(10)) };
            let mut whole = Vec::new();
            // Two intervals have requests, one has none, and the last is short.
            for interval in [&trace[..200], &trace[200..400], &[], &trace[400..]] {
                for part in interval.chunks(10) {
                    division.add(part);
                    if division.is_full() {
                        division.end_piece();
                    }
                    assert!(division.own.len().max(division.next.len()) <= full_piece);
                }
                division.end_interval();
                whole.push(division.take_whole().met_none.samples());
            }
            division.end_piece();
            whole.push(division.take_whole().met_none.samples());
            assert_eq!(whole, [0, 200, 200, 0, 100], "{full_piece}");
        }
    }
}
