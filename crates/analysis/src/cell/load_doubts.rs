//! Reasons to doubt a load, besides those of any cell.

use tare_plan::load_plan::LoadModel;
use tare_record::{AgentRecord, EndStatus, EventName, LoadRecord, StoredSlice};

use super::shortfall::doubt_of_shortfall;
use crate::format::{rfc3339, share};
use crate::summary::Reason;

/// Above this share of its cores an agent distorts an open load, or limits a closed one.
const BUSY_OPEN: f64 = 0.6;
const BUSY_CLOSED: f64 = 0.9;
/// Above this share of requests that left more than 1 ms late, an open load was not what it claims.
const LATE: f64 = 0.01;

pub(super) fn doubts_of_load(record: &LoadRecord) -> impl Iterator<Item = Reason> {
    let lost = record.events.iter().filter(|event| event.kind.name() == EventName::AgentLost);
    let lost = lost.map(|event| Reason::new(event.text.clone(), event.remedy.as_deref().unwrap_or_default()));
    let is_open = matches!(record.header.plan.model, LoadModel::Open { .. });
    let agents = record.agents.iter().flat_map(move |agent| [busy(agent, is_open), late(agent, is_open)]).flatten();
    of_part(record).into_iter().chain(lost).chain(agents).chain(of_warmup(record)).chain(doubt_of_shortfall(record))
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
