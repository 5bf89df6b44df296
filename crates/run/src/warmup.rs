//! Warming up: slices in turn over all servers of a fork until each is steady, or for a fixed time.
//!
//! Until steady has two parts: on all cores, while JITs have much to compile, and then on the cores where it will be
//! measured. A JVM that has just lost a core settles for seconds; windows from before the move prove nothing.

use std::time::Duration;

use tare_load::{Cancel, LoadSession, Sending};
use tare_plan::plan::{Plan, SliceKind, Warmup};
use tare_record::sample::{Phase, SliceRecord, WarmupRecord};
use tare_stats::steady::{SteadyRule, Unsteady, Window, assess};

use crate::error::RunError;
use crate::fleet::Fleet;
use crate::fork::Cores;
use crate::journal::Journal;
use crate::progress::{Place, Progress};
use crate::slice::{Order, Slot, drive};

/// Length of a warm-up slice: short, so that all servers warm up side by side.
const SLICE: Duration = Duration::from_millis(250);

/// The JIT's share of a server's CPU below which more cores no longer help it.
const JIT_CALM: f64 = 0.05;
/// The part of the cap after which servers move to the cores of measuring, calm or not.
const ROOM: f64 = 0.7;

/// Warms up every healthy server of the fleet for one scenario, and records each slice and how it ended. The servers
/// are then on the cores where they will be measured.
#[allow(clippy::too_many_arguments, reason = "one warm-up needs the whole scene; a struct would only rename it")]
pub(crate) fn warm_up(
    fleet: &mut Fleet<'_>,
    sessions: &mut [LoadSession],
    cores: &Cores,
    plan: &Plan,
    scenario: &str,
    place: &Place<'_>,
    cancel: &Cancel,
    journal: &mut Journal<'_>,
) -> Result<(), RunError> {
    let (cap, users, judged) = match plan.warmup {
        Warmup::UntilSteady { cap, first_cap, .. } => {
            (if fleet.warmed { cap.0 } else { first_cap.0 }, plan.load.users, true)
        }
        // A fixed warm-up is so long for each server.
        Warmup::Fixed { span, users } => (span.0 * fleet.healthy() as u32, users.min(plan.load.users), false),
    };
    let slot = Slot { group: place.group, scenario, fork: place.fork };
    let begin_ns = journal.elapsed_ns();
    let elapsed = |journal: &Journal<'_>| Duration::from_nanos(journal.elapsed_ns() - begin_ns);
    let mut windows: Vec<Vec<Window>> = vec![Vec::new(); fleet.members.len()];
    let mut has_room = judged && cores.warmup != cores.server;
    fleet.set_cpus(if has_room { &cores.warmup } else { &cores.server });
    let mut round = 0;
    while elapsed(journal) < cap && !cancel.is_cancelled() && fleet.healthy() > 0 {
        for (index, session) in sessions.iter_mut().enumerate() {
            let member = &mut fleet.members[index];
            if !member.healthy || cancel.is_cancelled() {
                continue;
            }
            let order = Order {
                kind: SliceKind::Saturating,
                phase: Phase::Warmup,
                round,
                users,
                rate_per_s: 0.0,
                length: SLICE,
                discard: Duration::ZERO,
                seed: 0,
                sending: Sending::Exact,
            };
            let slice = drive(member, session, &order, slot, plan, cancel, journal)?;
            windows[index].extend(window(&slice));
            let answered = slice.ok > 0 || cancel.is_cancelled();
            journal.slice(slice)?;
            member.check_health(answered, place, scenario, journal)?;
        }
        let steady: Vec<bool> =
            windows.iter().zip(&fleet.members).map(|(w, member)| !member.healthy || verdict(w).is_none()).collect();
        let count = steady.iter().filter(|steady| **steady).count();
        journal.show(&Progress::WarmingUp {
            place: *place,
            scenario,
            elapsed: elapsed(journal),
            cap,
            steady: (if judged { count } else { 0 }, if judged { steady.len() } else { 0 }),
            jit_share: windows.iter().filter_map(|w| w.last()?.jit_share).reduce(f64::max),
        });
        round += 1;
        if has_room && (is_calm(&windows) || elapsed(journal) > cap.mul_f64(ROOM)) {
            fleet.set_cpus(&cores.server);
            windows.iter_mut().for_each(Vec::clear);
            has_room = false;
        } else if judged && !has_room && count == steady.len() {
            break;
        }
    }
    fleet.set_cpus(&cores.server);
    fleet.warmed = true;
    let span_ns = journal.elapsed_ns() - begin_ns;
    for (member, windows) in fleet.members.iter().zip(&windows) {
        let reason = if judged { verdict(windows) } else { None };
        journal.warmup(WarmupRecord {
            fork: place.fork,
            group: place.group.to_owned(),
            scenario: scenario.to_owned(),
            variant: member.variant.name.clone(),
            span_ns,
            steady: reason.is_none(),
            reason: reason.unwrap_or_default(),
        })?;
    }
    Ok(())
}

/// Whether the JITs of all servers have had their rush, as their last two windows tell; at once where there is no JIT.
fn is_calm(windows: &[Vec<Window>]) -> bool {
    let calm = |window: &Window| window.jit_share.is_none_or(|share| share < JIT_CALM);
    windows.iter().filter(|w| !w.is_empty()).all(|w| w.len() >= 2 && w.iter().rev().take(2).all(calm))
}

/// What one slice says about steadiness: the cost of a request, where the server's CPU is known; else the throughput.
fn window(slice: &SliceRecord) -> Option<Window> {
    let time_s = (slice.start_ns + slice.window_ns / 2) as f64 / 1e9;
    let by_rate = || {
        let per_s = slice.completed as f64 * 1e9 / slice.window_ns.max(1) as f64;
        Some(Window { time_s, log_cost: -positive_ln(per_s)?, jit_share: None })
    };
    let Some(cpu) = &slice.server_cpu else { return by_rate() };
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
