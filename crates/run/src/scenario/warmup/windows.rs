//! The windows of the servers of a fork while they warm up, and what follows from them: are the compilers idle, is a server steady?

use tare_record::{ServerCpu, StoredSlice};
use tare_stats::steady::{SteadyRule, Unsteady, Window, why_unsteady};

/// How far back the cost of servers without compiler threads must be level. Some, as Node, compile unseen.
const LOOK_BACK_WITHOUT_COMPILER_S: f64 = 2.0;

/// The same for a later scenario, and in how many windows: the code that all share is level since the first one.
const LOOK_BACK_OF_LATER_SCENARIO_S: f64 = 3.0;
const FEWEST_WINDOWS_OF_LATER_SCENARIO: usize = 6;

/// The compilers' share of the time, waiting included, below which they count as idle. With a share of 15 % nothing waits for a
/// compiler for 85 % of the time. The last compilations come one by one for seconds and need no second core.
const IDLE_COMPILER_SHARE: f64 = 0.15;
/// Full rounds over which that share is averaged. What compiles later must still end before a server is steady.
const IDLE_ROUNDS: usize = 3;

/// The window of each server in one full round, with its index. A server that was not driven or answered nothing has none.
type Round = Vec<(usize, Window)>;

/// The windows of each server in the full rounds on its present cores.
pub(super) struct WarmUpWindows {
    pub servers: usize,
    is_first_scenario: bool,
    pub rounds: Vec<Round>,
}

impl WarmUpWindows {
    /// No windows yet, of this number of servers, in the first or a later scenario of their start.
    pub const fn new(servers: usize, is_first_scenario: bool) -> Self {
        Self { servers, is_first_scenario, rounds: Vec::new() }
    }

    /// Removes a server that gets no more load: it would compile for ever, and shift the relative cost of the others.
    pub fn remove_server(&mut self, server: usize) {
        self.rounds.iter_mut().for_each(|round| round.retain(|(shown, _)| *shown != server));
    }

    pub fn compiles(&self) -> bool {
        let all = || self.rounds.iter().flatten();
        all().any(|(_, window)| window.compiler_share.is_some()) || all().next().is_none()
    }

    /// The largest share of the time that the compilers of a server needed in its last window, where there are any.
    pub fn compiler_share(&self) -> Option<f64> {
        (0..self.servers).filter_map(|server| self.windows_of(server).next_back()?.compiler_share).reduce(f64::max)
    }

    /// Whether the compilers of all servers have been idle for some rounds. Servers that get no load do not count.
    pub fn are_compilers_idle(&self) -> bool {
        let is_idle = |server: usize| {
            let last: Vec<&Window> = self.windows_of(server).rev().take(IDLE_ROUNDS).collect();
            let share: f64 = last.iter().filter_map(|window| window.compiler_share).sum();
            last.is_empty() || last.len() == IDLE_ROUNDS && share / (IDLE_ROUNDS as f64) < IDLE_COMPILER_SHARE
        };
        (0..self.servers).all(is_idle)
    }

    pub fn unsteady_reason(&self, server: usize) -> Option<String> {
        let relative_window = |round: &Round| {
            let windows = relative_to_mean(round.clone());
            windows.into_iter().find(|(shown, _)| *shown == server).map(|(_, window)| window)
        };
        let windows: Vec<Window> = self.rounds.iter().filter_map(relative_window).collect();
        match why_unsteady(&windows, &self.rule()) {
            Ok(reason) => reason.map(in_words),
            Err(error) => Some(error.to_string()),
        }
    }

    fn windows_of(&self, server: usize) -> impl DoubleEndedIterator<Item = &Window> {
        self.rounds.iter().flatten().filter(move |(shown, _)| *shown == server).map(|(_, window)| window)
    }

    pub fn rule(&self) -> SteadyRule {
        if !self.compiles() {
            SteadyRule { look_back_s: LOOK_BACK_WITHOUT_COMPILER_S, ..SteadyRule::default() }
        } else if self.is_first_scenario {
            SteadyRule::default()
        } else {
            SteadyRule { look_back_s: LOOK_BACK_OF_LATER_SCENARIO_S, min_windows: FEWEST_WINDOWS_OF_LATER_SCENARIO }
        }
    }
}

/// The window of one slice. Its cost is the CPU per request if that is known, and otherwise the inverse of the throughput.
pub(super) fn window(slice: &StoredSlice, on_all_cores: bool) -> Option<Window> {
    let time_s = (slice.load.window_start_ns() + slice.load.window_ns / 2) as f64 / 1e9;
    // Beside a saturated server a compilation of 1 ms waits for 10, and a backlog still gets its share of the core.
    let share = if on_all_cores { ServerCpu::compiler_share } else { ServerCpu::compiler_cpu_share };
    let compiler_share = slice.server.cpu.as_ref().and_then(share);
    let cost = slice.server.cpu.as_ref().map(|cpu| cpu.serving_ns() as f64 / cpu.requests as f64);
    let log_cost = match cost {
        Some(cost) => positive_ln(cost)?,
        None => -positive_ln(slice.load.throughput_per_s())?,
    };
    Some(Window { time_s, log_cost, compiler_share })
}

/// The windows of a round, each cost relative to the mean of all: the machine's speed cancels. One alone keeps its own.
fn relative_to_mean(mut windows: Round) -> Round {
    if windows.len() > 1 {
        let mean = windows.iter().map(|(_, window)| window.log_cost).sum::<f64>() / windows.len() as f64;
        windows.iter_mut().for_each(|(_, window)| window.log_cost -= mean);
    }
    windows
}

fn positive_ln(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then(|| value.ln())
}

fn in_words(reason: Unsteady) -> String {
    match reason {
        Unsteady::TooShort => "too short to tell".to_owned(),
        Unsteady::CompilersBusy { share } => {
            format!("its JIT compilers still work {:.0} % of the time", share * 100.0)
        }
        Unsteady::Drifting { drift_per_span, .. } => {
            format!("CPU per request still drifts by {:+.1} % in 3 s", drift_per_span * 100.0)
        }
        Unsteady::Shifted { log_shift, .. } => {
            format!("CPU per request has just shifted by {:+.1} %", log_shift.exp_m1() * 100.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(log_cost: f64) -> Window {
        Window { time_s: 1.0, log_cost, compiler_share: Some(0.0) }
    }

    /// What each of some servers showed, round by round.
    fn shown(servers: &[Vec<Window>]) -> WarmUpWindows {
        let mut windows = WarmUpWindows::new(servers.len(), true);
        for round in 0..servers.iter().map(Vec::len).max().unwrap_or(0) {
            let of_round = servers.iter().enumerate().filter_map(|(server, own)| Some((server, *own.get(round)?)));
            windows.rounds.push(of_round.collect());
        }
        windows
    }

    #[test]
    fn what_the_machine_does_to_all_servers_cancels() {
        let costs = |slowdown: f64| {
            let windows = vec![(0, window(slowdown)), (2, window(0.1 + slowdown))];
            relative_to_mean(windows).into_iter().map(|(member, w)| (member, w.log_cost)).collect::<Vec<_>>()
        };
        for ((member, quick), (_, slow)) in costs(0.0).into_iter().zip(costs(0.7)) {
            assert!((quick - slow).abs() < 1e-12, "member {member}: {quick} and {slow}");
        }
        assert!((relative_to_mean(vec![(0, window(0.3))])[0].1.log_cost - 0.3).abs() < 1e-12, "alone: its own cost");
    }

    #[test]
    fn servers_without_compilers_are_watched_for_less_time() {
        let series = |seconds: f64, compiler_share| -> WarmUpWindows {
            let at = |i| Window { time_s: f64::from(i) * 0.2, compiler_share, ..window(0.0) };
            shown(&[(0..(seconds / 0.2) as i32).map(at).collect()])
        };
        let is_steady = |windows: &WarmUpWindows| windows.unsteady_reason(0).is_none();
        assert!(is_steady(&series(2.6, None)) && !is_steady(&series(1.4, None)));
        assert!(is_steady(&series(5.6, Some(0.0))) && !is_steady(&series(4.4, Some(0.0))));
        assert!(WarmUpWindows::new(1, true).compiles(), "not known yet");
    }

    #[test]
    fn a_later_scenario_must_be_level_for_less_time() {
        let series = |seconds: f64, is_first_scenario: bool| {
            let mut windows = WarmUpWindows::new(1, is_first_scenario);
            let at = |i| Window { time_s: f64::from(i) * 0.5, ..window(0.0) };
            (0..(seconds / 0.5) as i32).for_each(|i| windows.rounds.push(vec![(0, at(i))]));
            windows
        };
        let is_steady = |windows: WarmUpWindows| windows.unsteady_reason(0).is_none();
        assert!(is_steady(series(3.5, false)) && !is_steady(series(2.5, false)));
        assert!(is_steady(series(5.5, true)) && !is_steady(series(3.5, true)));
    }

    #[test]
    fn compilers_are_idle_after_three_rounds_with_little_work_or_waiting() {
        let rounds = |shares: &[f64]| -> Vec<Window> {
            shares.iter().map(|share| Window { compiler_share: Some(*share), ..window(0.0) }).collect()
        };
        let are_compilers_idle = |windows: Vec<Vec<Window>>| shown(&windows).are_compilers_idle();
        let idle = rounds(&[0.9, 0.0, 0.38, 0.04]);
        assert!(are_compilers_idle(vec![idle.clone()]), "one late compilation does not count: 14 % on average");
        assert!(!are_compilers_idle(vec![rounds(&[0.9, 0.0, 0.44, 0.04])]), "16 %");
        assert!(!are_compilers_idle(vec![rounds(&[0.0, 0.0])]), "too few rounds");
        assert!(!are_compilers_idle(vec![idle.clone(), rounds(&[0.2; 3])]), "one server is not enough");
        assert!(are_compilers_idle(vec![idle, Vec::new()]), "a server that gets no load is not waited for");
        assert!(are_compilers_idle(vec![vec![Window { compiler_share: None, ..window(0.0) }; 3]]), "no compilers");
    }

    #[test]
    fn a_server_that_is_forgotten_neither_keeps_the_others_waiting_nor_shifts_their_cost() {
        // The third server costs three times as much, its compilers work all the time, and it dies after four seconds.
        let series = |seconds: f64, log_cost: f64, share: f64| -> Vec<Window> {
            let at = |i: i32| Window { time_s: f64::from(i) * 0.2, log_cost, compiler_share: Some(share) };
            (0..(seconds / 0.2) as i32).map(at).collect()
        };
        let mut windows = shown(&[series(7.0, 0.0, 0.0), series(7.0, 0.1, 0.0), series(4.0, 1.1, 0.9)]);
        assert!(!windows.are_compilers_idle() && windows.unsteady_reason(0).is_some(), "it is still known");
        windows.remove_server(2);
        assert!(windows.are_compilers_idle() && windows.compiler_share() == Some(0.0));
        assert_eq!((windows.unsteady_reason(0), windows.unsteady_reason(1)), (None, None));
    }
}
