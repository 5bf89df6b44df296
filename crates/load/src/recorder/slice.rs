//! One slice as a worker runs it.

use std::time::Duration;

use tare_sys::clock::Nanos;

use crate::cancel::Cancel;
use crate::recorder::stamps::Stamps;
use crate::schedule::Schedule;
use crate::schedule::sending::Sending;
use crate::schedule::stop_rule::StopRule;

/// One slice as a worker runs it. All workers of a session get the same.
#[derive(Clone, Debug)]
pub(crate) struct WorkerSlice {
    pub(crate) start: Nanos,
    pub(crate) schedule: Schedule,
    pub(crate) sending: Sending,
    pub(crate) stamps: Stamps,
    pub(crate) stop: StopRule,
    pub(crate) discard_head: Duration,
    pub(crate) drain_timeout: Duration,
    pub(crate) seed: u64,
    /// How often to hand over a part of the sample; `None` for only once, at the end.
    pub(crate) every: Option<Duration>,
    pub(crate) trace: usize,
    pub(crate) cancel: Cancel,
}
