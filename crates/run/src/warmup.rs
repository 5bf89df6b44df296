//! Warming up: slices in turn over all servers of a fork until each is steady, or for a fixed time.
//!
//! Until steady has two parts: on all cores, while JITs have much to compile, and then on the cores where it will be
//! measured. A JVM that has just lost a core settles for seconds; windows from before the move prove nothing.

use std::time::Duration;

use tare_plan::plan::{SliceKind, Warmup};
use tare_record::sample::{Phase, StoredSlice};
use tare_stats::steady::{SteadyRule, Unsteady, Window, assess};

use crate::driver::Driver;
use crate::error::RunError;
use crate::fleet::Member;
use crate::journal::Journal;
use crate::progress::Progress;
use crate::slice::Order;

/// Length of a warm-up slice: short, so that all servers warm up side by side.
const SLICE: Duration = Duration::from_millis(250);

/// The JIT's share of a server's CPU below which more cores no longer help it.
const JIT_CALM: f64 = 0.05;
/// The part of the cap after which servers move to the cores of measuring, calm or not.
const ROOM: f64 = 0.7;

impl Driver<'_, '_, '_> {
    /// Warms up every healthy server, and records each slice and how it ended. The servers are then on the cores where
    /// they will be measured.
    pub fn warm_up(&mut self) -> Result<(), RunError> {
        let plan = self.plan();
        let cores = &self.trial.cores;
        let (cap, users, judged) = match plan.warmup {
            Warmup::UntilSteady { cap, first_cap, .. } => {
                (if self.fleet.warmed { cap.0 } else { first_cap.0 }, plan.load.users, true)
            }
            // A fixed warm-up is so long for each server.
            Warmup::Fixed { span, users } => (span.0 * self.fleet.healthy() as u32, users.min(plan.load.users), false),
        };
        let begin_ns = self.journal.elapsed_ns();
        let elapsed = |journal: &Journal<'_>| Duration::from_nanos(journal.elapsed_ns() - begin_ns);
        let mut windows: Vec<Vec<Window>> = vec![Vec::new(); self.fleet.members.len()];
        let mut has_room = judged && cores.warmup != cores.server;
        self.fleet.set_cpus(if has_room { &cores.warmup } else { &cores.server });
        let mut round = 0;
        while elapsed(self.journal) < cap && !self.is_cancelled() && self.fleet.healthy() > 0 {
            self.warming_round(round, users, &mut windows)?;
            let steady = self.steady(&windows);
            self.journal.show(&Progress::WarmingUp {
                place: self.place,
                scenario: &self.named.name,
                elapsed: elapsed(self.journal),
                cap,
                steady: if judged { (steady, windows.len()) } else { (0, 0) },
                jit_share: windows.iter().filter_map(|w| w.last()?.jit_share).reduce(f64::max),
            });
            round += 1;
            if has_room && (is_calm(&windows) || elapsed(self.journal) > cap.mul_f64(ROOM)) {
                self.fleet.set_cpus(&cores.server);
                windows.iter_mut().for_each(Vec::clear);
                has_room = false;
            } else if judged && !has_room && steady == windows.len() {
                break;
            }
        }
        self.fleet.set_cpus(&cores.server);
        self.fleet.warmed = true;
        let span_ns = self.journal.elapsed_ns() - begin_ns;
        for (member, windows) in windows.iter().enumerate() {
            self.warmed(member, span_ns, if judged { verdict(windows) } else { None })?;
        }
        Ok(())
    }

    /// One slice of each healthy server, and what it adds to the windows of that server.
    fn warming_round(&mut self, round: u32, users: u32, windows: &mut [Vec<Window>]) -> Result<(), RunError> {
        let order = Order {
            phase: Phase::Warmup,
            users,
            length: SLICE,
            discard: Duration::ZERO,
            seed: 0,
            ..self.order(SliceKind::Saturating, round, 0.0)
        };
        for (member, windows) in windows.iter_mut().enumerate() {
            if self.may_drive(member) {
                windows.extend(window(self.slice(member, &order)?));
            }
        }
        Ok(())
    }

    /// How many servers are steady, or out.
    fn steady(&self, windows: &[Vec<Window>]) -> usize {
        let is_steady = |(w, member): &(&Vec<Window>, &Member<'_>)| !member.healthy || verdict(w).is_none();
        windows.iter().zip(&self.fleet.members).filter(is_steady).count()
    }
}

/// Whether the JITs of all servers have had their rush, as their last two windows tell; at once where there is no JIT.
fn is_calm(windows: &[Vec<Window>]) -> bool {
    let calm = |window: &Window| window.jit_share.is_none_or(|share| share < JIT_CALM);
    windows.iter().filter(|w| !w.is_empty()).all(|w| w.len() >= 2 && w.iter().rev().take(2).all(calm))
}

/// What one slice says about steadiness: the cost of a request, where the server's CPU is known; else the throughput.
fn window(slice: &StoredSlice) -> Option<Window> {
    let time_s = (slice.load.window_start_ns() + slice.load.window_ns / 2) as f64 / 1e9;
    let by_rate = || Some(Window { time_s, log_cost: -positive_ln(slice.load.throughput_per_s())?, jit_share: None });
    let Some(cpu) = &slice.server.cpu else { return by_rate() };
    let log_cost = positive_ln(cpu.total_ns as f64 / cpu.requests as f64)?;
    let jit_share = cpu.by_kind.get("jit").map(|jit_ns| *jit_ns as f64 / cpu.total_ns as f64);
    Some(Window { time_s, log_cost, jit_share })
}

fn positive_ln(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then(|| value.ln())
}

/// Why a series is not steady; `None` when it is.
fn verdict(windows: &[Window]) -> Option<String> {
    match assess(windows, &SteadyRule::default()) {
        Ok(steadiness) => steadiness.reason.map(in_words),
        Err(error) => Some(error.to_string()),
    }
}

fn in_words(reason: Unsteady) -> String {
    match reason {
        Unsteady::TooShort => "too short to tell".to_owned(),
        Unsteady::JitBusy { share } => format!("the JIT still takes {:.1} % of its CPU", share * 100.0),
        Unsteady::Drifting { drift_per_span, .. } => {
            format!("CPU per request still drifts by {:+.1} % in 3 s", drift_per_span * 100.0)
        }
        Unsteady::Shifted { log_shift, .. } => {
            format!("CPU per request has just shifted by {:+.1} %", log_shift.exp_m1() * 100.0)
        }
    }
}
