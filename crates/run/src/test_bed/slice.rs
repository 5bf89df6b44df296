//! One slice of load as the run orders it, and how its sample is counted.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tare_load::{Schedule, Sending, SliceSample, SliceSpec, StopRule};
use tare_plan::plan::SliceKind;
use tare_record::{Phase, StoredSlice};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SliceLoad {
    pub kind: SliceKind,
    pub phase: Phase,
    /// Its round, from 0.
    pub round: u32,
    /// Users of all generators together.
    pub users: u32,
    /// Rate of an open load; 0 for a closed one.
    pub rate_per_s: f64,
    /// Length including the discarded head.
    pub length: Duration,
    pub discard: Duration,
    pub seed: u64,
    /// How an open load sends. Agents do not get it and do not spin, because other users of their cores are not known here.
    #[serde(skip)]
    pub sending: Sending,
}

impl SliceLoad {
    pub fn spec(&self, drain_timeout: Duration) -> SliceSpec {
        let schedule = match self.kind {
            SliceKind::Saturating | SliceKind::Push => Schedule::Closed,
            SliceKind::Fixed => Schedule::constant(self.rate_per_s),
            SliceKind::Capacity if self.rate_per_s == 0.0 => Schedule::Closed,
            SliceKind::Poisson | SliceKind::Capacity => Schedule::poisson(self.rate_per_s),
        };
        let stop = match (self.kind, self.phase) {
            // Each user receives its messages to the end.
            (SliceKind::Push, Phase::Measure) => {
                StopRule::Count { requests: u64::from(self.users), at_most: self.length }
            }
            _ => StopRule::Duration(self.length),
        };
        SliceSpec {
            discard_head: self.discard,
            seed: self.seed,
            sending: self.sending,
            drain_timeout,
            trace: self.requests_to_trace(),
            ..SliceSpec::new(schedule, self.users as usize, stop)
        }
    }

    /// How many requests of each worker have their times kept: all of a window of latency, unless there are too many.
    fn requests_to_trace(&self) -> usize {
        if (self.kind, self.phase) != (SliceKind::Poisson, Phase::Measure) {
            return 0;
        }
        // The number of arrivals scatters by its square root.
        let expected = self.rate_per_s * self.length.as_secs_f64();
        MOST_TRACED.min((expected + 10.0 * expected.sqrt()).ceil() as usize + 100)
    }
}

/// The most requests of a window whose times are kept: 40 MB. A window with more is not divided into parts.
const MOST_TRACED: usize = 1_000_000;

/// Whether the server gave an expected answer, or nobody can know. At 17 uploads per second, one Poisson slice of 300
/// ms in two hundred has no arrival; in a warm-up the generator may get no CPU. `ok` leaves out answers to requests of
/// the discarded head, and with slow answers there may be no others.
pub(crate) fn has_answered_if_asked(slice: &StoredSlice) -> bool {
    let is_open = slice.key.offered_per_s.is_some();
    let was_asked_nothing = is_open && slice.load.offered + slice.load.failed == 0;
    let nothing_happened = slice.key.phase == Phase::Warmup && slice.load.failed == 0;
    slice.load.ok + slice.load.completed > 0 || was_asked_nothing || nothing_happened
}

/// Fewer answers per user than this make a slice slow: most of its requests end after its window.
const QUICK_ANSWERS_PER_USER: u64 = 4;

/// Counts a closed slice with slow answers (128 uploads of 5 MiB, say) from its start to the end of its drain,
/// `drained_ns` on the clock of its start: few of them end in its window.
pub(crate) fn count_whole_if_slow(sample: &mut SliceSample, users: u32, drained_ns: u64) {
    if sample.cancelled
        || sample.completed >= QUICK_ANSWERS_PER_USER * u64::from(users)
        || sample.completed_in_slice == 0
    {
        return;
    }
    sample.completed = sample.completed_in_slice;
    sample.window_ns = drained_ns.saturating_sub(sample.start_ns);
    sample.discarded_head_ns = 0;
}

#[cfg(test)]
mod tests {
    use tare_record::{ServerUse, SliceKey};

    use super::*;

    fn sample(completed: u64, completed_in_slice: u64) -> SliceSample {
        SliceSample { start_ns: 1_000, window_ns: 400, completed, completed_in_slice, ..SliceSample::default() }
    }

    #[test]
    fn slow_answers_are_counted_to_the_end_of_the_drain() {
        let mut slow = sample(2, 128);
        count_whole_if_slow(&mut slow, 128, 3_600);
        assert_eq!((slow.completed, slow.window_ns), (128, 2_600), "128 answers in the time that they took");
    }

    #[test]
    fn quick_answers_are_counted_in_their_window() {
        let mut quick = sample(512, 700);
        count_whole_if_slow(&mut quick, 128, 3_600);
        assert_eq!((quick.completed, quick.window_ns), (512, 400));
    }

    fn record(kind: SliceKind, offered_per_s: Option<f64>, load: SliceSample) -> StoredSlice {
        let key = SliceKey {
            fork: 1,
            group: String::new(),
            scenario: String::new(),
            variant: String::new(),
            phase: Phase::Measure,
            kind,
            round: 0,
            users: 128,
            offered_per_s,
        };
        StoredSlice::new(key, load, ServerUse::default())
    }

    #[test]
    fn a_server_whose_answers_all_belong_to_the_dropped_head_has_answered() {
        let closed = |load| record(SliceKind::Saturating, None, load);
        let mut slow = sample(0, 128);
        count_whole_if_slow(&mut slow, 128, 3_600);
        assert!(has_answered_if_asked(&closed(slow)), "128 uploads, all begun at once");
        assert!(!has_answered_if_asked(&closed(sample(0, 0))));
    }

    #[test]
    fn a_slice_of_a_warm_up_proves_a_failure_only_if_a_request_failed() {
        let warm_up = |failed| {
            let mut slice = record(SliceKind::Saturating, None, SliceSample { failed, ..sample(0, 0) });
            slice.key.phase = Phase::Warmup;
            has_answered_if_asked(&slice)
        };
        assert!(warm_up(0), "the generator may have had no CPU");
        assert!(!warm_up(1));
    }

    #[test]
    fn a_server_that_was_asked_nothing_owes_no_answer() {
        let open = |offered, failed| {
            let load = SliceSample { offered, failed, ..sample(0, 0) };
            has_answered_if_asked(&record(SliceKind::Poisson, Some(17.0), load))
        };
        assert!(open(0, 0), "no request was due");
        assert!(!open(3, 0) && !open(0, 1), "it was asked, and gave no answer");
    }

    #[test]
    fn a_server_that_answers_nothing_has_no_throughput() {
        let mut dead = sample(0, 0);
        count_whole_if_slow(&mut dead, 128, 3_600);
        assert_eq!((dead.completed, dead.window_ns), (0, 400));
    }

    fn load(kind: SliceKind, phase: Phase, rate_per_s: f64) -> SliceLoad {
        let (length, discard) = (Duration::from_millis(400), Duration::from_millis(100));
        SliceLoad { kind, phase, round: 0, users: 16, rate_per_s, length, discard, seed: 3, sending: Sending::Exact }
    }

    #[test]
    fn each_kind_of_slice_has_its_schedule() {
        let (closed, constant) = (Schedule::Closed, Schedule::constant(50.0));
        let poisson = Schedule::poisson(50.0);
        for (kind, rate_per_s, schedule) in [
            (SliceKind::Saturating, 0.0, &closed),
            (SliceKind::Push, 0.0, &closed),
            (SliceKind::Fixed, 50.0, &constant),
            (SliceKind::Poisson, 50.0, &poisson),
            (SliceKind::Capacity, 0.0, &closed),
            (SliceKind::Capacity, 50.0, &poisson),
        ] {
            let spec = load(kind, Phase::Measure, rate_per_s).spec(Duration::from_secs(1));
            assert_eq!(format!("{:?}", spec.schedule), format!("{schedule:?}"), "{kind:?} at {rate_per_s}");
            assert_eq!((spec.seed, spec.connections), (3, 16));
            assert_eq!(spec.trace > 0, kind == SliceKind::Poisson, "only windows of latency are divided");
            assert_eq!((spec.discard_head, spec.drain_timeout), (Duration::from_millis(100), Duration::from_secs(1)));
        }
    }

    #[test]
    fn the_times_of_all_requests_of_a_window_are_kept_but_not_of_millions() {
        let traced = |rate_per_s| load(SliceKind::Poisson, Phase::Measure, rate_per_s).spec(Duration::ZERO).trace;
        assert_eq!((traced(1_000.0), traced(1e9)), (400 + 200 + 100, MOST_TRACED));
        assert_eq!(load(SliceKind::Poisson, Phase::Warmup, 1_000.0).spec(Duration::ZERO).trace, 0);
    }

    #[test]
    fn an_agent_is_sent_all_fields_but_sending() {
        let sent = SliceLoad { sending: Sending::Spinning, ..load(SliceKind::Poisson, Phase::Measure, 1_234.5) };
        let read: SliceLoad = serde_json::from_str(&serde_json::to_string(&sent).unwrap()).unwrap();
        assert_eq!(read, SliceLoad { sending: Sending::Exact, ..sent });
    }

    #[test]
    fn scored_listeners_read_all_their_messages_and_all_else_ends_by_the_clock() {
        for (kind, phase, counts) in [
            (SliceKind::Push, Phase::Measure, true),
            (SliceKind::Push, Phase::Warmup, false),
            (SliceKind::Push, Phase::Profile, false),
            (SliceKind::Saturating, Phase::Measure, false),
        ] {
            let spec = load(kind, phase, 0.0).spec(Duration::ZERO);
            assert_eq!(matches!(spec.stop, StopRule::Count { requests: 16, .. }), counts, "{kind:?} {phase:?}");
            assert_eq!(spec.stop.longest_time(), Duration::from_millis(400));
        }
    }
}
