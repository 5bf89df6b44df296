//! One slice: as it is asked for, and as a worker runs it.

use std::time::Duration;

use tare_sys::clock::Nanos;

use crate::cancel::Cancel;
use crate::recorder::server_clock::ClockModel;
use crate::schedule::Schedule;
use crate::schedule::sending::Sending;
use crate::schedule::stop_rule::StopRule;

#[derive(Clone, Debug)]
pub struct SliceSpec {
    /// The load model.
    pub schedule: Schedule,
    /// How closely sends follow the schedule. A closed loop has no schedule.
    pub sending: Sending,
    /// Connections in use: the users of a closed loop, the pool of an open one.
    pub connections: usize,
    /// When to stop offering requests, counted from the start, head included.
    pub stop: StopRule,
    /// The discarded head of the slice, which is outside the window.
    pub discard_head: Duration,
    /// How long the server may push for one request without an end; `None` where the stop rule or a number of messages ends it.
    pub longest_push: Option<Duration>,
    /// How long to wait after the stop for requests under way. Those not answered then are timeouts. A cancelled slice
    /// waits 0.5 s at most, and those not answered then are [`cut_off`](crate::SliceSample::cut_off).
    pub drain_timeout: Duration,
    /// The seed of a random schedule.
    pub seed: u64,
    /// Number of requests per worker, from the first, whose times are kept; 0 keeps none and costs nothing. Where a watcher gets
    /// parts, so many of each part, and only the parts have them.
    pub trace: usize,
}

impl SliceSpec {
    /// A slice without a discarded head, a trace, or a limit on pushes. Its drain is one second, its seed 1.
    pub const fn new(schedule: Schedule, connections: usize, stop: StopRule) -> Self {
        Self {
            schedule,
            sending: Sending::Exact,
            connections,
            stop,
            discard_head: Duration::ZERO,
            longest_push: None,
            drain_timeout: Duration::from_secs(1),
            seed: 1,
            trace: 0,
        }
    }

    /// Whether there are as many requests as connections.
    pub(crate) fn is_one_per_connection(&self) -> bool {
        matches!(self.stop, StopRule::Count { requests, .. } if requests == self.connections as u64)
    }
}

/// One slice as a worker runs it. All workers of a session get the same.
#[derive(Clone, Debug)]
pub(crate) struct WorkerSlice {
    pub(crate) spec: SliceSpec,
    pub(crate) start: Nanos,
    /// By which the stamps of pushed messages are read; `None` for a probe of it, in which pings are sent between messages.
    pub(crate) server_clock: Option<ClockModel>,
    /// How often to hand over a part of the sample; `None` for only once, at the end.
    pub(crate) every: Option<Duration>,
    pub(crate) cancel: Cancel,
}
