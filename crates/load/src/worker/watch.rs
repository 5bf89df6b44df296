//! Decides whether a waiting worker sleeps or polls. A sleeping worker wakes late, by tens of microseconds on a virtual
//! machine. That delays its sends and the time stamps of its answers.

use tare_sys::clock::Nanos;

use crate::schedule::sending::Sending;

/// How long before a send the worker wakes up: the first value, used until sleeps were measured, and the bounds. No
/// kernel wakes faster than the lower bound. Above the upper bound other work delays the worker, not the wake-up.
const FIRST_MARGIN_NS: u64 = 100_000;
const LEAST_MARGIN_NS: u64 = 5_000;
const MOST_MARGIN_NS: u64 = 1_000_000;
/// After this many margins the worker may sleep: a late wake-up then adds at most 1 % to the latency of an answer.
const PATIENCE: u64 = 100;
/// A poll takes less than a microsecond. Time beyond this limit belongs to an interruption.
const LONGEST_LOOK_NS: u64 = 10_000;
/// A poll that took this long was interrupted by another thread on the core. A spinning thread then has no scheduler
/// credit left, and a sleeping one gains some. So the worker sleeps for this multiple of the interruption.
const INTERRUPTED_NS: u64 = 1_000_000;
const REST_PER_INTERRUPTION: u64 = 20;
/// One sleep in this many may end later than the margin allows for.
const ONE_IN: u64 = 100;

/// How a worker waits: its wake-up margin, and the time it spent polling without an event.
pub(super) struct Watch {
    spins: bool,
    margin_ns: u64,
    /// How late the last sleep ended that reached its deadline.
    overslept_ns: u64,
    rest: Rest,
    /// When the current wait began, and when the wait before it ended.
    since: Nanos,
    woke_at: Nanos,
    /// When the first event of this wait was noticed.
    heard_at: Option<Nanos>,
    last_sent: Nanos,
    /// No polling before this moment, because other threads need the core.
    yields_until: Nanos,
    spun_ns: u64,
}

/// How to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Sleep until an event, or until this moment.
    Sleep(Nanos),
    /// Poll: look for events without waiting.
    Look,
}

impl Watch {
    pub(super) const fn new() -> Self {
        Self {
            spins: false,
            margin_ns: FIRST_MARGIN_NS,
            overslept_ns: 0,
            rest: Rest::Look,
            since: Nanos::ZERO,
            woke_at: Nanos::ZERO,
            heard_at: None,
            last_sent: Nanos::ZERO,
            yields_until: Nanos::ZERO,
            spun_ns: 0,
        }
    }

    /// Begins a slice. The margin learnt from earlier sleeps stays.
    pub(super) fn begin(&mut self, sending: Sending) {
        self.spins = sending == Sending::Spinning;
        (self.rest, self.since) = (Rest::Look, self.last_sent);
    }

    /// How to wait from `now` on for events, or until `deadline`. The next request of a schedule leaves at `send_at`,
    /// if a place is free. `expects` says whether an answer is under way.
    pub(super) fn rest(&mut self, now: Nanos, deadline: Nanos, send_at: Option<Nanos>, expects: bool) -> Rest {
        self.rest = self.choose(now, deadline, send_at, expects);
        (self.since, self.heard_at) = (now, None);
        self.rest
    }

    /// Polls when a send or an answer is near, and sleeps otherwise.
    fn choose(&self, now: Nanos, deadline: Nanos, send_at: Option<Nanos>, expects: bool) -> Rest {
        if !self.spins || now < self.yields_until {
            return Rest::Sleep(deadline);
        }
        let rise_at = send_at.map_or(deadline, |send_at| Nanos(send_at.0.saturating_sub(self.margin_ns)));
        let is_answer_near = expects && now.since(self.last_sent) < PATIENCE * self.margin_ns;
        if is_answer_near || rise_at <= now { Rest::Look } else { Rest::Sleep(deadline.min(rise_at)) }
    }

    /// The wait has found an event, noticed `at` this moment.
    pub(super) fn heard(&mut self, at: Nanos) {
        self.heard_at.get_or_insert(at);
    }

    /// A request was sent.
    pub(super) fn sent(&mut self, now: Nanos) {
        self.last_sent = now;
    }

    /// The wait is over, and its events have been handled.
    pub(super) fn woke(&mut self, now: Nanos) {
        self.woke_at = self.heard_at.unwrap_or(now);
        match self.rest {
            _ if self.heard_at.is_some() => {}
            // A sleep that began after its deadline did not sleep, so it says nothing about wake-ups.
            Rest::Sleep(until) if self.since < until && until <= now => self.learn(now.since(until)),
            Rest::Sleep(_) => {}
            // This poll also submitted sends, which is work and not waiting.
            Rest::Look if self.last_sent >= self.since => {}
            Rest::Look => self.looked(now),
        }
    }

    fn looked(&mut self, now: Nanos) {
        let took_ns = now.since(self.since);
        self.spun_ns += took_ns.min(LONGEST_LOOK_NS);
        if took_ns > INTERRUPTED_NS {
            self.yields_until = Nanos(now.0.saturating_add(took_ns.saturating_mul(REST_PER_INTERRUPTION)));
        }
    }

    /// Moves the margin towards the lateness that one sleep in a hundred exceeds, in steps so small that one sleep
    /// changes little.
    fn learn(&mut self, overslept_ns: u64) {
        self.overslept_ns = overslept_ns;
        let step_ns = self.margin_ns / 8;
        let moved_ns = if overslept_ns > self.margin_ns {
            self.margin_ns + step_ns
        } else {
            self.margin_ns - step_ns.div_ceil(ONE_IN - 1)
        };
        self.margin_ns = moved_ns.clamp(LEAST_MARGIN_NS, MOST_MARGIN_NS);
    }

    /// Upper bound of the delay between the arrival of an answer and its stamp, in nanoseconds. `at` is when it was
    /// noticed. An answer that arrived while the worker was busy has waited for that work. One that woke the worker has
    /// waited for a recent wake-up delay.
    pub(super) fn stamped_late_ns(&self, at: Nanos) -> u64 {
        let unseen_ns = at.since(self.woke_at);
        match self.rest {
            Rest::Look => unseen_ns,
            Rest::Sleep(_) => unseen_ns.min(self.overslept_ns.max(self.since.since(self.woke_at))),
        }
    }

    /// CPU time spent polling without an event, so far.
    pub(super) const fn spun_ns(&self) -> u64 {
        self.spun_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn spinning() -> Watch {
        let mut watch = Watch::new();
        watch.begin(Sending::Spinning);
        watch
    }

    /// Sleeps for a millisecond, and this much longer.
    fn oversleep(watch: &mut Watch, overslept_ns: u64) {
        let now = watch.since + std::time::Duration::from_millis(10);
        watch.rest(now, now + std::time::Duration::from_millis(1), None, false);
        let Rest::Sleep(until) = watch.rest else { panic!("nothing is near") };
        watch.woke(Nanos(until.0 + overslept_ns));
    }

    #[test]
    fn the_margin_is_what_one_sleep_in_a_hundred_exceeds() {
        let mut watch = spinning();
        // Up to 40 µs late, evenly spread; one in a thousand is 5 ms late.
        for nth in 0..50_000 {
            oversleep(&mut watch, if nth % 1000 == 0 { 5 * MS } else { nth * 7_919 % 40_000 });
        }
        assert!((30_000..50_000).contains(&watch.margin_ns), "{} ns", watch.margin_ns);
    }

    #[test]
    fn the_margin_has_bounds() {
        let mut watch = spinning();
        (0..10_000).for_each(|_| oversleep(&mut watch, 0));
        assert_eq!(watch.margin_ns, LEAST_MARGIN_NS);
        (0..10_000).for_each(|_| oversleep(&mut watch, 9 * MS));
        assert_eq!(watch.margin_ns, MOST_MARGIN_NS);
    }

    #[test]
    fn where_others_want_the_core_it_is_left_to_them() {
        let mut watch = spinning();
        let (now, due) = (Nanos(50 * MS), Some(Nanos(50 * MS + 1)));
        assert_eq!(watch.rest(now, Nanos(90 * MS), due, false), Rest::Look);
        watch.woke(Nanos(54 * MS));
        // Another thread had the core for four milliseconds. The worker sleeps for eighty, however soon a request is
        // due.
        let due = Some(Nanos(100 * MS));
        assert_eq!(watch.rest(Nanos(99 * MS + MS / 2), Nanos(100 * MS), due, true), Rest::Sleep(Nanos(100 * MS)));
        assert_eq!(watch.spun_ns(), LONGEST_LOOK_NS, "others' time is not counted as its own");
        let due = Some(Nanos(140 * MS));
        assert_eq!(watch.rest(Nanos(140 * MS), Nanos(140 * MS), due, false), Rest::Look);
    }

    #[test]
    fn what_came_while_the_worker_was_at_work_is_stamped_late_by_no_more_than_that() {
        let mut watch = spinning();
        oversleep(&mut watch, 30_000);
        let woke_at = watch.woke_at;
        let at = |us: u64| Nanos(woke_at.0 + us * 1_000);
        // Twelve microseconds of work and then a poll; then a sleep, asked soon after it began and later.
        watch.rest(at(12), at(12), Some(at(12)), false);
        assert_eq!(watch.stamped_late_ns(at(13)), 13_000);
        watch.rest(at(12), at(900), None, false);
        assert_eq!(watch.stamped_late_ns(at(13)), 13_000);
        assert_eq!(watch.stamped_late_ns(at(500)), 30_000);
    }
}
