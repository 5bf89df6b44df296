//! Which request leaves next, and its intended start. This is the only place where closed and open loop differ.

use std::time::Duration;

use tare_sys::clock::Nanos;

use crate::recorder::slice::WorkerSlice;
use crate::schedule::sending::Sending;
use crate::schedule::{ActiveUsers, Schedule, Share, Starts};

/// The requests that a slice still needs from one worker.
pub(crate) struct Demand {
    start: Nanos,
    /// No request has an intended start at or after this moment.
    until: Nanos,
    remaining: u64,
    /// No request with an earlier intended start uses up the count.
    counts_from: Nanos,
    sending: Sending,
    source: DemandSource,
}

enum DemandSource {
    /// Each free connection is a user that sends its next request while it is active.
    Users { active_users: Option<ActiveUsers> },
    /// Intended starts in order; `head` is the oldest that was not sent. Later ones are computed when needed.
    Starts { starts: Starts, head: Nanos },
}

impl Demand {
    /// No demand, between slices.
    pub(crate) const fn none() -> Self {
        Self {
            start: Nanos::ZERO,
            until: Nanos::ZERO,
            remaining: 0,
            counts_from: Nanos::ZERO,
            sending: Sending::Exact,
            source: DemandSource::Users { active_users: None },
        }
    }

    /// The demand of a slice. A count holds for the requests from `counts_from` on.
    pub(crate) fn of(slice: &WorkerSlice, share: Share, counts_from: Nanos) -> Self {
        let WorkerSlice { spec, start, .. } = slice;
        let source = match spec.schedule.arrivals(spec.seed, share) {
            None => DemandSource::Users { active_users: active_users(&spec.schedule, share) },
            Some(mut starts) => {
                let head = head_of(*start, &mut starts);
                DemandSource::Starts { starts, head }
            }
        };
        let until = *start + spec.stop.longest_time();
        let remaining = spec.stop.requests_of(share);
        Self { start: *start, until, remaining, counts_from, sending: spec.sending, source }
    }

    pub(crate) const fn is_closed_loop(&self) -> bool {
        matches!(self.source, DemandSource::Users { .. })
    }

    /// Demands at most this many more of the count.
    pub(crate) fn limit(&mut self, requests: u64) {
        self.remaining = self.remaining.min(requests);
    }

    pub(crate) fn end_at(&mut self, until: Nanos) {
        self.until = self.until.min(until);
    }

    /// The intended start of the request that a connection free since `free_since` should carry now, if any.
    pub(crate) fn due(&self, free_since: Nanos, now: Nanos) -> Option<Nanos> {
        let (intended, leaves_at) = match &self.source {
            DemandSource::Users { .. } => (free_since.max(self.start), self.start),
            DemandSource::Starts { head, .. } => (*head, self.leaves_at(*head)),
        };
        (self.remaining > 0 && intended < self.until && leaves_at.max(intended) <= now).then_some(intended)
    }

    /// When the user of this connection, free from `ready` on, sends its next request; `None` if never again.
    pub(crate) fn next_request_at(&self, connection: usize, ready: Nanos) -> Option<Nanos> {
        let DemandSource::Users { active_users: Some(active_users) } = &self.source else { return Some(ready) };
        let active_from_ns = active_users.active_from_ns(connection, ready.since(self.start))?;
        Some(self.start + Duration::from_nanos(active_from_ns))
    }

    /// Takes the request that was due, by its intended start.
    pub(crate) fn take(&mut self, intended: Nanos) {
        if intended >= self.counts_from {
            self.remaining -= 1;
        }
        if let DemandSource::Starts { starts, head } = &mut self.source {
            *head = head_of(self.start, starts);
        }
    }

    /// The next intended start that is known in advance, sent or not.
    pub(crate) fn head(&self) -> Option<Nanos> {
        match &self.source {
            DemandSource::Starts { head, .. } if self.remaining > 0 && *head < self.until => Some(*head),
            _ => None,
        }
    }

    pub(crate) fn leaves_at(&self, intended: Nanos) -> Nanos {
        self.sending.leaves_at(self.start, intended)
    }

    /// Whether no request is left, apart from those that [`Demand::head`] still returns.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.remaining == 0
    }
}

fn active_users(schedule: &Schedule, share: Share) -> Option<ActiveUsers> {
    let Schedule::ClosedStages { users } = schedule else { return None };
    Some(ActiveUsers::of(users, share))
}

fn head_of(start: Nanos, starts: &mut Starts) -> Nanos {
    starts.next().map_or(Nanos::MAX, |offset_ns| start + Duration::from_nanos(offset_ns))
}
