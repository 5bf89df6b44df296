//! A schedule that the caller computes, given to the loop as a value.

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
    /// `starts` gets the seed of the slice. It returns the intended starts of the whole schedule, ascending, counted
    /// from the start of the slice. A start before its predecessor is moved to its predecessor's time. Every worker
    /// calls it and uses its own share, so the same seed must give the same starts.
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
