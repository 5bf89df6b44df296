//! Decides whether a waiting worker sleeps or polls. A sleeping worker wakes late, by tens of microseconds on a virtual
//! machine. That delays its sends and the time stamps of its answers.

use tare_sys::clock::Nanos;

use crate::schedule::sending::Sending;

/// How long before a send the worker wakes up: the first value, used until sleeps were measured, and the bounds. No
/// kernel wakes faster than the lower bound. Above the upper bound other work delays the worker, not the wake-up.
const FIRST_MARGIN_NS: u64 = 100_000;
const LEAST_MARGIN_NS: u64 = 5_000;
const MOST_MARGIN_NS: u64 = 1_000_000;
/// After a send or an event the worker polls for an answer, or for the next event of a stream, for this many margins, and then
/// may sleep. A late wake-up then adds at most 1 % to the latency.
const ANSWER_MARGINS: u64 = 100;
/// A poll takes less than a microsecond. Time beyond this limit belongs to an interruption.
const LONGEST_POLL_NS: u64 = 10_000;
/// A poll that took this long was interrupted by another thread on the core. A spinning thread then has no scheduler
/// credit left, and a sleeping one gains some. So the worker sleeps for this multiple of the interruption.
const INTERRUPTED_NS: u64 = 1_000_000;
const SLEEP_PER_INTERRUPTION: u64 = 20;
/// One sleep in this many may end later than the margin allows for.
const ONE_IN: u64 = 100;

/// Decides how a worker waits. Holds its wake-up margin, and the time that it spent polling without an event.
#[derive(Default)]
pub(super) struct WaitPolicy {
    spins: bool,
    margin_ns: u64,
    /// How late the last sleep ended that reached its deadline.
    overslept_ns: u64,
    mode: WaitMode,
    /// When the current wait began, and when the wait before it ended.
    since: Nanos,
    woke_at: Nanos,
    /// When the first event of this wait was noticed.
    first_event_at: Option<Nanos>,
    last_sent: Nanos,
    last_event: Nanos,
    /// No polling before this moment, because other threads need the core.
    yields_until: Nanos,
    /// CPU time spent polling without an event, so far.
    pub(super) spun_ns: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WaitMode {
    /// Sleep until an event, or until this moment.
    Sleep(Nanos),
    /// Check for events without waiting.
    #[default]
    Poll,
}

impl WaitPolicy {
    pub(super) fn new() -> Self {
        Self { margin_ns: FIRST_MARGIN_NS, ..Self::default() }
    }

    /// Begins a slice. Keeps the margin that earlier sleeps have set.
    pub(super) fn begin(&mut self, sending: Sending) {
        self.spins = sending == Sending::Spinning;
        (self.mode, self.since) = (WaitMode::Poll, self.last_sent);
    }

    /// How to wait from `now` on for events, or until `deadline`. The next request of a schedule leaves at `send_at`,
    /// if a place is free. `expects` says whether an answer is under way.
    pub(super) fn next_wait(&mut self, now: Nanos, deadline: Nanos, send_at: Option<Nanos>, expects: bool) -> WaitMode {
        self.mode = self.choose(now, deadline, send_at, expects);
        (self.since, self.first_event_at) = (now, None);
        self.mode
    }

    /// Polls when a send or an answer is near, and sleeps otherwise.
    fn choose(&self, now: Nanos, deadline: Nanos, send_at: Option<Nanos>, expects: bool) -> WaitMode {
        if !self.spins || now < self.yields_until {
            return WaitMode::Sleep(deadline);
        }
        let rise_at = send_at.map_or(deadline, |send_at| Nanos(send_at.0.saturating_sub(self.margin_ns)));
        let is_answer_near =
            expects && now.since(self.last_sent.max(self.last_event)) < ANSWER_MARGINS * self.margin_ns;
        if is_answer_near || rise_at <= now { WaitMode::Poll } else { WaitMode::Sleep(deadline.min(rise_at)) }
    }

    /// Notes an event of this wait, noticed at `at`.
    pub(super) fn note_event(&mut self, at: Nanos) {
        self.first_event_at.get_or_insert(at);
        self.last_event = at;
    }

    pub(super) fn note_send(&mut self, now: Nanos) {
        self.last_sent = now;
    }

    /// Ends the wait, after its events have been handled.
    pub(super) fn end_wait(&mut self, now: Nanos) {
        self.woke_at = self.first_event_at.unwrap_or(now);
        match self.mode {
            _ if self.first_event_at.is_some() => {}
            // A sleep that began after its deadline did not sleep, so it shows nothing about wake-ups.
            WaitMode::Sleep(until) if self.since < until && until <= now => self.adjust_margin(now.since(until)),
            WaitMode::Sleep(_) => {}
            // This poll also submitted sends, which is work and not waiting.
            WaitMode::Poll if self.last_sent >= self.since => {}
            WaitMode::Poll => self.note_poll(now),
        }
    }

    fn note_poll(&mut self, now: Nanos) {
        let took_ns = now.since(self.since);
        self.spun_ns += took_ns.min(LONGEST_POLL_NS);
        if took_ns > INTERRUPTED_NS {
            self.yields_until = Nanos(now.0.saturating_add(took_ns.saturating_mul(SLEEP_PER_INTERRUPTION)));
        }
    }

    /// Moves the margin, in small steps, towards the lateness that one sleep in a hundred exceeds.
    fn adjust_margin(&mut self, overslept_ns: u64) {
        self.overslept_ns = overslept_ns;
        let step_ns = self.margin_ns / 8;
        let moved_ns = if overslept_ns > self.margin_ns {
            self.margin_ns + step_ns
        } else {
            self.margin_ns - step_ns.div_ceil(ONE_IN - 1)
        };
        self.margin_ns = moved_ns.clamp(LEAST_MARGIN_NS, MOST_MARGIN_NS);
    }

    /// Most nanoseconds between the arrival of an answer and its stamp. `at` is when it was noticed. It has waited for
    /// the work before, or for a wake-up as late as the last one.
    pub(super) fn stamped_late_ns(&self, at: Nanos) -> u64 {
        let unseen_ns = at.since(self.woke_at);
        match self.mode {
            WaitMode::Poll => unseen_ns,
            WaitMode::Sleep(_) => unseen_ns.min(self.overslept_ns.max(self.since.since(self.woke_at))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn spinning() -> WaitPolicy {
        let mut policy = WaitPolicy::new();
        policy.begin(Sending::Spinning);
        policy
    }

    /// Sleeps for a millisecond, and this much longer.
    fn oversleep(policy: &mut WaitPolicy, overslept_ns: u64) {
        let now = policy.since + std::time::Duration::from_millis(10);
        policy.next_wait(now, now + std::time::Duration::from_millis(1), None, false);
        let WaitMode::Sleep(until) = policy.mode else { panic!("nothing is near") };
        policy.end_wait(Nanos(until.0 + overslept_ns));
    }

    #[test]
    fn the_margin_is_what_one_sleep_in_a_hundred_exceeds() {
        let mut policy = spinning();
        // Up to 40 µs late, evenly spread; one in a thousand is 5 ms late.
        for nth in 0..50_000 {
            oversleep(&mut policy, if nth % 1000 == 0 { 5 * MS } else { nth * 7_919 % 40_000 });
        }
        assert!((30_000..50_000).contains(&policy.margin_ns), "{} ns", policy.margin_ns);
    }

    #[test]
    fn the_margin_has_bounds() {
        let mut policy = spinning();
        (0..10_000).for_each(|_| oversleep(&mut policy, 0));
        assert_eq!(policy.margin_ns, LEAST_MARGIN_NS);
        (0..10_000).for_each(|_| oversleep(&mut policy, 9 * MS));
        assert_eq!(policy.margin_ns, MOST_MARGIN_NS);
    }

    #[test]
    fn where_others_want_the_core_it_is_left_to_them() {
        let mut policy = spinning();
        let (now, due) = (Nanos(50 * MS), Some(Nanos(50 * MS + 1)));
        assert_eq!(policy.next_wait(now, Nanos(90 * MS), due, false), WaitMode::Poll);
        policy.end_wait(Nanos(54 * MS));
        // Another thread had the core for four milliseconds. The worker sleeps for eighty, however soon a request is
        // due.
        let due = Some(Nanos(100 * MS));
        assert_eq!(
            policy.next_wait(Nanos(99 * MS + MS / 2), Nanos(100 * MS), due, true),
            WaitMode::Sleep(Nanos(100 * MS))
        );
        assert_eq!(policy.spun_ns, LONGEST_POLL_NS, "others' time is not counted as its own");
        let due = Some(Nanos(140 * MS));
        assert_eq!(policy.next_wait(Nanos(140 * MS), Nanos(140 * MS), due, false), WaitMode::Poll);
    }

    #[test]
    fn while_events_of_a_stream_come_the_worker_polls_for_the_next_one() {
        let mut policy = spinning();
        policy.note_send(Nanos(MS));
        let mut wait = |at_ms: u64, expects| policy.next_wait(Nanos(at_ms * MS), Nanos(90 * MS), None, expects);
        assert_eq!([2, 20].map(|at_ms| wait(at_ms, true)), [WaitMode::Poll, WaitMode::Sleep(Nanos(90 * MS))]);
        policy.note_event(Nanos(20 * MS));
        let mut wait = |at_ms: u64, expects| policy.next_wait(Nanos(at_ms * MS), Nanos(90 * MS), None, expects);
        assert_eq!([21, 40].map(|at_ms| wait(at_ms, true)), [WaitMode::Poll, WaitMode::Sleep(Nanos(90 * MS))]);
        assert_eq!(wait(21, false), WaitMode::Sleep(Nanos(90 * MS)), "no answer is to come");
    }

    #[test]
    fn what_came_while_the_worker_was_at_work_is_stamped_late_by_no_more_than_that() {
        let mut policy = spinning();
        oversleep(&mut policy, 30_000);
        let woke_at = policy.woke_at;
        let at = |us: u64| Nanos(woke_at.0 + us * 1_000);
        // Twelve microseconds of work and then a poll; then a sleep, asked soon after it began and later.
        policy.next_wait(at(12), at(12), Some(at(12)), false);
        assert_eq!(policy.stamped_late_ns(at(13)), 13_000);
        policy.next_wait(at(12), at(900), None, false);
        assert_eq!(policy.stamped_late_ns(at(13)), 13_000);
        assert_eq!(policy.stamped_late_ns(at(500)), 30_000);
    }
}
