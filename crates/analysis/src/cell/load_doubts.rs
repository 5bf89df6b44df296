//! Reasons to doubt a load, besides those of any cell.

use std::ops::Range;

use tare_plan::load_plan::{Arrivals, LoadModel, LoadStage, LoadStop, Protocol};
use tare_record::{AgentRecord, EndStatus, EventKind, EventName, EventRecord, LoadRecord, StoredSlice};

use crate::format::{count, grouped, rfc3339, share};
use crate::summary::{Concern, Reason};

/// Above this share of its cores an agent distorts an open load, or limits a closed one.
const BUSY_OPEN: f64 = 0.6;
const BUSY_CLOSED: f64 = 0.9;
/// Above this share of requests that left more than 1 ms late, an open load was not what it claims.
const LATE: f64 = 0.01;

/// Above this share of requests without an answer when a load is stopped, its p99 may be one of them.
const CUT_OFF: f64 = 0.01;
/// Above this share of answers after the window, a closed loop's throughput is wrong.
const LATE_ANSWERS: f64 = 0.1;

/// A load may lack this share of its requests, for what happens at its start and its end.
const TOLERANCE: f64 = 0.1;
/// The same of a schedule, whose requests are known beforehand.
const TOLERANCE_OF_SCHEDULE: f64 = 0.01;
/// The same of random arrivals, in standard deviations of their number.
const DEVIATIONS: f64 = 5.0;
const NS_PER_S: f64 = 1e9;

pub(super) fn doubts_of_load(record: &LoadRecord) -> impl Iterator<Item = Reason> {
    let lost = record.events.iter().filter(|event| event.kind.name() == EventName::AgentLost);
    let lost = lost.map(|event| Reason::new(event.text.clone(), event.remedy.as_deref().unwrap_or_default()));
    let is_open = matches!(record.header.plan.model, LoadModel::Open { .. });
    let agents = record.agents.iter().flat_map(move |agent| [busy(agent, is_open), late(agent, is_open)]).flatten();
    let of_whole = [of_part, of_warmup, of_shortfall, of_cut_off, of_late_answers];
    lost.chain(agents).chain(of_whole.into_iter().filter_map(|doubt| doubt(record)))
}

fn busy(agent: &AgentRecord, is_open: bool) -> Option<Reason> {
    let limit = if is_open { BUSY_OPEN } else { BUSY_CLOSED };
    let used = agent.cpu_share().filter(|used| *used > limit)?;
    let text = format!("agent {} used {} of its cores, above {}", agent.name, share(used), share(limit));
    Some(Reason::new(text, "Give it more cores (--load-cpus), or use more agents."))
}

fn late(agent: &AgentRecord, is_open: bool) -> Option<Reason> {
    let part = agent.late as f64 / agent.offered.max(1) as f64;
    (is_open && part > LATE).then(|| {
        let text = format!("agent {} sent {} of its requests more than 1 ms late", agent.name, share(part.min(1.0)));
        Reason::new(text, "Give it its own cores (--load-cpus), or use more agents.")
    })
}

/// What a record without an end holds: `it holds 0.0 s to 12.3 s, which is 2026-11-20T20:09:45Z to 2026-11-20T20:09:57Z`.
pub(crate) fn recorded_part(started_unix_ns: u64, slices: &[StoredSlice]) -> String {
    let from = slices.iter().map(|slice| slice.load.window_start_ns()).min();
    let until = slices.iter().map(|slice| slice.load.window_end_ns()).max();
    let (Some(from), Some(until)) = (from, until) else { return "it holds no measurement".to_owned() };
    let seconds = |ns: u64| format!("{:.1} s", ns as f64 / 1e9);
    let by_clock = |ns: u64| rfc3339(started_unix_ns.saturating_add(ns));
    format!("it holds {} to {}, which is {} to {}", seconds(from), seconds(until), by_clock(from), by_clock(until))
}

/// Requests without an answer when the load was stopped: they waited longer than most, and no percentile has them.
pub(crate) fn of_cut_off(record: &LoadRecord) -> Option<Reason> {
    let of_event = |event: &EventRecord| match event.kind {
        EventKind::RequestsCutOff { requests } => Some(requests),
        _ => None,
    };
    let cut_off = record.events.iter().find_map(of_event)?;
    let ended = record.intervals.iter().map(|slice| slice.load.answered() + slice.load.failed).sum::<u64>();
    let part = cut_off as f64 / (cut_off + ended).max(1) as f64;
    (part > CUT_OFF).then(|| {
        let text = format!(
            "{} of the requests ({}) had no answer when the load was stopped: no figure has them, and they may be the slowest",
            share(part),
            grouped(cut_off)
        );
        Reason::new(text, "Let the load come to its end, or lower --timeout: then they count as failed.")
    })
}

/// Users whose answers take so long that many come after the window: its throughput lacks them.
fn of_late_answers(record: &LoadRecord) -> Option<Reason> {
    let is_closed = matches!(record.header.plan.model, LoadModel::Closed | LoadModel::ClosedStages { .. });
    let sum = |of: fn(&StoredSlice) -> u64| record.intervals.iter().map(of).sum::<u64>();
    let (ok, within) = (sum(|slice| slice.load.ok), sum(|slice| slice.load.completed));
    (is_closed && (within as f64) < ok as f64 * (1.0 - LATE_ANSWERS)).then(|| {
        let text = format!("only {} of {} answers came within the window", grouped(within), grouped(ok));
        Reason::about(Concern::Throughput, format!("{text}: the throughput is too low"), "Load for longer (-d).")
    })
}

fn of_part(record: &LoadRecord) -> Option<Reason> {
    record.end.is_none().then(|| {
        let part = recorded_part(record.header.started_unix_ns, &record.intervals);
        Reason::new(
            format!("the record was cut short: {part}"),
            "If tare still writes it, wait for its end. Otherwise measure again, or use this part alone.",
        )
    })
}

/// Why a load that came to its end has no scored time; `None` where it has some, or was stopped before its end.
fn of_warmup(record: &LoadRecord) -> Option<Reason> {
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

/// A load that offered fewer requests than its plan implies. Nothing else may notice: what was never sent has no
/// latency and no error. `None` if failures or lost agents explain it, which are reasons of their own.
fn of_shortfall(record: &LoadRecord) -> Option<Reason> {
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
