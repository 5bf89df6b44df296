//! Figures of pushed messages below the table of their scenario: a paragraph for each variant.

use tare_plan::plan::SliceKind;
use tare_record::MessageTally;

use crate::clean;
use tare_analysis::format::clocks;
use tare_analysis::format::{Unit, count, enumerate, grouped, single};
use tare_analysis::summary::{Cell, Distribution};

/// Percentiles that are shown if there are enough samples.
const SHOWN_PERCENTILES: [f64; 4] = [50.0, 99.9, 99.99, 99.999];

/// One paragraph for a cell whose server pushes.
pub(super) fn paragraph(cell: &Cell) -> Option<String> {
    let messages = cell.messages.as_ref()?;
    let pushed = cell.latency.iter().find(|l| l.slice_kind == SliceKind::Push);
    let mut parts = vec![format!("{}: {}", clean::sanitize_line(&cell.variant), counts(&messages.tally))];
    parts.extend(pushed.map(|l| format!("push latency {}", figures(&l.response))));
    parts.push(format!("jitter {}", figures(&messages.jitter)));
    parts.push(clocks(&messages.tally));
    Some(parts.join(" · "))
}

/// `1,500,000 messages to 2,500 users, none missing, 12 late`.
fn counts(tally: &MessageTally) -> String {
    let MessageTally { received, missing, late, out_of_order, duplicated, subscriptions, .. } = *tally;
    let received_text = format!("{} to {}", count(received, "message"), count(subscriptions, "user"));
    let odd = [(late, "late"), (out_of_order, "out of order"), (duplicated, "twice")];
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

/// The clocks behind the push latency.
fn clocks(tally: &MessageTally) -> String {
    let mut doubts = vec![clocks::in_words(tally)];
    if tally.stamp_unit_ns > 1 {
        doubts.push(format!("stamps are to {}", single(Unit::Nanos, tally.stamp_unit_ns as f64)));
    }
    enumerate(&doubts)
}
