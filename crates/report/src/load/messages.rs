//! Pushed messages, or events, of a load in words.

use tare_record::MessageTally;

use tare_analysis::format::clocks;
use tare_analysis::format::{Unit, count, grouped, single};

/// `1,200 received, 0 missing, 3 late; 10 users read to the end, 0 disconnected early`. Of events, streams are read.
pub(super) fn counts(tally: &MessageTally, failed: u64, are_events: bool) -> String {
    let odd = [
        (tally.late, "late"),
        (tally.out_of_order, "out of order"),
        (tally.duplicated, "duplicated"),
        (tally.ahead, "ahead of their stamps"),
    ];
    let odd = odd.into_iter().filter(|(messages, _)| *messages > 0);
    let odd: String = odd.map(|(messages, what)| format!(", {} {what}", grouped(messages))).collect();
    let readers = count(tally.subscriptions, if are_events { "stream" } else { "user" });
    let (received, missing, failed) = (grouped(tally.received), grouped(tally.missing), grouped(failed));
    let ended = if are_events { "failed" } else { "disconnected early" };
    format!("{received} received, {missing} missing{odd}; {readers} read to the end, {failed} {ended}")
}

/// How far the stamps in messages may be trusted; `None` where no message has a stamp.
pub(super) fn stamps(tally: &MessageTally) -> Option<String> {
    let (unit_ns, clocks) = (tally.stamp_unit_ns, clocks::in_words(tally));
    match (unit_ns, tally.clock) {
        (0, None) => None,
        (0, Some(_)) => Some(format!("give no latency: the {clocks}")),
        _ => Some(format!("to {}; the {clocks}", single(Unit::Nanos, unit_ns as f64))),
    }
}
