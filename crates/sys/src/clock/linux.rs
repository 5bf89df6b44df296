//! The clock on Linux.

use std::io;
use std::num::NonZeroU64;

use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};

use super::{Nanos, read};

pub(super) fn now() -> Nanos {
    Nanos(read(ClockId::Monotonic))
}

pub(super) fn sleep_until(moment: Nanos) {
    let deadline = Timespec {
        tv_sec: (moment.0 / 1_000_000_000).cast_signed(),
        tv_nsec: (moment.0 % 1_000_000_000).cast_signed(),
    };
    while clock_nanosleep_absolute(ClockId::Monotonic, &deadline) == Err(Errno::INTR) {}
}

pub(super) fn sharpen_timers() -> io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?)
}
