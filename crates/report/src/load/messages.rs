//! Pushed messages, or events, of a load in words.

use tare_record::MessageTally;

use crate::text::messages;
use tare_analysis::format::{Unit, clocks, grouped, single};

/// `1,200 messages to 10 users, none missing, 3 late; 0 disconnected early`.
pub(super) fn counts(tally: &MessageTally, failed: u64, are_events: bool) -> String {
    let ended = if are_events { "failed" } else { "disconnected early" };
    format!("{}; {} {ended}", messages::counts(tally, are_events), grouped(failed))
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
