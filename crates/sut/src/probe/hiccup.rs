//! Hiccups: how late a thread is woken that wants to run once in every millisecond. A meter outside the server shows what
//! the machine did, one inside its JVM what machine and JVM did; the difference is the JVM's own.

pub mod agent;
mod blame;
pub mod inside;
mod meter;

use std::time::Duration;

use tare_sys::clock::Nanos;

pub use blame::{Blamed, Suspects, blame};
pub use meter::Meter;

/// How often a meter wants to run, at deadlines that do not move when one is missed.
pub const INTERVAL: Duration = Duration::from_millis(1);

/// One waking: deadlines that passed while the meter slept on have one each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    /// When it should have been.
    pub due: Nanos,
    /// How much later it was.
    pub late_ns: u64,
}

impl Delay {
    /// When it was.
    fn woken(self) -> Nanos {
        self.due + Duration::from_nanos(self.late_ns)
    }
}
