//! Metrics of pushed messages, beyond their latency, which is the cell's.

use tare_record::MessageTally;

use super::{CellRow, Metric, cell, maybe};

const STAMPS: &str = "stamps in the messages";
const ARRIVALS: &str = "arrivals alone";

pub(super) const METRICS: &[Metric] = &[
    cell("messages_received", "count", "pushed messages that came", "generator", |r| count(r, |m| m.received)),
    cell("messages_missing", "count", "pushed messages that did not come", STAMPS, |r| count(r, |m| m.missing)),
    cell("messages_late", "count", "messages that came when the next was due", STAMPS, |r| count(r, |m| m.late)),
    cell("messages_out_of_order", "count", "messages that a later one overtook", STAMPS, |r| {
        count(r, |m| m.out_of_order)
    }),
    cell("messages_duplicated", "count", "messages with the stamp of the one before", STAMPS, |r| {
        count(r, |m| m.duplicated)
    }),
    cell("messages_ahead", "count", "messages that came before they were sent: the clocks disagree", STAMPS, |r| {
        count(r, |m| m.ahead)
    }),
    cell("pings", "count", "pings that were answered; no messages", "generator", |r| count(r, |m| m.pings)),
    cell("subscriptions", "count", "users who read to the end", "generator", |r| count(r, |m| m.subscriptions)),
    cell("stamp_unit_ns", "ns", "how coarse the server's stamps are, and so its push latency", STAMPS, |r| {
        count(r, |m| m.stamp_unit_ns)
    }),
    cell(
        "clock_within_ns",
        "ns",
        "by how much the two clocks may differ from what was reckoned with",
        "both clocks",
        |r| count(r, |m| m.clock_within_ns),
    ),
    cell("clock_offset_ns", "ns", "how far the server's clock was ahead, where it is estimated", STAMPS, |r| {
        maybe(r.cell.messages.as_ref().and_then(|messages| messages.tally.clock?.offset_ns))
    }),
    cell("jitter_p50_ns", "ns", "median of how far the time between two messages was from the period", ARRIVALS, |r| {
        jitter(r, 50.0)
    }),
    cell("jitter_p99_ns", "ns", "99th percentile of the same", ARRIVALS, |r| jitter(r, 99.0)),
    cell("jitter_p99_99_ns", "ns", "99.99th percentile of the same", ARRIVALS, |r| jitter(r, 99.99)),
];

fn count(row: &CellRow<'_>, of: fn(&MessageTally) -> u64) -> String {
    maybe(row.cell.messages.as_ref().map(|messages| of(&messages.tally)))
}

fn jitter(row: &CellRow<'_>, percentile: f64) -> String {
    let stated =
        row.cell.messages.as_ref().and_then(|m| m.jitter.percentiles.iter().find(|p| p.percentile == percentile));
    maybe(stated.map(|p| p.value_ns))
}
