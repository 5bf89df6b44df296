//! The clock on macOS.

use std::io;

use rustix::thread::nanosleep;
use rustix::time::Timespec;

use super::Nanos;

/// `CLOCK_MONOTONIC` counts in microseconds there. This clock is exact, and it is the one behind Java's `nanoTime`.
///
/// # Source
/// clock_gettime_nsec_np(3).
pub(super) fn now() -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one plain value to this stack. It cannot fail: the clock exists since macOS 10.12.
    unsafe { libc::clock_gettime(libc::CLOCK_UPTIME_RAW, &raw mut time) };
    Nanos(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

/// macOS cannot sleep until a moment, so the remaining time is slept again until none is left.
pub(super) fn sleep_until(moment: Nanos) {
    loop {
        let left_ns = moment.since(now());
        if left_ns == 0 {
            return;
        }
        let left = Timespec {
            tv_sec: (left_ns / 1_000_000_000).cast_signed(),
            tv_nsec: (left_ns % 1_000_000_000).cast_signed(),
        };
        // A signal may end it early; the next turn sleeps on.
        let _ = nanosleep(&left);
    }
}

pub(super) fn sharpen_timers() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "macOS sets no timer slack of a thread"))
}
