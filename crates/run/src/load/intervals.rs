//! Puts the parts that the generator hands over several times a second together into the intervals of the record.

use std::time::Duration;

use tare_load::{MessageTally, SliceSample};
use tare_record::{EventRecord, ServerUse, SliceKey, StoredSlice};

use super::server::WatchedServer;

/// A load with `-n` has this many intervals of the length that was asked for. Then the length doubles every
/// [`OF_LONGER`] intervals, so that the record of a day stays as small as that of an hour.
const OF_ONE_LENGTH: u32 = 1000;
const OF_LONGER: u32 = 100;
/// So that the length stays a number.
const MOST_DOUBLINGS: u32 = 30;

/// An interval that is long enough, and what the server used in it.
struct WholeInterval {
    load: SliceSample,
    server: ServerUse,
}

pub struct IntervalCollector {
    key: SliceKey,
    every_ns: u64,
    server: Option<WatchedServer>,
    begin_ns: Option<u64>,
    /// A short rest or the drain may still be added to it, and its last requests are divided once those after them are known.
    last: Option<WholeInterval>,
    open: Option<SliceSample>,
}

impl IntervalCollector {
    /// Collects intervals of length `every`; `key` is that of the first one.
    pub fn new(key: SliceKey, every: Duration, server: Option<WatchedServer>) -> Self {
        Self { key, every_ns: every.as_nanos() as u64, server, begin_ns: None, last: None, open: None }
    }

    pub fn begin(&mut self) {
        if let Some(server) = &mut self.server {
            server.restart();
        }
    }

    fn interval_ns(&self) -> u64 {
        let beyond = self.key.round.saturating_sub(OF_ONE_LENGTH).div_ceil(OF_LONGER);
        self.every_ns.saturating_mul(1 << beyond.min(MOST_DOUBLINGS))
    }

    /// Takes a part; returns an interval to which nothing will be added any more.
    pub fn add_part(&mut self, part: &SliceSample) -> Option<StoredSlice> {
        self.begin_ns.get_or_insert(part.start_ns);
        match &mut self.open {
            None => self.open = Some(part.clone()),
            Some(open) => open.append(part),
        }
        // The division of the watched server keeps them, as long as it needs them.
        self.open.iter_mut().for_each(|open| open.trace.clear());
        if let Some(server) = &mut self.server {
            server.note_part(part);
        }
        let interval_ns = self.interval_ns();
        let load = self.open.take_if(|open| open.window_ns >= interval_ns)?;
        let whole = self.end_interval(load);
        self.last.replace(whole).map(|before| self.record(before))
    }

    /// The intervals that are left at the end, and what happened to the server. A rest of less than half an interval is added to
    /// the one before, but not to its use of the server. The last interval has the error of the clocks, known only now.
    pub fn finish(mut self, at_end: &MessageTally) -> (Vec<StoredSlice>, Vec<EventRecord>) {
        let open = self.open.take().map(|load| self.end_interval(load));
        let (before, mut last) = match (self.last.take(), open) {
            (Some(mut last), Some(open)) if open.load.window_ns < self.interval_ns() / 2 => {
                last.load.append(&open.load);
                (None, Some(last))
            }
            (last, None) => (None, last),
            both => both,
        };
        if let Some(last) = &mut last {
            let messages = &mut last.load.messages;
            (messages.clock, messages.clock_within_ns) = (at_end.clock, at_end.clock_within_ns);
        }
        let mut records: Vec<StoredSlice> = before.into_iter().map(|interval| self.record(interval)).collect();
        self.server.iter_mut().for_each(WatchedServer::end_division);
        records.extend(last.map(|interval| self.record(interval)));
        (records, self.server.map(|server| server.events).unwrap_or_default())
    }

    fn end_interval(&mut self, load: SliceSample) -> WholeInterval {
        let server = self.server.as_mut().map(|server| server.end_interval(&load)).unwrap_or_default();
        WholeInterval { load, server }
    }

    fn record(&mut self, interval: WholeInterval) -> StoredSlice {
        let WholeInterval { mut load, mut server } = interval;
        if let Some((parts, are_seen)) = self.server.as_mut().and_then(WatchedServer::take_parts) {
            (server.parts, server.stops_are_seen) = (Some(parts), are_seen);
        }
        load.start_ns -= self.begin_ns.unwrap_or(load.start_ns);
        let key = self.key.clone();
        self.key.round += 1;
        StoredSlice::new(key, load, server)
    }
}

#[cfg(test)]
mod tests {
    use tare_plan::plan::SliceKind;
    use tare_record::Phase;

    use super::*;

    fn part(start_ms: u64, window_ms: u64, ok: u64) -> SliceSample {
        let (start_ns, window_ns) = (start_ms * 1_000_000, window_ms * 1_000_000);
        SliceSample { start_ns, window_ns, ok, workers: 1, ..SliceSample::default() }
    }

    fn intervals(parts: &[SliceSample]) -> Vec<(u64, u64, u64)> {
        let key = SliceKey {
            fork: 1,
            group: "url".to_owned(),
            scenario: "GET /".to_owned(),
            variant: "url".to_owned(),
            phase: Phase::Measure,
            kind: SliceKind::Saturating,
            round: 0,
            users: 1,
            offered_per_s: None,
        };
        let mut collector = IntervalCollector::new(key, Duration::from_millis(1000), None);
        let mut whole: Vec<StoredSlice> = parts.iter().filter_map(|part| collector.add_part(part)).collect();
        whole.extend(collector.finish(&MessageTally::default()).0);
        whole.iter().map(|s| (s.load.window_start_ns() / 1_000_000, s.load.window_ns / 1_000_000, s.load.ok)).collect()
    }

    #[test]
    fn parts_become_intervals_and_none_is_lost() {
        let parts = [part(700, 500, 1), part(1200, 500, 2), part(1700, 500, 4), part(2200, 500, 8)];
        assert_eq!(intervals(&parts), [(0, 1000, 3), (1000, 1000, 12)]);
        assert_eq!(intervals(&parts[..3]), [(0, 1000, 3), (1000, 500, 4)]);
        assert_eq!(intervals(&parts[..1]), [(0, 500, 1)]);
        assert_eq!(intervals(&[]), []);
    }

    #[test]
    fn a_load_of_hours_has_no_more_intervals_than_one_can_keep() {
        let hours: Vec<SliceSample> = (0..10_800).map(|second| part(second * 1000, 1000, 1)).collect();
        let intervals = intervals(&hours);
        // Each further hundred lasts as long as all before: a day has 300 more.
        assert!(intervals.len() < 1600, "{}", intervals.len());
        assert!(intervals[..1000].iter().all(|(_, window_ms, _)| *window_ms == 1000), "an hour is told by the second");
        assert_eq!(intervals.iter().map(|(_, _, ok)| ok).sum::<u64>(), 10_800, "none is lost");
    }

    #[test]
    fn the_drain_and_a_short_rest_belong_to_the_last_interval() {
        let parts = [part(0, 1000, 1), part(1000, 1000, 2), part(2000, 100, 4), part(2100, 0, 8)];
        assert_eq!(intervals(&parts), [(0, 1000, 1), (1000, 1100, 14)]);
    }

    #[test]
    fn a_head_without_a_window_belongs_to_the_first_interval() {
        let head = SliceSample { discarded_head_ns: 300_000_000, ..part(0, 0, 0) };
        assert_eq!(intervals(&[head, part(250, 200, 1), part(500, 800, 2)]), [(300, 1000, 3)]);
    }
}
