//! What a server pushes for one request, on a WebSocket or as a stream of events: what is to be reported of it, and how
//! a message compares with those before it.

use tare_sys::clock::Nanos;
use tare_wire::ws::Stamped;

use crate::protocol::arrived::Arrived;
use crate::protocol::connection::Step;
use crate::protocol::conversation::Push;
use crate::recorder::missing_messages::MissingMessages;
use crate::recorder::pushed_message::PushedMessage;

/// A silence is long if it lasts for so many times what a stream took for each of its events.
const LONG_SILENCE: u64 = 10;

#[derive(Debug)]
pub(crate) struct Subscription {
    push: Push,
    /// What has come of a stream of events; nothing on a WebSocket.
    pub(super) arrived: Arrived,
    /// How many messages have come.
    pub(super) taken: u64,
    arrived_at: Option<Nanos>,
    /// The latest of all stamps.
    sent: Option<Nanos>,
    /// Messages that were due by their stamps, minus those that have arrived. Negative if some arrived before their time.
    behind: i64,
}

impl Subscription {
    pub(crate) fn new(push: Push) -> Self {
        Self { push, arrived: Arrived::default(), taken: 0, arrived_at: None, sent: None, behind: 0 }
    }

    /// The next event of a stream that was not reported, or its end.
    pub(super) fn next_report(&mut self) -> Option<Step> {
        if self.arrived.unreported > 0 {
            self.arrived.unreported -= 1;
            return Some(Step::Pushed(None));
        }
        if !self.arrived.is_over {
            return None;
        }
        let problem = self.arrived.problem.take().or_else(|| self.arrived.early_end(self.push.messages));
        Some(problem.map_or(Step::StreamEnded, Step::Broken))
    }

    pub(crate) fn count_message(&mut self, arrived_at: Nanos, stamp: Option<(Nanos, Stamped)>) -> PushedMessage {
        self.taken += 1;
        // Without a period nothing is late, and jitter is the whole time between two messages.
        let period_ns = Nanos::from(self.push.period).0;
        let since_last_ns = self.arrived_at.replace(arrived_at).map(|before| arrived_at.since(before));
        let sent = stamp.map(|(sent, _)| sent);
        let unit_ns = stamp.map_or(0, |(_, stamped)| stamped.unit_ns);
        let before = self.sent;
        self.sent = sent.max(before);
        let both = sent.zip(before);
        // With a short period, coarse stamps may be equal for different messages.
        let is_duplicate = both.is_some_and(|(sent, before)| sent == before) && period_ns >= 2 * unit_ns;
        if let (Some((sent, before)), false) = (both, is_duplicate) {
            self.behind += (sent.since(before) + period_ns / 2) as i64 / period_ns.max(1) as i64 - 1;
        }
        PushedMessage {
            request: None,
            answers: None,
            arrived_at,
            sent_at: sent,
            unit_ns,
            is_late: match sent {
                _ if period_ns == 0 => false,
                Some(sent) => arrived_at.since(sent) > period_ns,
                None => since_last_ns.is_some_and(|since| since > 2 * period_ns),
            },
            is_out_of_order: both.is_some_and(|(sent, before)| sent < before),
            is_duplicate,
            jitter_ns: since_last_ns.map(|since| since.abs_diff(period_ns)),
            is_last: self.push.messages.is_some_and(|messages| self.taken >= messages),
        }
    }

    /// The messages that the server has skipped, judged by the stamps. `since` is when the subscription was requested.
    pub(crate) fn skipped(&self, since: Nanos) -> MissingMessages {
        let Push { messages, period } = self.push;
        let since = self.sent.or(self.arrived_at).unwrap_or(since);
        let is_silence = messages.is_none() && !period.is_zero();
        let silence = is_silence.then_some((since, period));
        MissingMessages { messages: self.behind.max(0) as u64, silence }
    }

    /// How long a stream of events has been silent at `end`, if that is long; `since` is when it was requested.
    pub(crate) fn silence_ns(&self, since: Nanos, end: Nanos) -> Option<u64> {
        let last = self.arrived_at.filter(|_| self.push.period.is_zero())?;
        let (silence_ns, apart_ns) = (end.since(last), last.since(since) / self.taken.max(1));
        (silence_ns > LONG_SILENCE * apart_ns).then_some(silence_ns)
    }

    /// The missing messages when the subscription fails: the skipped ones and the rest.
    pub(crate) fn missing_at_break(&self, since: Nanos) -> MissingMessages {
        let skipped = self.skipped(since);
        let rest = self.push.messages.map_or(0, |messages| messages.saturating_sub(self.taken));
        MissingMessages { messages: skipped.messages + rest, ..skipped }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MS: u64 = 1_000_000;
    const PUSH: Push = Push { messages: Some(10), period: Duration::from_millis(100) };

    /// Feeds messages sent and received at these milliseconds.
    fn taken(push: Push, messages: &[(u64, u64)]) -> (Subscription, Vec<PushedMessage>) {
        let mut subscription = Subscription::new(push);
        let take = |(sent, arrived_at): &(u64, u64)| {
            let stamped = Stamped { unix_ns: sent * MS, unit_ns: MS };
            subscription.count_message(Nanos(arrived_at * MS), Some((Nanos(sent * MS), stamped)))
        };
        let pushed = messages.iter().map(take).collect();
        (subscription, pushed)
    }

    #[test]
    fn what_is_missing_late_twice_or_out_of_order_is_told_by_the_stamps() {
        // (times of sending and arrival, skipped, late, out of order, duplicates)
        for (messages, expected) in [
            (&[(0, 1), (100, 101), (200, 201)][..], (0, 0, 0, 0)),
            // Two were skipped.
            (&[(0, 1), (300, 301)], (2, 0, 0, 0)),
            // A server whose period drifts skips nothing.
            (&[(0, 1), (104, 105), (208, 209), (312, 313)], (0, 0, 0, 0)),
            // Nor does one that stalls and then catches up.
            (&[(0, 1), (300, 301), (301, 302), (302, 303), (400, 401)], (0, 0, 0, 0)),
            // It stalled between stamp and send.
            (&[(0, 1), (100, 401), (200, 401), (300, 401), (400, 401)], (0, 3, 0, 0)),
            (&[(0, 1), (200, 201), (100, 202), (300, 301)], (0, 1, 1, 0)),
            (&[(0, 1), (100, 101), (100, 102), (200, 201)], (0, 0, 0, 1)),
            (&[], (0, 0, 0, 0)),
        ] {
            let (subscription, pushed) = taken(PUSH, messages);
            let count = |what: fn(&PushedMessage) -> bool| pushed.iter().filter(|pushed| what(pushed)).count();
            let late = count(|pushed| pushed.is_late);
            let skipped = subscription.skipped(Nanos::ZERO).messages;
            let found = (skipped, late, count(|pushed| pushed.is_out_of_order), count(|p| p.is_duplicate));
            assert_eq!(found, expected, "{messages:?}");
        }
    }

    #[test]
    fn jitter_needs_no_stamps_and_what_breaks_off_is_owed_the_rest() {
        let mut subscription = Subscription::new(PUSH);
        let arrived_at = [0, 100, 90 + 100, 500];
        let pushed = arrived_at.map(|arrived_at| subscription.count_message(Nanos(arrived_at * MS), None));
        assert_eq!(pushed.map(|pushed| pushed.jitter_ns), [None, Some(0), Some(10 * MS), Some(210 * MS)]);
        assert_eq!(pushed.map(|pushed| pushed.is_late), [false, false, false, true]);
        assert_eq!(subscription.missing_at_break(Nanos::ZERO).count(Nanos::ZERO, Nanos::MAX), 6);
        let mut of_five = Subscription { push: Push { messages: Some(5), ..PUSH }, ..subscription };
        assert!(!pushed[3].is_last && of_five.count_message(Nanos(0), None).is_last);
    }

    #[test]
    fn where_as_many_are_wanted_as_come_what_the_silence_had_room_for_is_owed() {
        let endless = Push { messages: None, ..PUSH };
        let ms = |ms: u64| Nanos(ms * MS);
        // (messages as sent and received, the window, missing messages when the subscription breaks off or the window
        // ends)
        for (messages, (from, until), missing) in [
            (&[(0, 1), (100, 101)][..], (0, 200), 0),
            // The next may be late by half a period.
            (&[(0, 1), (100, 101)], (0, 249), 0),
            (&[(0, 1), (100, 101)], (0, 250), 1),
            (&[(0, 1), (100, 101)], (0, 1000), 8),
            // Two were skipped before.
            (&[(0, 1), (300, 301)], (0, 1000), 2 + 6),
            // Messages that are missing in the head do not count in the window.
            (&[(0, 1), (100, 101)], (500, 1000), 4),
            (&[], (0, 1000), 9),
        ] {
            let (subscription, _) = taken(endless, messages);
            for found in [subscription.missing_at_break(ms(0)), subscription.skipped(ms(0))] {
                assert_eq!(found.count(ms(from), ms(until)), missing, "{messages:?} until {until} ms");
            }
        }
    }
}
