//! One slice against one server: load, and what the probes see meanwhile, as one raw record.

use std::time::Duration;

use tare_load::{Schedule, Sending, SliceSample, SliceSpec, StopRule, Watched};
use tare_plan::plan::SliceKind;
use tare_record::sample::{Phase, SliceKey, SliceRecord};
use tare_sys::clock::{self, Nanos};

use crate::driver::Driver;
use crate::error::RunError;
use crate::progress::Progress;
use crate::watch::Watch;

/// What one slice is to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    pub kind: SliceKind,
    pub phase: Phase,
    pub round: u32,
    pub users: u32,
    /// Of an open load.
    pub rate_per_s: f64,
    pub length: Duration,
    pub discard: Duration,
    pub seed: u64,
    /// Of an open load.
    pub sending: Sending,
}

impl Driver<'_, '_, '_> {
    /// Drives one slice and returns what it showed; nothing of it is kept yet.
    pub fn drive(&mut self, member: usize, order: &Order) -> Result<SliceRecord, RunError> {
        let plan = self.plan();
        let session = &mut self.sessions[member];
        let variant = self.fleet.members[member].variant;
        let mut spec = SliceSpec { drain_timeout: plan.load.timeout.0, ..order.spec() };
        if self.fleet.members[member].host.pid().is_none() {
            // Which cores a server of somebody else's runs on cannot be seen.
            spec.sending = Sending::Exact;
        }
        let watch = Watch::begin(self.fleet, member, order.phase, plan);
        let mut sample = session.run_watched(&spec, None, &self.trial.cancel, &mut |watched| match watched {
            Watched::Opening(opening) => self.journal.show(&Progress::Opening {
                place: self.place,
                scenario: &self.named.name,
                variant: &variant.name,
                open: opening.open,
                of: opening.of,
            }),
            Watched::Begun => self.journal.show(&Progress::Begun),
            _ => {}
        })?;
        if order.kind == SliceKind::Saturating {
            count_whole(&mut sample, order.users, clock::now());
        }
        let server = watch.end(self.fleet, member, &sample, self.journal);
        // In the record, times count from the begin of the run.
        sample.start_ns = self.journal.since_begin_ns(sample.start_ns);
        let key = SliceKey {
            fork: self.place.fork,
            group: self.place.group.to_owned(),
            scenario: self.named.name.clone(),
            variant: variant.name.clone(),
            phase: order.phase,
            kind: order.kind,
            round: order.round,
            users: order.users,
            offered_per_s: (order.rate_per_s > 0.0).then_some(order.rate_per_s),
        };
        Ok(SliceRecord { key, load: sample, server })
    }
}

impl Order {
    /// The same in the words of the generator.
    fn spec(&self) -> SliceSpec {
        let schedule = match self.kind {
            SliceKind::Saturating | SliceKind::Push => Schedule::Closed,
            SliceKind::Fixed => Schedule::Constant { rate_per_s: self.rate_per_s },
            SliceKind::Capacity if self.rate_per_s == 0.0 => Schedule::Closed,
            SliceKind::Poisson | SliceKind::Capacity => Schedule::Poisson { rate_per_s: self.rate_per_s },
        };
        let stop = match (self.kind, self.phase) {
            // Each user hears its messages out.
            (SliceKind::Push, Phase::Measure) => {
                StopRule::Count { requests: u64::from(self.users), at_most: self.length }
            }
            _ => StopRule::Duration(self.length),
        };
        SliceSpec {
            discard_head: self.discard,
            seed: self.seed,
            sending: self.sending,
            ..SliceSpec::new(schedule, self.users as usize, stop)
        }
    }
}

/// Whether the server gave an expected answer. Answers to requests of the discarded head are not among `ok`; where answers
/// take longer than a slice, there may be no others.
pub(crate) const fn is_answered(slice: &SliceRecord) -> bool {
    slice.load.ok + slice.load.completed > 0
}

/// Answers per user below which a window says little of the throughput: most of what was under way ends after it.
const TURNS: u64 = 4;

/// Counts a slice whose answers take about as long as itself (128 uploads of 5 MiB, say) from its start to the end of its
/// drain, where everything that was begun has come to an end, instead of over its window, where next to nothing has.
fn count_whole(sample: &mut SliceSample, users: u32, drained: Nanos) {
    if sample.cancelled || sample.completed >= TURNS * u64::from(users) || sample.completed_in_slice == 0 {
        return;
    }
    sample.completed = sample.completed_in_slice;
    sample.window_ns = drained.since(Nanos(sample.start_ns));
    sample.discarded_head_ns = 0;
}

#[cfg(test)]
mod tests {
    use tare_record::sample::ServerUse;

    use super::*;

    fn sample(completed: u64, completed_in_slice: u64) -> SliceSample {
        SliceSample { start_ns: 1_000, window_ns: 400, completed, completed_in_slice, ..SliceSample::default() }
    }

    #[test]
    fn slow_answers_are_counted_to_the_end_of_the_drain() {
        let mut slow = sample(2, 128);
        count_whole(&mut slow, 128, Nanos(3_600));
        assert_eq!((slow.completed, slow.window_ns), (128, 2_600), "128 answers in the time that they took");
    }

    #[test]
    fn quick_answers_are_counted_in_their_window() {
        let mut quick = sample(512, 700);
        count_whole(&mut quick, 128, Nanos(3_600));
        assert_eq!((quick.completed, quick.window_ns), (512, 400));
    }

    #[test]
    fn a_server_whose_answers_all_belong_to_the_dropped_head_has_answered() {
        let record = |load| {
            let key = SliceKey {
                fork: 1,
                group: String::new(),
                scenario: String::new(),
                variant: String::new(),
                phase: Phase::Measure,
                kind: SliceKind::Saturating,
                round: 0,
                users: 128,
                offered_per_s: None,
            };
            SliceRecord { key, load, server: ServerUse::default() }
        };
        let mut slow = sample(0, 128);
        count_whole(&mut slow, 128, Nanos(3_600));
        assert!(is_answered(&record(slow)), "128 uploads, all begun at once");
        assert!(!is_answered(&record(sample(0, 0))));
    }

    #[test]
    fn a_server_that_answers_nothing_has_no_throughput() {
        let mut dead = sample(0, 0);
        count_whole(&mut dead, 128, Nanos(3_600));
        assert_eq!((dead.completed, dead.window_ns), (0, 400));
    }
}
