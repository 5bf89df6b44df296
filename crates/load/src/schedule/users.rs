//! Who takes part in a closed loop whose number of users changes over time.

use super::Share;
use super::stages::{Segment, Stages};

/// When each of a worker's users takes part. Users are ranked over all workers, who have every so-manieth: a user takes
/// part while the level is above its rank, and so the first to come is the last to go.
pub(crate) struct Attendance {
    segments: Vec<Segment>,
    share: Share,
}

impl Attendance {
    pub(crate) fn of(users: &Stages, share: Share) -> Self {
        Self { segments: users.segments(), share }
    }

    /// The first moment from `ready_ns` on at which this user of the worker takes part, both counted from the start of the
    /// slice; `None` if there will be none.
    pub(crate) fn joins_ns(&self, user: usize, ready_ns: u64) -> Option<u64> {
        let rank = (user * self.share.workers + self.share.worker) as f64;
        let joins = |segment: &Segment| segment.rises_above_ns(rank, ready_ns as f64);
        self.segments.iter().find_map(joins).map(|joins_ns| joins_ns.ceil() as u64)
    }
}
