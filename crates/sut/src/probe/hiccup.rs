//! Hiccups: how late a thread wakes up that wants to run in every millisecond. A meter outside the server shows the
//! delays of the machine, one inside its JVM those of machine and JVM. The difference is the JVM's own.

mod blame;
pub mod inside;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tare_sys::affinity::{CpuSet, pin_current_thread};
use tare_sys::clock::{self, Nanos};
use tare_sys::threads;

pub use blame::blame_pauses;

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

/// A running meter on the server's cores. It has an ordinary priority, as the one in a JVM: both wait equally for a
/// core.
#[derive(Debug)]
pub struct Meter {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<(Vec<Delay>, u64)>,
}

impl Meter {
    /// Starts to measure on these cores.
    pub fn start(cpus: CpuSet) -> io::Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_over);
        let thread = threads::spawn("tare-hiccups", move || {
            // The start of the run has checked that the cores may be used.
            let _ = pin_current_thread(&cpus);
            let delays = measure(clock::now, clock::sleep_until, || flag.load(Ordering::Relaxed));
            (delays, clock::thread_cpu_ns())
        })?;
        Ok(Self { is_over, thread })
    }

    /// Stops it. Returns the delays, and the CPU time that it used, in nanoseconds.
    pub fn stop_and_read(self) -> (Vec<Delay>, u64) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

fn measure(now: impl Fn() -> Nanos, sleep_until: impl Fn(Nanos), is_over: impl Fn() -> bool) -> Vec<Delay> {
    let mut delays = Vec::new();
    let mut due = now();
    while !is_over() {
        due = due + INTERVAL;
        sleep_until(due);
        delays.push(Delay { due, late_ns: now().since(due) });
    }
    delays
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn each_deadline_that_was_slept_over_is_late_by_its_own_measure() {
        let (time, sleeps) = (Cell::new(Nanos(0)), Cell::new(0));
        // The third sleep lasts 3.5 ms too long.
        let sleep_until = |deadline: Nanos| {
            sleeps.set(sleeps.get() + 1);
            let late = if sleeps.get() == 3 { 3_500_000 } else { 0 };
            time.set(Nanos(time.get().0.max(deadline.0 + late)));
        };
        let delays = measure(|| time.get(), sleep_until, || sleeps.get() == 7);
        let late: Vec<u64> = delays.iter().map(|delay| delay.late_ns / 100_000).collect();
        assert_eq!(late, [0, 0, 35, 25, 15, 5, 0]);
        assert_eq!(delays[6].due, Nanos(7_000_000), "deadlines do not move");
    }

    #[test]
    fn a_meter_stops_when_asked() {
        let meter = Meter::start(tare_sys::affinity::allowed_cpus().unwrap()).unwrap();
        let (delays, _) = meter.stop_and_read();
        assert!(delays.windows(2).all(|pair| pair[0].due + INTERVAL == pair[1].due));
    }
}
