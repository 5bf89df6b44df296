//! Counts requests and their ends in the sample of a slice. Only the recorder knows the window.

pub(crate) mod owed;
pub(crate) mod pushed;
pub(crate) mod slice;
pub(crate) mod stamps;
#[cfg(test)]
mod tests;
mod window;

use std::time::Duration;

use tare_sample::{SliceSample, TracedRequest};
use tare_sys::clock::Nanos;
use tare_wire::ws::Stamped;

use self::window::Window;
use crate::problem::Problem;
use crate::recorder::owed::Owed;
use crate::recorder::pushed::Pushed;
use crate::recorder::slice::WorkerSlice;

/// The times of one request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) intended: Nanos,
    /// `None` if it never left.
    pub(crate) sent: Option<Nanos>,
    /// Whether it waited because no connection was free, and until when.
    pub(crate) blocked_until: Option<Nanos>,
}

/// CPU time of a worker thread, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    /// The total.
    pub(crate) cpu_ns: u64,
    /// The part spent polling without an event.
    pub(crate) spun_ns: u64,
}

impl Spent {
    /// The increase since `before`.
    pub(crate) const fn since(self, before: Self) -> Self {
        let cpu_ns = self.cpu_ns.saturating_sub(before.cpu_ns);
        let spun_ns = self.spun_ns.saturating_sub(before.spun_ns);
        // Busy-waiting is timed by the wall clock, which runs on while the thread is descheduled.
        Self { cpu_ns, spun_ns: if spun_ns < cpu_ns { spun_ns } else { cpu_ns } }
    }
}

/// Records the slices of one worker, one after another.
pub(crate) struct Recorder {
    window: Window,
    /// The slice was cancelled and its drain is over: requests that end now are cut off and have not failed.
    is_cutting_off: bool,
    /// How often a part of the sample is due, and when the next is.
    every: Duration,
    next_part: Nanos,
    /// End of the last part, and the CPU time in the parts before.
    since: Nanos,
    spent: Spent,
    /// How many more requests to trace.
    untraced: usize,
    sample: SliceSample,
}

impl Recorder {
    /// A recorder between slices: it counts only connections that open and close.
    pub(crate) fn idle() -> Self {
        Self {
            window: Window::none(),
            is_cutting_off: false,
            every: Duration::MAX,
            next_part: Nanos::MAX,
            since: Nanos::ZERO,
            spent: Spent::default(),
            untraced: 0,
            sample: SliceSample { workers: 1, ..SliceSample::default() },
        }
    }

    /// Begins a slice. Connections opened and lost since the slice before count in this one.
    pub(crate) fn begin_slice(&mut self, slice: &WorkerSlice) {
        self.window = Window::of(slice);
        self.is_cutting_off = false;
        self.every = slice.every.unwrap_or(Duration::MAX);
        self.next_part = slice.every.map_or(Nanos::MAX, |every| slice.start + every);
        (self.since, self.spent) = (Nanos::ZERO, Spent::default());
        self.untraced = slice.trace;
        self.sample.trace.reserve_exact(slice.trace);
        self.sample.start_ns = slice.start.0;
        self.sample.discarded_head_ns = self.window.from().since(slice.start);
    }

    /// Whether a slice is running, in its head, window or drain.
    pub(crate) const fn is_active(&self) -> bool {
        self.window.is_active()
    }

    /// Whether the window lasts at `now`.
    pub(crate) fn is_before_end(&self, now: Nanos) -> bool {
        now < self.window.until()
    }

    /// Whether the drain has lasted as long as it may.
    pub(crate) fn is_drained(&self, now: Nanos) -> bool {
        now >= self.window.drain_until()
    }

    /// Whether all requests of a count must end within the window.
    pub(crate) const fn wants_all(&self) -> bool {
        self.window.wants_all()
    }

    /// When the recorder must be called again: at a boundary of the window or the end of a part.
    pub(crate) fn next_boundary(&self) -> Nanos {
        self.window.next_boundary().min(self.next_part)
    }

    /// Reads the CPU time if a boundary of the window has been crossed.
    pub(crate) fn cross(&mut self, now: Nanos, spent: impl Fn() -> Spent) {
        if self.window.is_crossed(now) {
            self.window.cross(now, spent());
        }
    }

    /// Cancels the slice: its window ends now and its drain soon.
    pub(crate) fn cancel(&mut self, now: Nanos) {
        self.sample.cancelled |= self.is_before_end(now);
        self.window.cancel(now);
    }

    /// Ends the window if it still lasts, because a count has been reached. In a cancelled slice, requests that end
    /// from here on are cut off and have not failed.
    pub(crate) fn end_window(&mut self, now: Nanos) {
        if self.is_before_end(now) {
            self.window.end_at(now);
        }
        self.is_cutting_off = self.window.is_cancelled();
    }

    /// Hands over one part for each period that has ended, also for those in which the worker was stopped: parts of
    /// several workers are added up one by one. What a worker recorded before it was stopped is in the first of them.
    pub(crate) fn end_periods(&mut self, now: Nanos, spent: impl Fn() -> Spent, on_part: &mut dyn FnMut(SliceSample)) {
        // A worker that was stopped until after the drain has no more parts than one that was not.
        let now = now.min(self.window.drain_until());
        while self.next_part <= now {
            let end = self.next_part;
            self.next_part = end + self.every;
            on_part(self.take_part(end, &spent));
        }
    }

    /// Ends the slice and returns the sample since the last part. The parts add up to the slice.
    pub(crate) fn end_slice(&mut self, spent: impl Fn() -> Spent) -> SliceSample {
        let part = self.take_part(Nanos::MAX, spent);
        self.window.set_inactive();
        self.is_cutting_off = false;
        part
    }

    fn take_part(&mut self, at: Nanos, spent: impl Fn() -> Spent) -> SliceSample {
        let spent = self.window.spent(spent);
        let rest = SliceSample { workers: self.sample.workers, start_ns: at.0, ..SliceSample::default() };
        let mut part = std::mem::replace(&mut self.sample, rest);
        keep_memory(&mut self.sample, &mut part);
        part.window_ns = self.window.until().min(at).since(self.window.from().max(self.since));
        let Spent { cpu_ns, spun_ns } = spent.since(self.spent);
        (part.generator_cpu_ns, part.generator_spin_ns) = (cpu_ns - spun_ns, spun_ns);
        (self.since, self.spent) = (at, spent);
        part
    }

    /// Bytes of requests were sent.
    pub(crate) fn sent(&mut self, at: Nanos, bytes: usize) {
        if self.window.contains(at) {
            self.sample.bytes_out += bytes as u64;
        }
    }

    /// Bytes of answers arrived.
    pub(crate) fn received(&mut self, at: Nanos, bytes: usize) {
        if self.window.contains(at) {
            self.sample.bytes_in += bytes as u64;
        }
    }

    /// The expected answer is complete. It may have arrived up to `stamped_late_ns` before `at`.
    pub(crate) fn completed(&mut self, times: &Times, at: Nanos, stamped_late_ns: u64) {
        self.sample.completed_in_slice += 1;
        if self.window.contains(at) {
            self.sample.completed += 1;
        }
        if !self.window.contains(times.intended) {
            return;
        }
        self.offered(times, at);
        self.sample.ok += 1;
        self.sample.response.record_ns(at.since(times.intended));
        self.sample.stamp_lag.record_ns(stamped_late_ns);
        if let Some(sent) = times.sent {
            self.sample.service.record_ns(at.since(sent));
        }
    }

    /// A request failed, sent or not.
    pub(crate) fn failed(&mut self, times: &Times, at: Nanos, problem: &Problem) {
        if !self.window.contains(times.intended) {
            return;
        }
        if self.is_cutting_off {
            self.sample.cut_off += 1;
            self.sample.cancelled = true;
            return;
        }
        self.offered(times, at);
        self.sample.failed += 1;
        self.sample.failed_time.record_ns(at.since(times.intended));
        self.sample.errors.add_failure(problem.class, &problem.text);
    }

    /// A request failed, or a subscription that still misses the messages `owed`. A subscription that was requested in
    /// the discarded head counts from the begin of the window on.
    pub(crate) fn failed_owing(&mut self, times: &Times, at: Nanos, problem: &Problem, owed: Option<Owed>) {
        let Some(owed) = owed else { return self.failed(times, at, problem) };
        if at >= self.window.from() {
            self.failed(&Times { intended: times.intended.max(self.window.from()), ..*times }, at, problem);
            self.missing(at, &owed);
        }
    }

    /// A pushed message arrived. It counts as the answer to a request that was due when the server sent the message. A
    /// stamp more than `tolerance_ns` after the arrival counts as ahead of time.
    pub(crate) fn pushed(&mut self, pushed: &Pushed, tolerance_ns: u64) {
        self.sample.completed_in_slice += 1;
        if self.window.contains(pushed.came) {
            self.sample.completed += 1;
        }
        let intended = pushed.sent.unwrap_or(pushed.came);
        if !self.window.contains(intended) {
            return;
        }
        self.offered(&Times { intended, sent: None, blocked_until: None }, pushed.came);
        self.sample.ok += 1;
        if pushed.sent.is_some() {
            self.sample.response.record_ns(pushed.came.since(intended));
        }
        self.count_message(pushed, tolerance_ns);
    }

    fn count_message(&mut self, pushed: &Pushed, tolerance_ns: u64) {
        let tally = &mut self.sample.messages;
        tally.received += 1;
        tally.late += u64::from(pushed.is_late);
        tally.out_of_order += u64::from(pushed.is_out_of_order);
        tally.duplicated += u64::from(pushed.is_duplicate);
        tally.ahead += u64::from(pushed.sent.is_some_and(|sent| sent.since(pushed.came) > tolerance_ns));
        tally.stamp_unit_ns = tally.stamp_unit_ns.max(pushed.unit_ns);
        if let Some(jitter_ns) = pushed.jitter_ns {
            self.sample.jitter.record_ns(jitter_ns);
        }
    }

    /// A subscription ended correctly; the messages `owed` did not arrive.
    pub(crate) fn unsubscribed(&mut self, at: Nanos, owed: &Owed) {
        if at >= self.window.from() {
            self.sample.messages.subscriptions += 1;
            self.missing(at, owed);
        }
    }

    /// Counts messages that did not arrive.
    fn missing(&mut self, at: Nanos, owed: &Owed) {
        if !self.is_cutting_off {
            self.sample.messages.missing += owed.missing(self.window.from(), self.window.until().min(at));
        }
    }

    /// A ping of the server was answered.
    pub(crate) fn pinged(&mut self, at: Nanos) {
        self.sample.messages.pings += u64::from(self.window.contains(at));
    }

    /// A stamped message arrived, in the window or not: a sample of the server's clock.
    pub(crate) fn clock_sampled(&mut self, stamp: Stamped, at: Nanos) {
        self.sample.clock_samples.add_message(stamp.unix_ns, stamp.unit_ns, at.0);
    }

    /// The server answered one of our pings after this round trip.
    pub(crate) fn ponged(&mut self, after_ns: u64) {
        self.sample.clock_samples.add_round_trip(after_ns);
    }

    /// Something failed on a connection that belongs to no request: a connection event.
    pub(crate) fn connection_failed(&mut self, at: Nanos, problem: &Problem) {
        if self.window.contains(at) {
            self.sample.connection_events.add_failure(problem.class, &problem.text);
        }
    }

    /// A connection was opened.
    pub(crate) fn connection_opened(&mut self) {
        self.sample.connections_opened += 1;
    }

    /// A TLS handshake succeeded.
    pub(crate) fn tls_established(&mut self, is_resumed: bool) {
        self.sample.tls_handshakes += 1;
        self.sample.tls_resumed += u64::from(is_resumed);
    }

    /// A connection ended without notice.
    pub(crate) fn connection_lost(&mut self) {
        self.sample.connections_lost += u64::from(!self.is_cutting_off);
    }

    /// Counts what all requests of the window have in common. It is called when a request ends, so that the sums always
    /// agree.
    fn offered(&mut self, times: &Times, at: Nanos) {
        self.sample.offered += 1;
        if self.untraced > 0 {
            self.untraced -= 1;
            let sent_ns = times.sent.map(|sent| sent.0);
            self.sample.trace.push(TracedRequest { intended_ns: times.intended.0, sent_ns, ended_ns: at.0 });
        }
        if let Some(sent) = times.sent {
            self.sample.sent += 1;
            self.sample.send_lag.record_ns(sent.since(times.intended));
        }
        if let Some(until) = times.blocked_until {
            self.sample.blocked += 1;
            self.sample.blocked_ns += until.since(times.intended);
        }
    }
}

/// Keeps the histograms of `part` in the recorder, cleared, and gives `part` copies of the needed size. The recorder's
/// have grown to the latencies of earlier slices, so that no slice stops to grow them.
fn keep_memory(kept: &mut SliceSample, part: &mut SliceSample) {
    for (kept, copy) in kept.histograms_mut().zip(part.histograms_mut()) {
        std::mem::swap(kept, copy);
        if !kept.is_empty() {
            copy.merge(kept);
            kept.clear();
        }
    }
}
