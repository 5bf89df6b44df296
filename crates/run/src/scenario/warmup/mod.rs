//! Warming up: rounds of short slices over all servers of a fork until each is steady, or for a fixed time. First on
//! all cores, until the compilers have next to nothing left to do; then on the cores of measuring, until the cost of a
//! request stays level beside that of the other servers: the machine's own speed changes by a factor of two.

mod windows;

use std::ops::RangeInclusive;
use std::time::Duration;

use tare_load::Sending;
use tare_plan::plan::{SliceKind, Warmup};
use tare_plan::turn::Turns;
use tare_record::Phase;
use tare_stats::steady::SteadyRule;
use tare_units::clock_text;

use self::windows::{WarmUpWindows, window};
use crate::context::cores::Cores;
use crate::error::RunError;
use crate::scenario::ScenarioRun;
use crate::scenario::alternating_round::drive_alternating;
use crate::schedule::random_orders::RandomOrders;
use crate::test_bed::slice::SliceLoad;

/// Length of a warm-up slice: short, so that all servers warm up side by side.
const SLICE: Duration = Duration::from_millis(250);
/// The same on the measuring cores. The rule needs a number of windows, and with turns short ones are as good.
const SLICE_OF_TURNS: Duration = Duration::from_millis(125);
/// The same for servers without compiler threads. They need less time, but as many slices.
const SLICE_WITHOUT_COMPILER: Duration = Duration::from_millis(100);

/// One of this many rounds is quiet for servers with compilers: under full load a worker never waits for work, a
/// compiler omits branches that were never taken, and the first pause in a measurement would discard the code.
const QUIET_EVERY: u32 = 3;
/// Length of a slice of a quiet round: long enough for hundreds of pauses.
const QUIET_SLICE: Duration = Duration::from_millis(100);
/// Its rate, as a share of what the slowest server answered in the last full round.
const QUIET_SHARE: f64 = 0.25;
/// Expected requests below which a quiet slice would show a server nothing.
const LEAST_QUIET_REQUESTS: f64 = 20.0;

/// The share of the cap that is kept for the measuring cores, even if the compilers are still busy.
const SHARE_ON_OWN_CORES: f64 = 0.3;
/// What a server needs there beyond the look-back of the rule: some rounds after the change of cores.
const AFTER_CHANGE_OF_CORES: Duration = Duration::from_secs(2);
/// A JVM copies an object in up to 15 collections before it moves it into its old generation, those of a connection too: with
/// 128 connections to Ember, each takes 14 ms until then, and 2 ms afterwards.
const COLLECTIONS: u64 = 16;
/// The longest that steady servers wait for so many. Those that seldom collect are measured with fewer.
const LONGEST_FOR_COLLECTIONS: Duration = Duration::from_secs(6);
/// The fewest users of a warm-up until steady, unless plan or generator forbid it: they still keep a server busy.
const FEWEST_USERS: u32 = 8;

pub(crate) struct WarmUp {
    cap: Duration,
    users: u32,
    /// The fewest and the most of them.
    allowed_users: RangeInclusive<u32>,
    /// What the slowest server answered in the last full round; 0 before.
    slowest_per_s: f64,
    /// How long the last full round took; 0 before.
    full_round: Duration,
    /// Whether it ends once all servers are steady; otherwise it lasts as long as `cap`.
    until_steady: bool,
    /// Whether the servers are still on more cores than they will be measured on.
    on_all_cores: bool,
    begin_ns: u64,
    /// How long it had lasted when all servers were first steady on the measuring cores.
    steady_after: Option<Duration>,
    /// The orders of the servers, for each turn or round: no server is always the first.
    orders: RandomOrders,
    windows: WarmUpWindows,
}

impl WarmUp {
    /// Warms up every healthy server, records how steady each was at the end, and moves all to their measuring cores.
    pub fn run(scenario: &mut ScenarioRun<'_, '_>) -> Result<(), RunError> {
        let mut warm_up = Self::begin(scenario);
        let mut round = 0;
        while warm_up.elapsed(scenario) < warm_up.cap
            && !scenario.context.bed.is_interrupted()
            && scenario.servers.healthy() > 0
        {
            warm_up.drive_round(scenario, round)?;
            let steady = warm_up.steady_count(scenario);
            warm_up.show(scenario, steady);
            round += 1;
            if warm_up.on_all_cores {
                warm_up.move_when_compilers_idle(scenario);
            } else if warm_up.until_steady && steady == warm_up.windows.servers && warm_up.has_collected(scenario) {
                break;
            }
        }
        warm_up.finish(scenario)
    }

    fn begin(scenario: &mut ScenarioRun<'_, '_>) -> Self {
        let plan = scenario.plan();
        let (least_users, most_users) = (scenario.context.bed.least_users(), scenario.users());
        let fewest_users = FEWEST_USERS.min(most_users).max(least_users);
        let is_first_scenario = !scenario.servers.are_warmed();
        let cap = plan.warmup.longest(is_first_scenario, scenario.servers.healthy() as u32);
        let (users, until_steady) = match plan.warmup {
            // Few at first: how fast the servers answer is not known yet.
            Warmup::UntilSteady { .. } => (fewest_users, true),
            // Each server warms up for the whole span, and they take turns.
            Warmup::Fixed { users, .. } => (users.min(most_users).max(least_users), false),
        };
        let Cores { warmup, server, .. } = &scenario.context.cores;
        let on_all_cores = until_steady && warmup != server;
        scenario.servers.move_to(&mut *scenario.context.bed, if on_all_cores { warmup } else { server });
        Self {
            cap,
            users,
            allowed_users: fewest_users..=most_users,
            slowest_per_s: 0.0,
            full_round: Duration::ZERO,
            until_steady,
            on_all_cores,
            begin_ns: scenario.context.bed.elapsed_ns(),
            steady_after: None,
            orders: scenario.random_orders("warm-up"),
            windows: WarmUpWindows::new(scenario.members(), is_first_scenario),
        }
    }

    fn elapsed(&self, scenario: &ScenarioRun<'_, '_>) -> Duration {
        Duration::from_nanos(scenario.context.bed.elapsed_ns() - self.begin_ns)
    }

    /// One slice of each healthy server, and what each server did in the time of all of them.
    fn drive_round(&mut self, scenario: &mut ScenarioRun<'_, '_>, round: u32) -> Result<(), RunError> {
        let load = self.load(scenario, round);
        let begin = self.elapsed(scenario);
        let is_full = load.kind == SliceKind::Saturating;
        let whole = Turns { length: load.length, discard: load.discard, count: 1 };
        let turns = self.turns(scenario, load.length).filter(|_| is_full).unwrap_or(whole);
        let orders: Vec<_> = (0..turns.count).map(|_| self.orders.shuffled(0..scenario.members())).collect();
        let kept = drive_alternating(scenario, &load, turns, &orders)?;
        if is_full && !kept.is_empty() {
            let slices = scenario.last_slices(kept.len());
            let slowest_per_s = slices.iter().map(|slice| slice.load.throughput_per_s()).fold(f64::INFINITY, f64::min);
            let shown = kept.into_iter().zip(slices);
            let windows =
                shown.filter_map(|(member, slice)| Some((member, window(slice, self.on_all_cores)?))).collect();
            self.windows.rounds.push(windows);
            // A quiet round does not show the cost at full load.
            self.slowest_per_s = slowest_per_s;
            if self.until_steady {
                self.users = users_for_quick_drain(load.length, slowest_per_s, &self.allowed_users);
            }
            self.full_round = self.elapsed(scenario) - begin;
        }
        let failed = (0..scenario.members()).filter(|member| !scenario.server_state(*member).is_healthy());
        failed.for_each(|member| self.windows.remove_server(member));
        Ok(())
    }

    /// The turns of a full round with slices of this length: a change of the machine's speed then meets all servers.
    /// `None` where each slice stays in one piece.
    fn turns(&self, scenario: &ScenarioRun<'_, '_>, length: Duration) -> Option<Turns> {
        let turn = scenario.plan().slices.turn;
        self.until_steady.then(|| turn.turns_of_slice(length, self.users, self.slowest_per_s))?
    }

    fn full_slice(&self, scenario: &ScenarioRun<'_, '_>) -> Duration {
        if !self.windows.compiles() {
            SLICE_WITHOUT_COMPILER
        } else if !self.on_all_cores && self.turns(scenario, SLICE_OF_TURNS).is_some() {
            SLICE_OF_TURNS
        } else {
            SLICE
        }
    }

    /// The load of a round: full, or quiet now and then for servers with compilers.
    fn load(&self, scenario: &ScenarioRun<'_, '_>, round: u32) -> SliceLoad {
        let may_be_quiet = self.until_steady && self.windows.compiles();
        let rate_per_s = if may_be_quiet { quiet_rate(round, self.slowest_per_s) } else { None };
        let (kind, length) = match rate_per_s {
            Some(_) => (SliceKind::Poisson, QUIET_SLICE),
            None => (SliceKind::Saturating, self.full_slice(scenario)),
        };
        SliceLoad {
            phase: Phase::Warmup,
            users: self.users,
            length,
            discard: Duration::ZERO,
            seed: u64::from(round),
            // The compilers may need the core on which the generator would wait.
            sending: Sending::Exact,
            ..scenario.load(kind, round, rate_per_s.unwrap_or(0.0))
        }
    }

    fn steady_count(&self, scenario: &ScenarioRun<'_, '_>) -> usize {
        let is_steady = |server: &usize| {
            !scenario.server_state(*server).is_healthy() || self.windows.unsteady_reason(*server).is_none()
        };
        (0..self.windows.servers).filter(is_steady).count()
    }

    /// Whether every steady server has had its [`COLLECTIONS`] since its number of users last changed, or enough time for them.
    fn has_collected(&mut self, scenario: &ScenarioRun<'_, '_>) -> bool {
        let elapsed = self.elapsed(scenario);
        let steady_after = *self.steady_after.get_or_insert(elapsed);
        let has_collected = |member: usize| {
            let slices = scenario.slices_of(member).take_while(|slice| slice.key.users == self.users);
            let known = slices.filter_map(|slice| slice.server.runtime.as_ref()?.collections);
            known.reduce(|a, b| a + b).is_none_or(|collections| collections >= COLLECTIONS)
        };
        elapsed - steady_after >= LONGEST_FOR_COLLECTIONS
            || (0..scenario.members())
                .all(|member| !scenario.server_state(member).is_healthy() || has_collected(member))
    }

    fn show(&self, scenario: &mut ScenarioRun<'_, '_>, steady: usize) {
        let (elapsed, cap) = (clock_text(self.elapsed(scenario)), clock_text(self.cap));
        let busy = |share: f64| format!("  compilers busy {:.0} %", share * 100.0);
        let jit = self.windows.compiler_share().map_or(String::new(), busy);
        let servers = self.windows.servers;
        let warm =
            if self.until_steady && servers > 1 { format!("  {steady} of {servers} steady") } else { String::new() };
        scenario.show(&format!("warming up {elapsed} of ≤ {cap}{jit}{warm}"));
    }

    /// Moves the servers to their measuring cores when their compilers are idle, or the rest of the cap is needed
    /// there. A JVM that has just lost a core settles for seconds: windows from before the move prove nothing.
    fn move_when_compilers_idle(&mut self, scenario: &mut ScenarioRun<'_, '_>) {
        let longest = longest_on_all_cores(self.cap, self.full_round, &self.windows.rule());
        if self.windows.are_compilers_idle() || self.elapsed(scenario) > longest {
            scenario.servers.move_to(&mut *scenario.context.bed, &scenario.context.cores.server);
            self.windows.rounds.clear();
            self.on_all_cores = false;
        }
    }

    fn finish(self, scenario: &mut ScenarioRun<'_, '_>) -> Result<(), RunError> {
        scenario.servers.move_to(&mut *scenario.context.bed, &scenario.context.cores.server);
        let span_ns = scenario.context.bed.elapsed_ns() - self.begin_ns;
        for member in 0..self.windows.servers {
            scenario.servers.members[member].is_warmed = true;
            let reason = if self.until_steady { self.windows.unsteady_reason(member) } else { None };
            scenario.record_warmup(member, span_ns, reason)?;
        }
        Ok(())
    }
}

/// The rate of a quiet round; `None` for a full one, and where too few requests would come.
fn quiet_rate(round: u32, slowest_per_s: f64) -> Option<f64> {
    let rate_per_s = slowest_per_s * QUIET_SHARE;
    let is_quiet = round % QUIET_EVERY == QUIET_EVERY - 1;
    let is_known = rate_per_s.is_finite() && rate_per_s * QUIET_SLICE.as_secs_f64() >= LEAST_QUIET_REQUESTS;
    (is_quiet && is_known).then_some(rate_per_s)
}

/// The number of users, a power of two or the maximum, with which a slice drains in about half its length. With slow answers it
/// is small: 128 uploads of 5 MiB take seconds together, and windows of that length are too few.
fn users_for_quick_drain(length: Duration, slowest_per_s: f64, users: &RangeInclusive<u32>) -> u32 {
    let (fewest, most) = (*users.start(), *users.end());
    let answered = (slowest_per_s * length.as_secs_f64() / 2.0).max(f64::from(fewest));
    if answered >= f64::from(most) { most } else { (1 << (answered as u32).ilog2()).max(fewest) }
}

/// How long servers may stay on all cores in a warm-up with this cap and full rounds of this length. The rest of the cap has
/// the rule's look-back and its fewest windows, and one round during the change of cores. A short cap is shared equally.
fn longest_on_all_cores(cap: Duration, full_round: Duration, rule: &SteadyRule) -> Duration {
    let look_back = Duration::from_secs_f64(rule.look_back_s) + AFTER_CHANGE_OF_CORES;
    let least_on_own_cores = look_back.max(full_round * (rule.min_windows as u32 + 1));
    cap - cap.mul_f64(SHARE_ON_OWN_CORES).max(least_on_own_cores).min(cap / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_third_round_is_quiet_where_the_rate_is_known_and_high_enough() {
        let quiet = |slowest_per_s: f64| (0..6).map(|round| quiet_rate(round, slowest_per_s)).collect::<Vec<_>>();
        assert_eq!(quiet(20_000.0), [None, None, Some(5_000.0), None, None, Some(5_000.0)]);
        assert_eq!(quiet(799.0), [None; 6], "fewer than 20 requests");
        assert_eq!((quiet(0.0), quiet(f64::INFINITY)), (vec![None; 6], vec![None; 6]), "no round yet, or no server");
    }

    #[test]
    fn slow_answers_are_asked_for_by_fewer_users() {
        let users = |per_s, most| users_for_quick_drain(SLICE, per_s, &(8.min(most)..=most));
        assert_eq!(users(15_000.0, 128), 128);
        assert_eq!(users(130.0, 128), 16, "of 130 uploads per second, 16 take an eighth of a second");
        assert_eq!((users(3.0, 128), users(0.0, 128)), (8, 8), "enough to keep a server busy");
        assert_eq!((users(3.0, 5), users(f64::INFINITY, 100)), (5, 100), "never more than the plan has");
        let of_12_workers = |per_s| users_for_quick_drain(SLICE, per_s, &(12..=128));
        assert_eq!((of_12_workers(3.0), of_12_workers(130.0)), (12, 16), "one for each worker");
    }

    #[test]
    fn a_short_cap_leaves_enough_time_to_show_a_level() {
        let on_all_cores = |cap_s, round_ms| {
            let (cap, full_round) = (Duration::from_secs(cap_s), Duration::from_millis(round_ms));
            longest_on_all_cores(cap, full_round, &SteadyRule::default()).as_secs_f64()
        };
        assert_eq!([40, 16, 8].map(|cap_s| on_all_cores(cap_s, 750)), [28.0, 9.0, 4.0]);
        assert_eq!(on_all_cores(24, 1_000), 15.0, "long rounds: nine of them");
        assert_eq!(on_all_cores(24, 5_000), 12.0, "never more than half of the cap");
    }
}
