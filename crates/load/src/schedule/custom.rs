//! A schedule of the caller's own, handed to the one loop as a value.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

type Starts = Box<dyn Iterator<Item = Duration> + Send>;

/// Intended starts that the caller computes.
///
/// ```
/// # use std::time::Duration;
/// # use tare_load::{CustomSchedule, Schedule};
/// // Ten at once, every second.
/// let bursts = CustomSchedule::new(|_seed| (0..).map(|nth| Duration::from_secs(nth / 10)));
/// let schedule = Schedule::Custom(bursts);
/// ```
#[derive(Clone)]
pub struct CustomSchedule(Arc<dyn Fn(u64) -> Starts + Send + Sync>);

impl CustomSchedule {
    /// `starts` is given the seed of the slice and returns the intended starts of the whole schedule, counted from the
    /// start of the slice, ascending: one that comes before its predecessor counts as at the same time. Every worker
    /// asks for them and takes its turns, so that the same seed must bring the same starts.
    pub fn new<I>(starts: impl Fn(u64) -> I + Send + Sync + 'static) -> Self
    where
        I: Iterator<Item = Duration> + Send + 'static,
    {
        Self(Arc::new(move |seed| Box::new(starts(seed))))
    }

    pub(super) fn starts(&self, seed: u64) -> Starts {
        (self.0)(seed)
    }
}

impl fmt::Debug for CustomSchedule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CustomSchedule")
    }
}
