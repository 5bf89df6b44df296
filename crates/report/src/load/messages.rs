//! What a load has shown of pushed messages beyond what all answers have: as types, and in words.

use serde::{Deserialize, Serialize};
use tare_record::LoadRecord;
use tare_record::sample::{MessageTally, SliceSample};

use super::summarize::latency;
use super::summary::LatencySummary;
use crate::clocks;
use crate::format::{Unit, count, grouped, single};

/// Pushed messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageSummary {
    /// Their counts.
    #[serde(flatten)]
    pub tally: MessageTally,
    /// By how much the time between two messages of a user differed from the period, either way.
    pub jitter: LatencySummary,
}

/// Those of a load; `None` where nothing is pushed.
pub(super) fn messages(record: &LoadRecord) -> Option<MessageSummary> {
    let (tally, jitter) = SliceSample::sum_pushed_messages(record.intervals.iter().map(|slice| &slice.load))?;
    Some(MessageSummary { tally, jitter: latency(&jitter) })
}

impl MessageSummary {
    /// What became of them, and of their readers.
    pub(super) fn in_words(&self, failed: u64) -> String {
        let tally = &self.tally;
        let each = [
            (tally.missing, "missing"),
            (tally.late, "late"),
            (tally.out_of_order, "out of order"),
            (tally.duplicated, "twice"),
            (tally.ahead, "ahead of their stamps"),
        ];
        let some = each.iter().filter(|(messages, what)| *messages > 0 || *what == "missing");
        let some = some.map(|(messages, what)| format!("{} {what}", grouped(*messages))).collect::<Vec<_>>();
        let readers = count(tally.subscriptions, "user");
        let (received, some, failed) = (grouped(tally.received), some.join(", "), grouped(failed));
        format!("{received} came, {some}; {readers} read to the end, {failed} broke off")
    }

    /// How far stamps may be trusted; `None` without any.
    pub(super) fn stamps(&self) -> Option<String> {
        let (unit_ns, clocks) = (self.tally.stamp_unit_ns, clocks::in_words(&self.tally));
        match (unit_ns, self.tally.clock) {
            (0, None) => None,
            (0, Some(_)) => Some(format!("mean nothing: the {clocks}")),
            _ => Some(format!("to {}; the {clocks}", single(Unit::Nanos, unit_ns as f64))),
        }
    }
}
