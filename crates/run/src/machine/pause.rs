//! Waiting that Ctrl-C ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tare_sys::clock;

/// How often a wait looks whether it is cancelled.
const TICK: Duration = Duration::from_millis(20);

/// Waits for `span`, or until `cancelled` is set.
pub(crate) fn pause(span: Duration, cancelled: &AtomicBool) {
    let end = clock::now() + span;
    while !cancelled.load(Ordering::Relaxed) {
        let left = Duration::from_nanos(end.since(clock::now()));
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(TICK));
    }
}
