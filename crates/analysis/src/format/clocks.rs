//! The clocks behind push latency, in words: one clock for both ends, or an estimate of the server's.

use tare_record::{ClockEstimate, MessageTally};

use crate::format::{Unit, count, single, to_within};

/// `clocks agree within 132 ns`, or what the server's clock was found to be.
pub fn in_words(tally: &MessageTally) -> String {
    let time = |ns: u64| single(Unit::Nanos, ns as f64);
    let within = time(tally.clock_within_ns);
    match tally.clock {
        None => format!("clocks agree within {within}"),
        Some(ClockEstimate { offset_ns: Some(offset_ns), messages, round_trip_ns, is_confirmed }) => {
            let offset = to_within(offset_ns.unsigned_abs(), tally.clock_within_ns);
            let way = if offset_ns < 0 { "behind" } else { "ahead" };
            let (messages, trip) = (count(messages, "message"), time(round_trip_ns.unwrap_or_default()));
            let again = if is_confirmed { "" } else { ", not again afterwards" };
            format!(
                "server's clock is {offset} {way}, within {within} (estimated from {messages} and a round trip of {trip}{again})"
            )
        }
        Some(ClockEstimate { offset_ns: None, .. }) => "server's clock is not known".to_owned(),
    }
}

/// Why there is no push latency although messages are stamped; `None` where there is.
pub fn unknown(tally: &MessageTally) -> Option<String> {
    let ClockEstimate { offset_ns: None, messages, round_trip_ns, .. } = tally.clock? else { return None };
    let why = match round_trip_ns {
        None if messages > 0 => "no ping was answered".to_owned(),
        _ => format!("only {} in time", count(messages, "stamped message")),
    };
    Some(format!("tare cannot estimate the server's clock ({why}), so it gives no push latency"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(clock: Option<ClockEstimate>) -> MessageTally {
        MessageTally { clock_within_ns: 13_600, clock, ..MessageTally::default() }
    }

    fn estimate(offset_ns: Option<i64>, messages: u64, round_trip_ns: Option<u64>) -> ClockEstimate {
        ClockEstimate { offset_ns, messages, round_trip_ns, is_confirmed: true }
    }

    #[test]
    fn clocks_are_told_with_as_many_digits_as_are_known() {
        let found = |offset_ns| estimate(Some(offset_ns), 40, Some(27_100));
        let rest = "within 13.6 µs (estimated from 40 messages and a round trip of 27.1 µs)";
        for (clock, says) in [
            (None, "clocks agree within 13.6 µs".to_owned()),
            (Some(found(3_000_123_456)), format!("server's clock is 3.00012 s ahead, {rest}")),
            (Some(found(-3_000_123_456)), format!("server's clock is 3.00012 s behind, {rest}")),
            (Some(found(1_234_567)), format!("server's clock is 1.23 ms ahead, {rest}")),
            (Some(found(-7)), format!("server's clock is 0 µs behind, {rest}")),
            (Some(estimate(None, 3, Some(5))), "server's clock is not known".to_owned()),
        ] {
            assert_eq!(in_words(&tally(clock)), says);
        }
        let alone = ClockEstimate { is_confirmed: false, ..found(0) };
        assert!(in_words(&tally(Some(alone))).ends_with("27.1 µs, not again afterwards)"));
    }

    #[test]
    fn a_clock_that_is_not_known_says_why() {
        for (clock, says) in [
            (None, None),
            (Some(estimate(Some(0), 20, Some(5))), None),
            (Some(estimate(None, 3, Some(5))), Some("(only 3 stamped messages in time)")),
            (Some(estimate(None, 0, None)), Some("(only 0 stamped messages in time)")),
            (Some(estimate(None, 20, None)), Some("(no ping was answered)")),
        ] {
            let said = unknown(&tally(clock));
            assert_eq!(said.is_some(), says.is_some(), "{said:?}");
            assert!(said.is_none_or(|said| said.contains(says.unwrap())));
        }
    }
}
