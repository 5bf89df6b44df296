//! A load that offered fewer requests than its plan implies. Nothing else may notice: what was never sent has no latency and
//! no error.

use std::ops::Range;

use tare_plan::load_plan::{Arrivals, LoadModel, LoadStage, LoadStop, Protocol};
use tare_record::{EndStatus, EventName, LoadRecord, StoredSlice};

use crate::format::{count, share};
use crate::summary::Reason;

/// A load may lack this share of its requests, for what happens at its start and its end.
const TOLERANCE: f64 = 0.1;
/// The same of a schedule, whose requests are known beforehand.
const TOLERANCE_OF_SCHEDULE: f64 = 0.01;
/// The same of random arrivals, in standard deviations of their number.
const DEVIATIONS: f64 = 5.0;
const NS_PER_S: f64 = 1e9;

/// `None` if failures or lost agents explain it, which are reasons of their own.
pub(crate) fn doubt_of_shortfall(record: &LoadRecord) -> Option<Reason> {
    let plan = &record.header.plan;
    let is_complete = matches!(record.end, Some((EndStatus::Complete, _)));
    let has_lost_agent = record.events.iter().any(|event| event.kind.name() == EventName::AgentLost);
    let has_failed = record.intervals.iter().any(|interval| interval.load.failed > 0);
    let is_pushed = matches!(plan.protocol, Protocol::Push { .. } | Protocol::Events { .. });
    if !is_complete || has_lost_agent || has_failed || is_pushed {
        return None;
    }
    let offered = record.intervals.iter().map(|slice| slice.load.offered).sum::<u64>();
    let (expected, tolerance, why) = expected(record, offered as f64)?;
    ((offered as f64) < expected - tolerance).then(|| {
        let (sent, wanted) = (count(offered, "request"), count(expected as u64, "request"));
        let part = share(offered as f64 / expected);
        Reason::new(
            format!("{sent} left, {part} of the {wanted} that {why}"),
            "Some users or connections did not send. This is an error of tare, unless the generator was stopped: please \
             report it with the command.",
        )
    })
}

/// How many requests a plan implies, how many fewer are no reason to doubt, and why, in words.
fn expected(record: &LoadRecord, offered: f64) -> Option<(f64, f64, String)> {
    let plan = &record.header.plan;
    let window_ns = record.intervals.iter().map(|slice| slice.load.window_ns).sum::<u64>() as f64;
    // A feed that is used up ends a load early.
    let lasted = |span_ns: f64| window_ns >= span_ns * (1.0 - TOLERANCE_OF_SCHEDULE);
    let span_ns = match plan.stop {
        LoadStop::Requests { count, at_most } => {
            let may_end_early = lasted(at_most.0.as_nanos() as f64) || !plan.feeds.is_empty();
            return (!may_end_early).then(|| (count as f64, 0.0, "were asked for".to_owned()));
        }
        LoadStop::Duration { span } => span.0.as_nanos() as f64,
    };
    if !lasted(span_ns) {
        return None;
    }
    let from_ns = plan.warmup.0.as_nanos() as f64;
    let in_window = |level: f64, stages: &[LoadStage]| integral(from_ns..from_ns + window_ns, level, stages);
    if let LoadModel::Open { per_s, stages, arrivals, .. } = &plan.model {
        let expected = in_window(*per_s, stages) / NS_PER_S;
        let chance = if *arrivals == Arrivals::Poisson { DEVIATIONS * expected.sqrt() } else { 0.0 };
        // Each generator and each agent begins with a part of a period.
        let edges = f64::from(plan.connections) + 1.0;
        return Some((expected, TOLERANCE_OF_SCHEDULE * expected + chance + edges, "the rate implies".to_owned()));
    }
    // Little's law: the users' time is what their requests and pauses take.
    let users = |level_ns: f64| level_ns * f64::from(plan.protocol.depth());
    let (users_ns, most_users) = match &plan.model {
        LoadModel::ClosedStages { stages } => {
            let most = stages.iter().map(|stage| stage.to).fold(0.0, f64::max);
            (users(in_window(0.0, stages)), users(most))
        }
        _ => (users(f64::from(plan.connections) * window_ns), users(f64::from(plan.connections))),
    };
    let think_ns = plan.think.map_or(0.0, |think| think.0.as_nanos() as f64);
    let round_ns = record.intervals.iter().map(busy_ns).sum::<f64>() / offered.max(1.0) + think_ns;
    if round_ns <= 0.0 {
        return None;
    }
    let expected = users_ns / round_ns;
    let tolerance = TOLERANCE * expected + most_users + DEVIATIONS * expected.sqrt();
    Some((expected, tolerance, format!("{} with these response times imply", count(most_users as u64, "user"))))
}

/// The sum of the response times, and of the times to a failure.
fn busy_ns(slice: &StoredSlice) -> f64 {
    let times = [slice.load.response.unpack(), slice.load.failed_time.unpack()];
    times.iter().map(|times| times.mean_ns().unwrap_or(0.0) * times.len() as f64).sum()
}

/// The integral over a window of a level that changes in straight lines and then stays, in level × nanoseconds.
fn integral(window_ns: Range<f64>, from: f64, stages: &[LoadStage]) -> f64 {
    let (mut begins_ns, mut level, mut sum) = (0.0, from, 0.0);
    let last = (stages.last().map_or(from, |stage| stage.to), f64::INFINITY);
    for (to, length_ns) in stages.iter().map(|stage| (stage.to, stage.over.0.as_nanos() as f64)).chain([last]) {
        let (first, end) = (window_ns.start.max(begins_ns), window_ns.end.min(begins_ns + length_ns));
        if end > first {
            let slope = (to - level) / length_ns;
            let middle = (first + end) / 2.0 - begins_ns;
            sum += (level + slope * middle) * (end - first);
        }
        begins_ns += length_ns;
        level = to;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_units::Span;

    #[test]
    fn a_level_is_summed_up_over_the_window_alone() {
        let over = |from: f64, stages: &[LoadStage]| integral(NS_PER_S..4.0 * NS_PER_S, from, stages) / NS_PER_S;
        assert_eq!(over(10.0, &[]), 30.0);
        let up_and_on =
            [LoadStage { to: 20.0, over: Span::from_secs(2) }, LoadStage { to: 0.0, over: Span::default() }];
        assert_eq!(over(0.0, &up_and_on), 15.0);
        let up = [LoadStage { to: 20.0, over: Span::from_secs(2) }];
        assert_eq!(over(0.0, &up), 15.0 + 40.0);
    }
}
