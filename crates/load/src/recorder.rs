//! Books what happens to requests into the sample of a slice; the only place that knows what the window is.

use tare_sys::clock::Nanos;
use tare_wire::ws::Stamped;

use crate::messages::Owed;
use crate::problem::Problem;
use crate::pushed::Pushed;
use crate::sample::{SliceSample, TracedRequest};

/// The times of one request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) intended: Nanos,
    /// `None` when it never left.
    pub(crate) sent: Option<Nanos>,
    /// Whether it waited because no connection was free, and until when.
    pub(crate) blocked_until: Option<Nanos>,
}

/// CPU time of a worker thread, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    /// All of it.
    pub(crate) cpu_ns: u64,
    /// The part that went into busy-waiting without finding an event.
    pub(crate) spun_ns: u64,
}

impl Spent {
    /// What was added since `before`.
    pub(crate) const fn since(self, before: Self) -> Self {
        let cpu_ns = self.cpu_ns.saturating_sub(before.cpu_ns);
        let spun_ns = self.spun_ns.saturating_sub(before.spun_ns);
        // Busy-waiting is timed by the wall clock, which runs on while the thread is descheduled.
        Self { cpu_ns, spun_ns: if spun_ns < cpu_ns { spun_ns } else { cpu_ns } }
    }
}

/// Books one slice of one worker.
pub(crate) struct Recorder {
    from: Nanos,
    until: Nanos,
    /// Whether what fails now fails only because nobody waits for it any longer.
    is_cutting_off: bool,
    /// Since when the sample holds what happened, and the CPU time that was handed over before.
    since: Nanos,
    spent: Spent,
    /// How many requests are still to be traced.
    untraced: usize,
    sample: SliceSample,
}

impl Recorder {
    /// Books between slices, which know only connections that come and go.
    pub(crate) fn idle() -> Self {
        let sample = SliceSample { workers: 1, ..SliceSample::default() };
        let zero = Nanos::ZERO;
        Self {
            from: zero,
            until: zero,
            is_cutting_off: false,
            since: zero,
            spent: Spent::default(),
            untraced: 0,
            sample,
        }
    }

    /// Opens the books of a slice; what happened to connections since the last one belongs to it.
    pub(crate) fn open(&mut self, start: Nanos, from: Nanos, until: Nanos) {
        self.from = from;
        self.until = until;
        self.sample.start_ns = start.0;
        self.sample.discarded_head_ns = from.since(start);
    }

    /// Keeps the times of the first so many requests.
    pub(crate) fn trace(&mut self, requests: usize) {
        self.untraced = requests;
        self.sample.trace.reserve_exact(requests);
    }

    /// Ends the window earlier than was planned.
    pub(crate) fn end_at(&mut self, until: Nanos) {
        self.until = until;
    }

    /// The window ended early because somebody wanted it to.
    pub(crate) fn cut_short(&mut self) {
        self.sample.cancelled = true;
    }

    /// Whatever fails from here on is the end of a cancelled slice, and no failure of the server.
    pub(crate) fn cut_off_the_rest(&mut self) {
        self.is_cutting_off = true;
    }

    /// Hands over what was booked since the last part, and goes on with empty books: the parts add up to the slice.
    /// `spent` is the CPU time of the window so far.
    pub(crate) fn part(&mut self, at: Nanos, spent: Spent) -> SliceSample {
        let rest = SliceSample { workers: self.sample.workers, start_ns: at.0, ..SliceSample::default() };
        let mut part = std::mem::replace(&mut self.sample, rest);
        part.window_ns = self.until.min(at).since(self.from.max(self.since));
        let Spent { cpu_ns, spun_ns } = spent.since(self.spent);
        (part.generator_cpu_ns, part.generator_spin_ns) = (cpu_ns - spun_ns, spun_ns);
        (self.since, self.spent) = (at, spent);
        part
    }

    /// Hands over the last part.
    pub(crate) fn finish(mut self, spent: Spent) -> SliceSample {
        self.part(Nanos::MAX, spent)
    }

    fn in_window(&self, moment: Nanos) -> bool {
        self.from <= moment && moment < self.until
    }

    /// A request left; its fate follows with one of the next two.
    pub(crate) fn sent(&mut self, at: Nanos, bytes: usize) {
        if self.in_window(at) {
            self.sample.bytes_out += bytes as u64;
        }
    }

    pub(crate) fn received(&mut self, at: Nanos, bytes: usize) {
        if self.in_window(at) {
            self.sample.bytes_in += bytes as u64;
        }
    }

    /// The expected answer was complete, and may have been so earlier by `stamped_late_ns`.
    pub(crate) fn answered(&mut self, times: &Times, at: Nanos, stamped_late_ns: u64) {
        self.sample.completed_in_slice += 1;
        if self.in_window(at) {
            self.sample.completed += 1;
        }
        if !self.in_window(times.intended) {
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
        if !self.in_window(times.intended) {
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
        self.sample.errors.add(problem.class, &problem.text);
    }

    /// A request was given up, or a subscription that is `owed` messages. A subscription lasts: one that was asked for in
    /// the head belongs to the window from its beginning on.
    pub(crate) fn given_up(&mut self, times: &Times, at: Nanos, problem: &Problem, owed: Option<Owed>) {
        let Some(owed) = owed else { return self.failed(times, at, problem) };
        if at >= self.from {
            self.failed(&Times { intended: times.intended.max(self.from), ..*times }, at, problem);
            self.missing(at, &owed);
        }
    }

    /// A message was pushed: the answer to a request that was due when it was sent, by a clock that may be off by so much.
    pub(crate) fn pushed(&mut self, pushed: &Pushed, within_ns: u64) {
        self.sample.completed_in_slice += 1;
        if self.in_window(pushed.came) {
            self.sample.completed += 1;
        }
        let intended = pushed.sent.unwrap_or(pushed.came);
        if !self.in_window(intended) {
            return;
        }
        self.offered(&Times { intended, sent: None, blocked_until: None }, pushed.came);
        self.sample.ok += 1;
        if pushed.sent.is_some() {
            self.sample.response.record_ns(pushed.came.since(intended));
        }
        self.sample.messages.book(pushed, within_ns);
    }

    /// A subscription came to its end.
    pub(crate) fn unsubscribed(&mut self, at: Nanos, owed: &Owed) {
        if at >= self.from {
            self.sample.messages.subscriptions += 1;
            self.missing(at, owed);
        }
    }

    fn missing(&mut self, at: Nanos, owed: &Owed) {
        if !self.is_cutting_off {
            self.sample.messages.missing += owed.missing(self.from, self.until.min(at));
        }
    }

    /// A ping was answered.
    pub(crate) fn pinged(&mut self, at: Nanos) {
        self.sample.messages.pings += u64::from(self.in_window(at));
    }

    /// A message came that tells of the server's clock, in the window or not.
    pub(crate) fn sounded(&mut self, stamp: Stamped, at: Nanos) {
        self.sample.messages.clues.came(stamp, at);
    }

    /// A ping of ours was answered after so long.
    pub(crate) fn ponged(&mut self, after_ns: u64) {
        self.sample.messages.clues.answered(after_ns);
    }

    /// A connection without a request failed.
    pub(crate) fn connection_failed(&mut self, at: Nanos, problem: &Problem) {
        if self.in_window(at) {
            self.sample.errors.add(problem.class, &problem.text);
        }
    }

    pub(crate) fn opened(&mut self) {
        self.sample.connections_opened += 1;
    }

    pub(crate) fn secured(&mut self, is_resumed: bool) {
        self.sample.tls_handshakes += 1;
        self.sample.tls_resumed += u64::from(is_resumed);
    }

    pub(crate) fn lost(&mut self) {
        self.sample.connections_lost += u64::from(!self.is_cutting_off);
    }

    /// What is known of every request of the window, booked with its fate so that the sums always agree.
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
