//! What a server pushed, over the scored slices of a cell.

use tare_plan::plan::SliceKind;
use tare_record::{ClockEstimate, MessageTally, SliceSample};

use crate::cell::latency::distribution;
use crate::evidence::Evidence;
use crate::format::{Unit, clocks, grouped, share, single};
use crate::summary::{Concern, Latency, MessageSummary, Reason};

/// Above this share of messages that arrive before their stamp, the clocks are wrong.
const AHEAD: f64 = 0.001;

/// None where the server pushes nothing.
pub(crate) fn messages(cell: &Evidence<'_>) -> Option<MessageSummary> {
    let (tally, jitter) = SliceSample::sum_pushed_messages(cell.measured().map(|slice| &slice.load))?;
    Some(MessageSummary::new(tally, cell.subject.sends_events, distribution(&jitter)))
}

pub(crate) fn doubts(cell: &Evidence<'_>, loads: &[Latency]) -> Vec<Reason> {
    let mut tally = MessageTally::default();
    cell.measured().filter_map(|slice| slice.load.pushed_messages()).for_each(|messages| tally.merge(messages));
    let due = tally.received + tally.missing;
    let missing = (tally.missing > 0).then(|| {
        let text = format!("{} of {} messages did not arrive", grouped(tally.missing), grouped(due));
        Reason::new(text, "Look in the server's log for why it drops messages or closes connections.")
    });
    let ahead = (tally.ahead as f64 > AHEAD * tally.received as f64).then(|| {
        let part = share(tally.ahead as f64 / tally.received as f64);
        let within = single(Unit::Nanos, tally.clock_within_ns as f64);
        let text = format!(
            "{part} of the messages arrived before the time in their stamp, although the clocks agree within {within}"
        );
        Reason::about(Concern::Latency, text, "Use the jitter: it does not depend on the server's clock.")
    });
    let unknown = clocks::unknown(&tally).map(|text| {
        Reason::about(
            Concern::Latency,
            text,
            "Make the server push more often and answer pings. If it runs on this machine, use --server-clock same.",
        )
    });
    let coarse = coarse_clock(&tally, loads).map(|(text, remedy)| Reason::about(Concern::Latency, text, remedy));
    missing.into_iter().chain(ahead).chain(unknown).chain(coarse).collect()
}

/// Why push latency is suspect, and what helps: the median is below the error of the clocks.
fn coarse_clock(tally: &MessageTally, loads: &[Latency]) -> Option<(String, &'static str)> {
    let within_ns = tally.clock_within_ns;
    // `tare load` has one kind of slices, which is not named after pushes.
    let pushed = loads.iter().find(|load| load.slice_kind == SliceKind::Push).or(loads.first())?;
    let median_ns = pushed.response.percentile_ns(50.0)?;
    if median_ns >= within_ns {
        return None;
    }
    let time = |ns: u64| single(Unit::Nanos, ns as f64);
    let (within, median) = (time(within_ns), time(median_ns));
    match tally.clock {
        Some(ClockEstimate { offset_ns: Some(_), .. }) => Some((
            format!("the server's clock is known within {within} only, and the median push latency is {median}"),
            "Use the tail percentiles only, or run server and generator on one host.",
        )),
        // Both ends have this clock, so little but a jump makes it inexact.
        None => Some((
            format!(
                "the wall clock may have jumped by up to {within} while messages were pushed, and the median push latency is {median}"
            ),
            "Measure again while nothing sets the clock (date, NTP); the jitter does not depend on it.",
        )),
        Some(_) => None,
    }
}
