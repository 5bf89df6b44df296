//! Latency under open load: windows of seconds in which the servers alternate. A collection makes all requests late
//! that it meets, so the first fork shows how often each server collects, and fixes windows for all forks that meet
//! several. They do not end at a collection: such a window has met too many for its length.

use std::time::Duration;

use tare_plan::plan::{Forks, Plan, SliceKind};
use tare_record::checkpoint::LatencyWindows;
use tare_record::{EventKind, EventRecord, LatencyPlan, Phase, StoredSlice};

use crate::context::FixedLoad;
use crate::error::RunError;
use crate::scenario::ScenarioRun;
use crate::test_bed::slice::SliceLoad;

/// So many collections of each server are enough for a percentile that repeats. G1 stops http4s every 2.3 s at a quarter of
/// its load: with one collection or less in a start, its p99 differed by a factor of twenty between starts.
const COLLECTIONS: f64 = 5.0;
/// So many requests are enough for a server without collections: a hundred are slower than its p99, and its p99.9 can be stated.
const REQUESTS: f64 = 10_000.0;
/// The shortest time of all windows of a server, if the plan allows it.
const SHORTEST: Duration = Duration::from_secs(2);
/// About the length of a window. Shorter ones share a change of the machine better, but have more unscored heads.
const WINDOW: Duration = Duration::from_secs(3);
/// The fewest windows of a server: one in which the generator stood still can be left out.
const FEWEST_WINDOWS: u32 = 2;

/// A closed load as short as this sends one request of each user, and few more.
const KEEPING: Duration = Duration::from_millis(1);
/// A server that needs longer for a request of each user is left alone between its windows: 128 large uploads, say.
const LONGEST_KEEPING: Duration = Duration::from_millis(100);

/// Measures all windows of each healthy server at the rate of the plan, in random order in each round.
pub(crate) fn measure_latency(scenario: &mut ScenarioRun<'_, '_>, fixed: FixedLoad) -> Result<(), RunError> {
    // Rounds that Ctrl-C cut short do not show how often a server collects.
    if scenario.plan().slices.latency.is_zero() || scenario.context.bed.is_interrupted() {
        return Ok(());
    }
    let windows = match scenario.shared_load().and_then(|load| load.windows) {
        Some(windows) => windows,
        None => plan_windows(scenario, fixed)?,
    };
    if scenario.place.fork < first_fork(scenario.plan(), fixed.rounds, windows) {
        return Ok(());
    }
    let mut orders = scenario.random_orders("latency");
    let members = scenario.members();
    let of = windows.count * members as u32;
    let mut window = 0;
    for round in 0..windows.count {
        for member in orders.shuffled(0..members) {
            window += 1;
            if scenario.may_drive(member) {
                scenario.announce(member, SliceKind::Poisson, (window, of));
                keep_connections_of_others(scenario, member)?;
                let load = scenario.load(SliceKind::Poisson, round, fixed.rate_per_s);
                scenario.measure_whole_slice(member, &SliceLoad { length: windows.length(), ..load })?;
            }
        }
    }
    Ok(())
}

/// Sends a request on each connection of the servers that wait for their turn. Those that rested for 4 s would be opened anew,
/// because Node, uvicorn and Apache close them after 5 s. A JVM that gets 128 new ones compiles for a second, and its
/// collections take five times as long from then on.
fn keep_connections_of_others(scenario: &mut ScenarioRun<'_, '_>, measured: usize) -> Result<(), RunError> {
    for member in 0..scenario.members() {
        if member != measured && scenario.may_drive(member) && answers_all_within(scenario, member, LONGEST_KEEPING) {
            let load = scenario.load(SliceKind::Saturating, u32::MAX, 0.0);
            let kept = SliceLoad { phase: Phase::Warmup, length: KEEPING, discard: Duration::ZERO, ..load };
            scenario.drive_load(member, &kept)?;
        }
    }
    Ok(())
}

/// Whether a server has answered all its users within this time on average, in its last slice of closed load.
fn answers_all_within(scenario: &ScenarioRun<'_, '_>, member: usize, longest: Duration) -> bool {
    let last = scenario.slices_of(member).find(|slice| slice.key.kind == SliceKind::Saturating);
    last.is_some_and(|slice| f64::from(slice.key.users) <= slice.load.throughput_per_s() * longest.as_secs_f64())
}

/// The first fork with latency (1-based). Those before the one that may give a verdict leave it out, so that verdicts
/// come sooner, if it is long and enough forks follow. With a limit on latency or a fixed number, every fork has it.
fn first_fork(plan: &Plan, rounds: u32, windows: LatencyWindows) -> u32 {
    let Forks::UntilDecided { at_least, max_forks, .. } = plan.stop.forks else { return 1 };
    let is_asked_first = plan.stop.limits.iter().any(|limit| limit.currency.is_latency()) || rounds == 0;
    // The fork of the first verdict has latency, and so have those that follow.
    let are_enough = max_forks.is_none_or(|declared| declared + 1 >= 2 * at_least);
    let is_long = windows.length() * windows.count > plan.slices.length.0 * rounds;
    if is_long && are_enough && !is_asked_first { at_least } else { 1 }
}

/// Fixes the windows for all forks, and records why they are so long.
fn plan_windows(scenario: &mut ScenarioRun<'_, '_>, fixed: FixedLoad) -> Result<LatencyWindows, RunError> {
    let FixedLoad { rate_per_s, rounds, .. } = fixed;
    let slices = &scenario.plan().slices;
    let healthy = (0..scenario.members()).filter(|member| scenario.server_state(*member).is_healthy());
    let needs = healthy.map(|member| {
        let period_s = collection_period_s(scenario.slices_of(member), rate_per_s);
        (scenario.server_state(member).variant, period_s, needed_s(period_s, rate_per_s))
    });
    let longest = needs.max_by(|(.., a), (.., b)| a.total_cmp(b));
    let windows = windows_of(longest.map_or(0.0, |(.., needed_s)| needed_s), slices.latency.0, slices.discard.0);
    if let Some((variant, collects_every_s, needed_s)) = longest {
        let plan = LatencyPlan {
            first_fork: first_fork(scenario.plan(), rounds, windows),
            windows: windows.count,
            window_s: windows.length().as_secs_f64(),
            rate_per_s,
            collects_every_s,
            server: variant.name.clone(),
            needed_s,
        };
        let event = EventRecord::new(EventKind::LatencyPlanned(plan));
        scenario.context.fork_event(event, &scenario.place, None, Some(&scenario.named.name))?;
    }
    if let Some(load) = scenario.shared_load() {
        load.windows = Some(windows);
    }
    Ok(windows)
}

/// How long a server is to be measured that collects with this period, where one is known.
fn needed_s(period_s: Option<f64>, rate_per_s: f64) -> f64 {
    period_s.map_or(0.0, |period_s| period_s * COLLECTIONS).max(REQUESTS / rate_per_s)
}

/// The windows that are long enough for a server, as far as `longest` allows. The head of each is not scored.
fn windows_of(needed_s: f64, longest: Duration, head: Duration) -> LatencyWindows {
    let needed = Duration::try_from_secs_f64(needed_s).unwrap_or(longest).max(SHORTEST).min(longest);
    let count = ((needed.as_secs_f64() / WINDOW.as_secs_f64()).round() as u32).max(FEWEST_WINDOWS);
    let length = (needed + head * count).min(longest) / count;
    LatencyWindows { count, length_ns: length.as_nanos() as u64 }
}

/// The time from one collection of a server to the next at this rate, by its scored slices, and by its warm-up where these have
/// few; `None` where none is known.
fn collection_period_s<'s>(slices: impl Iterator<Item = &'s StoredSlice>, rate_per_s: f64) -> Option<f64> {
    let (mut collections, mut requests) = (0, 0);
    // The last ones come first: those of the warm-up are older than those that are scored.
    for slice in slices {
        if slice.key.phase == Phase::Warmup && collections as f64 >= COLLECTIONS {
            break;
        }
        let Some(runtime) = &slice.server.runtime else { continue };
        collections += runtime.collections.unwrap_or(0);
        requests += runtime.requests;
    }
    let per_s = collections as f64 / requests as f64 * rate_per_s;
    (requests > 0 && per_s > 0.0).then(|| 1.0 / per_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Duration = Duration::from_millis(100);

    /// Count and length in milliseconds of the windows at 5,000 requests per second.
    fn windows(periods_s: &[Option<f64>], longest_s: u64) -> (u32, u64) {
        let needed_s = periods_s.iter().map(|period_s| needed_s(*period_s, 5_000.0)).fold(0.0, f64::max);
        let windows = windows_of(needed_s, Duration::from_secs(longest_s), HEAD);
        (windows.count, windows.length_ns / 1_000_000)
    }

    #[test]
    fn windows_are_long_enough_for_five_collections_of_the_server_that_collects_least_often() {
        assert_eq!(windows(&[Some(2.4), None], 60), (4, 3_100), "12 s and four heads");
        assert_eq!(windows(&[Some(2.4), Some(1.2)], 60), (4, 3_100));
        assert_eq!(windows(&[Some(2.4)], 7), (2, 3_500), "the plan allows no more");
    }

    #[test]
    fn a_server_that_does_not_collect_gets_ten_thousand_requests() {
        assert_eq!(windows(&[None, None], 60), (2, 1_100), "2 s and two heads");
        assert_eq!(windows(&[Some(0.01)], 60), (2, 1_100), "five collections would be too few requests");
        assert_eq!(windows(&[], 60), (2, 1_100), "no server is left: nothing is driven");
        let of_slow = windows_of(needed_s(None, 10.0), Duration::from_secs(12), HEAD);
        assert_eq!((of_slow.count, of_slow.length_ns), (4, 3_000_000_000), "a thousand seconds are not allowed");
        let unasked = windows_of(needed_s(None, 0.0), Duration::from_secs(12), HEAD);
        assert_eq!(unasked, of_slow, "a rate of zero would take for ever");
    }
}
