//! Which users are active in a closed loop whose number of users changes over time.

use super::Share;
use super::stages::{Segment, Stages};

/// When each user is active: while the level is above its rank, so the first to start is the last to stop. Users are
/// ranked over all workers, and each of n workers has every n-th.
pub(crate) struct ActiveUsers {
    segments: Vec<Segment>,
    share: Share,
}

impl ActiveUsers {
    pub(crate) fn of(users: &Stages, share: Share) -> Self {
        Self { segments: users.segments(), share }
    }

    /// The first time from `ready_ns` on at which this user of the worker is active. Both count from the slice's start.
    pub(crate) fn active_from_ns(&self, user: usize, ready_ns: u64) -> Option<u64> {
        let rank = (user * self.share.workers + self.share.worker) as f64;
        let joins = |segment: &Segment| segment.rises_above_ns(rank, ready_ns as f64);
        self.segments.iter().find_map(joins).map(|active_from_ns| active_from_ns.ceil() as u64)
    }
}
