//! Which request leaves next, and its intended start. This is the only place where closed and open loop differ.

use std::time::Duration;

use tare_sys::clock::Nanos;

use crate::recorder::slice::WorkerSlice;
use crate::schedule::sending::Sending;
use crate::schedule::{ActiveUsers, Schedule, Share, Starts};

/// The requests that a slice still needs from one worker; by default none, as between slices.
#[derive(Default)]
pub(crate) struct Demand {
    start: Nanos,
    /// No request has an intended start at or after this moment.
    until: Nanos,
    remaining: u64,
    /// No request with an earlier intended start uses up the count.
    counts_from: Nanos,
    sending: Sending,
    /// Of an open loop: intended starts in order, and the oldest that was not sent. Later ones are computed when needed.
    /// In a closed loop each free connection is a user, who sends the next request while it is active.
    starts: Option<(Starts, Nanos)>,
    /// When users of a closed loop are active; `None` for always.
    active_users: Option<ActiveUsers>,
}

impl Demand {
    /// The demand of a slice. A count holds for the requests from `counts_from` on.
    pub(crate) fn of(slice: &WorkerSlice, share: Share, counts_from: Nanos) -> Self {
        let WorkerSlice { spec, start, .. } = slice;
        let starts = spec.schedule.arrivals(spec.seed, share).map(|mut starts| {
            let head = head_of(*start, &mut starts);
            (starts, head)
        });
        let active_users = active_users(&spec.schedule, share);
        let until = *start + spec.stop.longest_time();
        let remaining = spec.stop.requests_of(share);
        Self { start: *start, until, remaining, counts_from, sending: spec.sending, starts, active_users }
    }

    pub(crate) const fn is_closed_loop(&self) -> bool {
        self.starts.is_none()
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
        let (intended, leaves_at) = match &self.starts {
            None => (free_since.max(self.start), self.start),
            Some((_, head)) => (*head, self.leaves_at(*head)),
        };
        (self.remaining > 0 && intended < self.until && leaves_at.max(intended) <= now).then_some(intended)
    }

    /// When the user of this connection, free from `ready` on, sends its next request; `None` if never again.
    pub(crate) fn next_request_at(&self, connection: usize, ready: Nanos) -> Option<Nanos> {
        let Some(active_users) = &self.active_users else { return Some(ready) };
        let active_from_ns = active_users.active_from_ns(connection, ready.since(self.start))?;
        Some(self.start + Duration::from_nanos(active_from_ns))
    }

    /// Takes the request that was due, by its intended start.
    pub(crate) fn take(&mut self, intended: Nanos) {
        if intended >= self.counts_from {
            self.remaining -= 1;
        }
        if let Some((starts, head)) = &mut self.starts {
            *head = head_of(self.start, starts);
        }
    }

    /// The next intended start that is known in advance, sent or not.
    pub(crate) fn head(&self) -> Option<Nanos> {
        let (_, head) = self.starts.as_ref()?;
        (self.remaining > 0 && *head < self.until).then_some(*head)
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
