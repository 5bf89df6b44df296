//! Hiccups: how late a thread wakes up that wants to run in every millisecond. A meter outside the server shows the
//! delays of the machine, one inside its JVM those of machine and JVM. The difference is the JVM's own.

mod blame;
pub mod inside;
mod meter;

use std::time::Duration;

use tare_sys::clock::Nanos;

pub use blame::blame_pauses;
pub use meter::Meter;

/// Time between two deadlines of a meter. The deadlines do not move when one is missed.
pub const INTERVAL: Duration = Duration::from_millis(1);

/// The delay of one wake-up. Each deadline that passed during a sleep has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    pub due: Nanos,
    /// How late the wake-up was.
    pub late_ns: u64,
}

impl Delay {
    fn woken_at(self) -> Nanos {
        self.due + Duration::from_nanos(self.late_ns)
    }
}
