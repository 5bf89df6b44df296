//! The agents of a load, a line each.

use tare_analysis::format::{Unit, count, grouped, rate, share, single, to_within};
use tare_analysis::load::AgentSummary;

use crate::clean;

/// `2 of 3 agents reported to the end; they started within 43 µs of one another`; nothing without agents.
pub(super) fn fleet_line(agents: &[AgentSummary]) -> Option<String> {
    if agents.is_empty() {
        return None;
    }
    let left = agents.iter().filter(|agent| agent.lost.is_none()).count();
    let all = count(agents.len() as u64, "agent");
    // Each start may differ from what was ordered by half its round trip.
    let mut errors: Vec<u64> = agents.iter().filter_map(|agent| Some(agent.round_trip_ns?.div_ceil(2))).collect();
    errors.sort_unstable_by(|a, b| b.cmp(a));
    let skew: u64 = errors.iter().take(2).sum();
    let start = match errors.len() {
        0 | 1 => String::new(),
        _ => format!("; they started within {} of one another", single(Unit::Nanos, skew as f64)),
    };
    Some(format!("{} of {all} reported to the end{start}", grouped(left as u64)))
}

pub(super) fn agent_line(agent: &AgentSummary) -> String {
    let name = clean::sanitize_line(&agent.name);
    let host = if agent.host.is_empty() { String::new() } else { format!(" on {}", clean::sanitize_line(&agent.host)) };
    let speed = agent.throughput_per_s.map_or_else(|| "no load".to_owned(), rate);
    let counts = format!("{} answered as expected, {} failed", grouped(agent.ok), grouped(agent.failed));
    let cores = format!("cores {}", clean::sanitize_line(&agent.load_cpus));
    let busy = agent.cpu_share.map_or(String::new(), |part| format!(", {} busy", share(part)));
    let clock = clock(agent).map_or(String::new(), |clock| format!(" · {clock}"));
    let lost = agent.lost.as_ref().map_or(String::new(), |reason| {
        let at = agent.lost_at_s.unwrap_or_default();
        format!(" · lost at {at:.1} s: {}", clean::sanitize_line(reason))
    });
    format!("{name}{host}: {speed} · {counts} · {cores}{busy}{clock}{lost}")
}

/// `clock 3.00012 s ahead`, with as many digits as are known.
fn clock(agent: &AgentSummary) -> Option<String> {
    let (offset_ns, round_trip_ns) = (agent.clock_offset_ns?, agent.round_trip_ns?);
    let within_ns = round_trip_ns.div_ceil(2);
    if offset_ns.unsigned_abs() <= within_ns {
        return Some(format!("clock agrees within {}", single(Unit::Nanos, within_ns as f64)));
    }
    let way = if offset_ns < 0 { "behind" } else { "ahead" };
    Some(format!("clock {} {way}", to_within(offset_ns.unsigned_abs(), within_ns)))
}
