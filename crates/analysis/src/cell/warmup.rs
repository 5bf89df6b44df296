//! A load that had ended before its warm-up was over.

use tare_record::{EndStatus, LoadRecord};

use crate::summary::Reason;

/// Why a load that came to its end has no scored time; `None` where it has some, or was stopped before its end.
pub(crate) fn doubt_of_warmup(record: &LoadRecord) -> Option<Reason> {
    let warmup = record.header.plan.warmup;
    let is_complete = matches!(record.end, Some((EndStatus::Complete, _)));
    let is_scored = record.intervals.iter().any(|interval| interval.load.window_ns > 0);
    (is_complete && !is_scored && !warmup.0.is_zero()).then(|| {
        Reason::new(
            format!("the load had ended before its warm-up of {warmup} was over"),
            "Give it a shorter --warmup, more --messages, or a --feed with more rows.",
        )
    })
}
