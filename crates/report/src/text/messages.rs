//! Figures of pushed messages, or of events, below the table of their scenario: a paragraph for each variant.

use tare_plan::plan::SliceKind;
use tare_record::MessageTally;

use tare_analysis::format::{Unit, clocks, count, enumerate, grouped, single};
use tare_analysis::summary::{Cell, Distribution};

const SHOWN_PERCENTILES: [f64; 4] = [50.0, 99.9, 99.99, 99.999];

pub(super) fn paragraph(cell: &Cell) -> Option<String> {
    let messages = cell.messages.as_ref()?;
    let pushed = cell.latency_under(SliceKind::Push);
    let are_events = messages.gap.is_some();
    let latency = if are_events { "first event" } else { "push latency" };
    let (name, between) = messages.between();
    let mut parts = vec![format!("{}: {}", cell.variant, counts(&messages.tally, cell.requests_failed, are_events))];
    parts.extend(pushed.map(|l| format!("{latency} {}", figures(&l.response))));
    parts.push(format!("{name} {}", figures(between)));
    parts.extend((!are_events).then(|| clocks(&messages.tally)));
    Some(parts.join(" · "))
}

/// `1,500,000 messages to 2,500 users, none missing, 12 late`, or `2,000 events of 100 streams, none missing`; also of the
/// `failed` users and streams.
pub(crate) fn counts(tally: &MessageTally, failed: u64, are_events: bool) -> String {
    let MessageTally { received, missing, late, out_of_order, duplicated, ahead, subscriptions, .. } = *tally;
    let received_text = match are_events {
        true => format!("{} of {}", count(received, "event"), count(subscriptions + failed, "stream")),
        false => format!("{} to {}", count(received, "message"), count(subscriptions + failed, "user")),
    };
    let odd = [(late, "late"), (out_of_order, "out of order"), (duplicated, "twice"), (ahead, "ahead of their stamps")];
    let odd = odd.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", grouped(n)));
    let lost = if missing == 0 { "none missing".to_owned() } else { format!("{} missing", grouped(missing)) };
    [received_text, lost].into_iter().chain(odd).collect::<Vec<_>>().join(", ")
}

fn figures(distribution: &Distribution) -> String {
    let stated = distribution.percentiles.iter().filter(|p| SHOWN_PERCENTILES.contains(&p.percentile));
    let stated = stated.map(|p| format!("p{} {}", p.percentile, single(Unit::Nanos, p.value_ns as f64)));
    let largest = distribution.max_ns.map(|ns| format!("max {}", single(Unit::Nanos, ns as f64)));
    stated.chain(largest).collect::<Vec<_>>().join(", ")
}

fn clocks(tally: &MessageTally) -> String {
    let mut doubts = vec![clocks::in_words(tally)];
    if tally.stamp_unit_ns > 1 {
        doubts.push(format!("stamps are to {}", single(Unit::Nanos, tally.stamp_unit_ns as f64)));
    }
    enumerate(&doubts)
}
