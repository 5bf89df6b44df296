//! Counts requests and their ends in the sample of a slice. Only the recorder knows the window.

mod answers;
pub(crate) mod missing_messages;
pub(crate) mod pushed_message;
pub(crate) mod server_clock;
pub(crate) mod slice;
#[cfg(test)]
mod tests;
mod window;

use std::time::Duration;

use tare_sample::{ErrorTallies, SliceSample, TracedRequest};
use tare_sys::clock::Nanos;
use tare_wire::ws::Stamped;

use self::answers::AnswerTallies;
use self::window::Window;
use crate::input::request::RequestSet;
use crate::problem::Problem;
use crate::recorder::missing_messages::MissingMessages;
use crate::recorder::pushed_message::PushedMessage;
use crate::recorder::slice::WorkerSlice;

/// How long after the window messages are waited for that were sent within it.
const LATE_MESSAGES: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) intended: Nanos,
    /// `None` if it never left.
    pub(crate) sent: Option<Nanos>,
    /// Whether it waited because no connection was free, and until when.
    pub(crate) blocked_until: Option<Nanos>,
    /// When the connection was open that its user waited for. The generator could send nothing before.
    pub(crate) connected_at: Option<Nanos>,
    /// Index in the request set; `None` if it never found a connection, so that it was not yet known which it would be.
    pub(crate) request: Option<u32>,
    /// The status of the answer; 0 if none has come, or if answers have none.
    pub(crate) status: u16,
}

/// Takes one part of a sample after another.
pub(crate) type OnPart<'a> = &'a mut dyn FnMut(SliceSample);

/// CPU time of a worker thread, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CpuTimes {
    pub(crate) cpu_ns: u64,
    /// The part spent polling without an event.
    pub(crate) spun_ns: u64,
}

impl CpuTimes {
    pub(crate) fn since(self, before: Self) -> Self {
        let cpu_ns = self.cpu_ns.saturating_sub(before.cpu_ns);
        // Busy-waiting is timed by the wall clock, which runs on while the thread is descheduled.
        Self { cpu_ns, spun_ns: self.spun_ns.saturating_sub(before.spun_ns).min(cpu_ns) }
    }
}

#[derive(Default)]
pub(crate) struct Recorder {
    window: Window,
    /// Whether requests that end now are cut off and do not count as failed: the slice was cancelled and its drain is over.
    cuts_off_requests: bool,
    /// How often a part of the sample is due, and when the next is; `None` for one at the end.
    parts: Option<(Duration, Nanos)>,
    /// End of the last part, and the CPU time in the parts before.
    since: Nanos,
    spent: CpuTimes,
    most_traced: usize,
    answers: AnswerTallies,
    sample: SliceSample,
}

impl Recorder {
    /// Between slices it counts only connections. `failed_users` could not be set up, which the first slice tells.
    pub(crate) fn idle(requests: &RequestSet, failed_users: &ErrorTallies) -> Self {
        let connection_events = failed_users.clone();
        Self {
            answers: AnswerTallies::of(requests.names()),
            sample: SliceSample { workers: 1, connection_events, ..SliceSample::default() },
            ..Self::default()
        }
    }

    /// Begins a slice. Connections opened and lost since the slice before count in this one.
    pub(crate) fn begin_slice(&mut self, slice: &WorkerSlice) {
        self.window = Window::of(slice);
        self.cuts_off_requests = false;
        self.parts = slice.every.map(|every| (every, slice.start + every));
        (self.since, self.spent) = (Nanos::ZERO, CpuTimes::default());
        self.most_traced = slice.spec.trace;
        if slice.every.is_none() {
            self.sample.trace.reserve_exact(slice.spec.trace);
        }
        self.sample.start_ns = slice.start.0;
        self.sample.discarded_head_ns = self.window.from.since(slice.start);
    }

    /// Whether a slice is running, in its head, window or drain.
    pub(crate) const fn is_active(&self) -> bool {
        self.window.is_active
    }

    /// Whether the window has not ended at `now`.
    pub(crate) fn is_before_end(&self, now: Nanos) -> bool {
        now < self.window.until
    }

    /// Until when messages that were sent within the window may arrive; without end where a count of requests is wanted.
    pub(crate) fn late_messages_until(&self) -> Nanos {
        if self.window.wants_all { Nanos::MAX } else { self.window.until + LATE_MESSAGES }
    }

    pub(crate) fn is_drained(&self, now: Nanos) -> bool {
        now >= self.window.drain_until
    }

    /// Whether all requests of a count must end within the window.
    pub(crate) const fn wants_all(&self) -> bool {
        self.window.wants_all
    }

    /// When the recorder must be called again: at a boundary of the window or the end of a part.
    pub(crate) fn next_boundary(&self) -> Nanos {
        let next_part = self.parts.map_or(Nanos::MAX, |(_, next)| next);
        self.window.next_boundary().min(next_part)
    }

    /// Reads the CPU time if a boundary of the window has been crossed.
    pub(crate) fn read_cpu_at_boundary(&mut self, now: Nanos, spent: impl Fn() -> CpuTimes) {
        self.window.read_cpu_at_boundary(now, spent);
    }

    /// Cancels the slice: its window ends now and its drain soon.
    pub(crate) fn cancel(&mut self, now: Nanos) {
        self.sample.cancelled |= self.is_before_end(now);
        self.window.cancel(now);
    }

    /// Ends the window if it still lasts. Of a cancelled slice, what ends from here on is cut off and has not failed.
    pub(crate) fn end_window(&mut self, now: Nanos) {
        if self.is_before_end(now) {
            self.window.end_at(now);
        }
        self.cuts_off_requests = self.window.is_cancelled;
    }

    /// Hands over one part for each period that has ended, also for those in which the worker was stopped: parts of
    /// several workers are added up one by one. What a worker recorded before it was stopped is in the first of them.
    pub(crate) fn end_periods(&mut self, now: Nanos, spent: impl Fn() -> CpuTimes, on_part: OnPart<'_>) {
        // A worker that was stopped until after the drain has no more parts than one that was not.
        let now = now.min(self.window.drain_until);
        while let Some((every, end)) = self.parts.filter(|(_, end)| *end <= now) {
            self.parts = Some((every, end + every));
            on_part(self.take_part(end, &spent));
        }
    }

    /// Ends the slice and returns the sample since the last part. The parts add up to the slice.
    pub(crate) fn end_slice(&mut self, spent: impl Fn() -> CpuTimes) -> SliceSample {
        let mut part = self.take_part(Nanos::MAX, spent);
        part.by_request = self.answers.take_requests();
        self.window.is_active = false;
        self.cuts_off_requests = false;
        part
    }

    fn take_part(&mut self, at: Nanos, spent: impl Fn() -> CpuTimes) -> SliceSample {
        let spent = self.window.spent(spent);
        let rest = SliceSample { workers: self.sample.workers, start_ns: at.0, ..SliceSample::default() };
        let mut part = std::mem::replace(&mut self.sample, rest);
        keep_memory(&mut self.sample, &mut part);
        // The next part has about as many, and room for them that is not used costs nothing.
        self.sample.trace.reserve_exact(self.most_traced.min(2 * part.trace.len()));
        part.statuses = self.answers.take_statuses();
        part.window_ns = self.window.until.min(at).since(self.window.from.max(self.since));
        let CpuTimes { cpu_ns, spun_ns } = spent.since(self.spent);
        (part.generator_cpu_ns, part.generator_spin_ns) = (cpu_ns - spun_ns, spun_ns);
        (self.since, self.spent) = (at, spent);
        part
    }

    pub(crate) fn record_sent_bytes(&mut self, at: Nanos, bytes: usize) {
        if self.window.contains(at) {
            self.sample.bytes_out += bytes as u64;
        }
    }

    pub(crate) fn record_received_bytes(&mut self, at: Nanos, bytes: usize) {
        if self.window.contains(at) {
            self.sample.bytes_in += bytes as u64;
        }
    }

    /// Records a request with the expected answer, complete at `at` or up to `stamped_late_ns` earlier.
    pub(crate) fn record_answer(&mut self, times: &Times, at: Nanos, stamped_late_ns: u64) {
        self.sample.completed_in_slice += 1;
        self.sample.completed += u64::from(self.window.contains(at));
        if !self.window.contains(times.intended) {
            return;
        }
        self.count_offered(times, at, true);
        self.sample.ok += 1;
        let response_ns = at.since(times.intended);
        self.sample.response.record_ns(response_ns);
        self.answers.count_answer(times.request, times.status, Some(response_ns));
        self.sample.stamp_lag.record_ns(stamped_late_ns);
        if let Some(sent) = times.sent {
            self.sample.service.record_ns(at.since(sent));
        }
    }

    /// Counts a redirect that is followed. Its request goes on.
    pub(crate) fn record_redirect(&mut self, times: &Times, status: u16) {
        if self.window.contains(times.intended) {
            self.answers.count_status(status);
        }
    }

    /// Records a failed request, sent or not.
    pub(crate) fn record_failure(&mut self, times: &Times, at: Nanos, problem: &Problem) {
        if !self.window.contains(times.intended) {
            return;
        }
        if self.cuts_off_requests {
            self.sample.cut_off += 1;
            self.sample.cancelled = true;
            return;
        }
        self.count_offered(times, at, false);
        self.sample.failed += 1;
        self.sample.failed_time.record_ns(at.since(times.intended));
        self.answers.count_failure(times.request, times.status, &problem.text);
        let answers = &self.answers;
        self.sample
            .errors
            .add_failure_with(problem.class, || format!("{}{}", answers.prefix(times.request), problem.text));
    }

    /// Records a failed request, or a failed subscription, which counts from the start of the window on.
    pub(crate) fn record_failed_exchange(
        &mut self,
        times: &Times,
        at: Nanos,
        problem: &Problem,
        missing: Option<MissingMessages>,
    ) {
        let Some(missing) = missing else { return self.record_failure(times, at, problem) };
        if at >= self.window.from {
            self.record_failure(&Times { intended: times.intended.max(self.window.from), ..*times }, at, problem);
            self.count_missing(at, &missing);
        }
    }

    /// Records a pushed message: the answer to a request that was due when the server sent it, or to that of its stream if
    /// it is the first event. A stamp more than `tolerance_ns` after the arrival counts as ahead of time.
    pub(crate) fn record_message(&mut self, pushed: &PushedMessage, tolerance_ns: u64) {
        self.sample.completed_in_slice += 1;
        self.sample.completed += u64::from(self.window.contains(pushed.arrived_at));
        let intended = pushed.sent_at.unwrap_or(pushed.arrived_at);
        if !self.window.contains(intended) {
            return;
        }
        let wanted_at = pushed.answers.map_or(pushed.sent_at, |times| Some(times.intended));
        let times = Times { intended: wanted_at.unwrap_or(intended), ..Times::default() };
        self.count_offered(&times, pushed.arrived_at, true);
        self.sample.ok += 1;
        let response_ns = wanted_at.map(|wanted_at| pushed.arrived_at.since(wanted_at));
        response_ns.into_iter().for_each(|ns| self.sample.response.record_ns(ns));
        self.answers.count_message(pushed.request, response_ns);
        if let Some(times) = pushed.answers {
            self.sample.service.record_ns(pushed.arrived_at.since(times.sent.unwrap_or(times.intended)));
        }
        self.count_message(pushed, tolerance_ns);
    }

    fn count_message(&mut self, pushed: &PushedMessage, tolerance_ns: u64) {
        let tally = &mut self.sample.messages;
        tally.received += 1;
        tally.late += u64::from(pushed.is_late);
        tally.out_of_order += u64::from(pushed.is_out_of_order);
        tally.duplicated += u64::from(pushed.is_duplicate);
        tally.ahead += u64::from(pushed.sent_at.is_some_and(|sent| sent.since(pushed.arrived_at) > tolerance_ns));
        tally.stamp_unit_ns = tally.stamp_unit_ns.max(pushed.unit_ns);
        if let Some(jitter_ns) = pushed.jitter_ns {
            self.sample.jitter.record_ns(jitter_ns);
        }
    }

    /// Records a subscription that ended correctly, without the messages `missing`. The status is 0 on a WebSocket.
    pub(crate) fn record_unsubscribe(&mut self, at: Nanos, missing: &MissingMessages, times: &Times) {
        if at >= self.window.from {
            self.sample.messages.subscriptions += 1;
            self.answers.count_answer(times.request, times.status, None);
            self.count_missing(at, missing);
        }
    }

    /// Records a stream of events that has been silent for this long when its user leaves it.
    pub(crate) fn record_silence(&mut self, silence_ns: u64) {
        let tally = &mut self.sample.messages;
        tally.silent += 1;
        tally.silent_ns = tally.silent_ns.max(silence_ns);
    }

    fn count_missing(&mut self, at: Nanos, missing: &MissingMessages) {
        if !self.cuts_off_requests {
            self.sample.messages.missing += missing.count(self.window.from, self.window.until.min(at));
        }
    }

    /// Records an answered ping of the server.
    pub(crate) fn record_ping(&mut self, at: Nanos) {
        self.sample.messages.pings += u64::from(self.window.contains(at));
    }

    /// Records a stamped message, in the window or not, as a sample of the server's clock.
    pub(crate) fn record_clock_sample(&mut self, stamp: Stamped, at: Nanos) {
        self.sample.clock_samples.add_message(stamp.unix_ns, stamp.unit_ns, at.0);
    }

    pub(crate) fn record_pong(&mut self, after_ns: u64) {
        self.sample.clock_samples.add_round_trip(after_ns);
    }

    /// Records a failure on a connection that belongs to no request, as a connection event.
    pub(crate) fn record_connection_failure(&mut self, at: Nanos, problem: &Problem) {
        if self.window.contains(at) {
            self.sample.connection_events.add_failure(problem.class, &problem.text);
        }
    }

    pub(crate) fn record_connection_opened(&mut self) {
        self.sample.connections_opened += 1;
    }

    pub(crate) fn record_tls_handshake(&mut self, is_resumed: bool) {
        self.sample.tls_handshakes += 1;
        self.sample.tls_resumed += u64::from(is_resumed);
    }

    /// Counts a connection that ended without notice.
    pub(crate) fn record_connection_lost(&mut self) {
        self.sample.connections_lost += u64::from(!self.cuts_off_requests);
    }

    /// Called when a request of the window ends, so that the sums always agree.
    fn count_offered(&mut self, times: &Times, at: Nanos, is_answered: bool) {
        self.sample.offered += 1;
        if self.sample.trace.len() < self.most_traced {
            self.sample.trace.push(TracedRequest {
                intended_ns: times.intended.0,
                sent_ns: times.sent.map(|sent| sent.0),
                ended_ns: at.0,
                is_answered,
                was_blocked: times.blocked_until.is_some(),
            });
        }
        if let Some(sent) = times.sent {
            self.sample.sent += 1;
            self.sample.send_lag.record_ns(sent.since(times.connected_at.unwrap_or(times.intended)));
        }
        if let Some(until) = times.blocked_until {
            self.sample.blocked += 1;
            self.sample.blocked_ns += until.since(times.intended);
        }
    }
}

/// Keeps the memory of the histograms of `part` in the recorder, and gives `part` copies. The recorder's histograms have grown to
/// the latencies of earlier slices, so no slice spends time on growing them.
fn keep_memory(kept: &mut SliceSample, part: &mut SliceSample) {
    for (kept, copy) in kept.histograms_mut().zip(part.histograms_mut()) {
        std::mem::swap(kept, copy);
        if !kept.is_empty() {
            copy.merge(kept);
            kept.clear();
        }
    }
}
