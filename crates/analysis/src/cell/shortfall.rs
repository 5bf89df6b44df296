//! A load that offered fewer requests than its plan implies. Nothing else may notice: what was never sent has no latency and
//! no error.

use tare_plan::load_plan::{Arrivals, LoadModel, LoadPlan, LoadStage, LoadStop, Protocol};
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

struct Offered {
    requests: f64,
    window_ns: f64,
    /// The sum of the response times, and of the times to a failure.
    busy_ns: f64,
}

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
    let offered = Offered::of(record);
    let (expected, tolerance, why) = expected(plan, &offered)?;
    (offered.requests < expected - tolerance).then(|| {
        let (sent, wanted) = (count(offered.requests as u64, "request"), count(expected as u64, "request"));
        let part = share(offered.requests / expected);
        Reason::new(
            format!("{sent} left, {part} of the {wanted} that {why}"),
            "Some users or connections did not send. This is an error of tare, unless the generator was stopped: please \
             report it with the command.",
        )
    })
}

impl Offered {
    fn of(record: &LoadRecord) -> Self {
        let sum = |of: &dyn Fn(&StoredSlice) -> f64| record.intervals.iter().map(of).sum::<f64>();
        let total_ns = |slice: &StoredSlice| {
            let times = [slice.load.response.unpack(), slice.load.failed_time.unpack()];
            times.iter().map(|times| times.mean_ns().unwrap_or(0.0) * times.len() as f64).sum::<f64>()
        };
        Self {
            requests: sum(&|slice| slice.load.offered as f64),
            window_ns: sum(&|slice| slice.load.window_ns as f64),
            busy_ns: sum(&total_ns),
        }
    }
}

/// How many requests a plan implies, how many fewer are no reason to doubt, and why, in words.
fn expected(plan: &LoadPlan, offered: &Offered) -> Option<(f64, f64, String)> {
    // A feed that is used up ends a load early.
    let lasted = |span_ns: f64| offered.window_ns >= span_ns * (1.0 - TOLERANCE_OF_SCHEDULE);
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
    let window = Window { from_ns: plan.warmup.0.as_nanos() as f64, length_ns: offered.window_ns };
    if let LoadModel::Open { per_s, stages, arrivals, .. } = &plan.model {
        let expected = window.integral(*per_s, stages) / NS_PER_S;
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
            (users(window.integral(0.0, stages)), users(most))
        }
        _ => (users(f64::from(plan.connections) * window.length_ns), users(f64::from(plan.connections))),
    };
    let think_ns = plan.think.map_or(0.0, |think| think.0.as_nanos() as f64);
    let round_ns = offered.busy_ns / offered.requests.max(1.0) + think_ns;
    if round_ns <= 0.0 {
        return None;
    }
    let expected = users_ns / round_ns;
    let tolerance = TOLERANCE * expected + most_users + DEVIATIONS * expected.sqrt();
    Some((expected, tolerance, format!("{} with these response times imply", count(most_users as u64, "user"))))
}

struct Window {
    from_ns: f64,
    length_ns: f64,
}

impl Window {
    /// The integral over the window of a level that changes in straight lines and then stays, in level × nanoseconds.
    fn integral(&self, from: f64, stages: &[LoadStage]) -> f64 {
        let (mut begins_ns, mut level, mut sum) = (0.0, from, 0.0);
        let until_ns = self.from_ns + self.length_ns;
        let last = (stages.last().map_or(from, |stage| stage.to), f64::INFINITY);
        for (to, length_ns) in stages.iter().map(|stage| (stage.to, stage.over.0.as_nanos() as f64)).chain([last]) {
            let (first, end) = (self.from_ns.max(begins_ns), until_ns.min(begins_ns + length_ns));
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_units::Span;

    #[test]
    fn a_level_is_summed_up_over_the_window_alone() {
        let window = Window { from_ns: NS_PER_S, length_ns: 3.0 * NS_PER_S };
        assert_eq!(window.integral(10.0, &[]) / NS_PER_S, 30.0);
        let up_and_on =
            [LoadStage { to: 20.0, over: Span::from_secs(2) }, LoadStage { to: 0.0, over: Span::default() }];
        assert_eq!(window.integral(0.0, &up_and_on) / NS_PER_S, 15.0);
        let up = [LoadStage { to: 20.0, over: Span::from_secs(2) }];
        assert_eq!(window.integral(0.0, &up) / NS_PER_S, 15.0 + 40.0);
    }
}
