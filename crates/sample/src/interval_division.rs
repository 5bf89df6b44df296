//! Divides the requests of a load as [`LatencyParts`] does those of a slice, but interval by interval, so that a load of any length
//! needs the times of three intervals at once.

use std::time::Duration;

use crate::latency_parts::{Flights, IdleSpan, LatencyParts, late_sends, silences};
use crate::slice_sample::TracedRequest;

/// The division of a load so far.
#[derive(Debug)]
pub struct IntervalDivision {
    longest_request_ns: u64,
    /// The requests that ended in the interval before, and when the last of those before them was answered.
    before: Vec<TracedRequest>,
    answered_before_ns: Option<u64>,
    /// Stops that a request which has not ended may have met, each until the queue that it caused is gone, as far as that is known.
    stops: Vec<IdleSpan>,
}

impl IntervalDivision {
    /// Nothing is divided yet. A request ends at most `longest_request` after its intended start.
    pub fn new(longest_request: Duration) -> Self {
        let longest_request_ns = u64::try_from(longest_request.as_nanos()).unwrap_or(u64::MAX);
        Self { longest_request_ns, before: Vec::new(), answered_before_ns: None, stops: Vec::new() }
    }

    /// Divides the requests that ended in one interval; `next` ended in the one after it. `told` are the stops that the server has
    /// told since the last call, up to the end of `next`; `None` where it tells none, and the silences of the server stand for them.
    pub fn divide(
        &mut self,
        own: Vec<TracedRequest>,
        next: &[TracedRequest],
        told: Option<Vec<IdleSpan>>,
    ) -> LatencyParts {
        let around = [&self.before, own.as_slice(), next].concat();
        // Until its first answer a server may be slow as well as silent.
        let answered_before_ns =
            self.answered_before_ns.or_else(|| around.iter().map(|request| request.ended_ns).min());
        self.stops.extend(told.unwrap_or_else(|| silences(&around, answered_before_ns.unwrap_or(0))));
        let flights = Flights::of(&around);
        self.stops = flights.with_queues(&self.stops);
        let stalls: Vec<IdleSpan> = late_sends(&around).collect();
        let parts = LatencyParts::by_overlap(&own, &self.stops, &flights.with_queues(&stalls));
        self.answered_before_ns = last_answer(&self.before).or(self.answered_before_ns);
        if let Some(last_ns) = last_answer(&own) {
            let begun_ns = last_ns.saturating_sub(self.longest_request_ns);
            self.stops.retain(|stop| stop.end_ns >= begun_ns);
        }
        self.before = own;
        parts
    }
}

fn last_answer(trace: &[TracedRequest]) -> Option<u64> {
    trace.iter().filter(|request| request.is_answered).map(|request| request.ended_ns).max()
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

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
    fn intervals(trace: &[TracedRequest], length_us: u64) -> VecDeque<Vec<TracedRequest>> {
        let mut intervals = VecDeque::new();
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

    /// The sum of the parts of all intervals. The server tells each stop with the interval in which it ends, or none.
    fn divided(trace: &[TracedRequest], length_us: u64, told: Option<&[IdleSpan]>) -> [LatencyHistogram; 3] {
        let mut division = IntervalDivision::new(Duration::from_secs(10));
        let mut intervals = intervals(trace, length_us);
        let (mut sum, mut until_us) = (<[LatencyHistogram; 3]>::default(), length_us);
        let mut first = true;
        while let Some(own) = intervals.pop_front() {
            let next = intervals.front().cloned().unwrap_or_default();
            let from_us = if first { 0 } else { until_us };
            until_us += length_us;
            first = false;
            let now = |stop: &&IdleSpan| (from_us * US..until_us * US).contains(&stop.end_ns);
            let told = told.map(|told| told.iter().filter(now).copied().collect());
            let parts = division.divide(own, &next, told);
            all(&parts).into_iter().zip(&mut sum).for_each(|(part, sum)| part.merge_into(sum));
        }
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
            assert_eq!(divided(&trace, length_us, Some(&stops)), expected, "{length_us}");
            assert_eq!(divided(&trace, length_us, None), expected, "seen, not told: {length_us}");
        }
    }

    #[test]
    fn what_is_in_flight_at_the_end_of_an_interval_is_no_silence() {
        // Each takes 10 ms, and ten are in flight at any time.
        let trace: Vec<TracedRequest> = (0..2_000).map(|at| request(at * 900, at * 900 + 10_000)).collect();
        for length_us in [20_000, 50_000, 100_000] {
            assert_eq!(divided(&trace[..], length_us, None)[0].len(), 0, "{length_us}");
        }
    }
}
