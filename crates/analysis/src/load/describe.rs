//! A load in words, from its plan.

use tare_plan::load_plan::{Arrivals, LoadModel, LoadPlan, LoadStage, LoadStop, Protocol};

use crate::format::{count, exact_duration, grouped, rate};

/// `closed loop, 64 users for 10 s`, `open loop, Poisson, 20,000/s over 64 connections for 10 s`, or
/// `2,500 users; the server pushes a message to each every 100 ms, until each has 600`.
pub fn describe(plan: &LoadPlan) -> String {
    if let Protocol::Push { period, messages } = &plan.protocol {
        let (users, every) = (count(plan.connections.into(), "user"), exact_duration(period.0));
        let until = messages.map_or_else(|| length(plan), |messages| format!("until each has {}", grouped(messages)));
        return format!("{users}; the server pushes a message to each every {every}, {until}");
    }
    if let Protocol::Events { messages, .. } = &plan.protocol {
        let each = messages.map_or_else(String::new, |messages| format!(" up to {}", grouped(messages)));
        return format!("{}; each reads streams of events{each} {}", users(plan), length(plan));
    }
    match &plan.model {
        LoadModel::Closed => format!("closed loop, {} {}", users(plan), length(plan)),
        LoadModel::ClosedStages { stages } => {
            let level = |to: f64| grouped(to as u64);
            format!("closed loop, 0 users{} over {} {}", courses(stages, level), connections(plan), length(plan))
        }
        LoadModel::Open { per_s, stages, arrivals, tick } => {
            let arrivals = match arrivals {
                Arrivals::Poisson => "Poisson",
                Arrivals::Even if stages.is_empty() => "constant",
                Arrivals::Even => "evenly spaced",
            };
            let tick = tick.map_or_else(String::new, |tick| format!(", sent in ticks of {}", exact_duration(tick.0)));
            let rates = level_per_s(*per_s) + &courses(stages, level_per_s);
            format!("open loop, {arrivals}, {rates} over {}{tick} {}", connections(plan), length(plan))
        }
    }
}

/// `for 10 s`, `until 1,000 requests` or `until 20 streams`.
fn length(plan: &LoadPlan) -> String {
    match plan.stop {
        LoadStop::Duration { span } => format!("for {}", exact_duration(span.0)),
        LoadStop::Requests { count, at_most } => {
            let requests = crate::format::count(count, if plan.sends_events() { "stream" } else { "request" });
            let limit = format!(", {} at most", exact_duration(at_most.0));
            format!("until {requests}{}", if at_most < LoadStop::NO_LIMIT { &limit } else { "" })
        }
    }
}

/// `64 connections`, with what each of them carries at a time where that is more than one request.
fn connections(plan: &LoadPlan) -> String {
    let connections = count(plan.connections.into(), "connection");
    match plan.protocol {
        Protocol::Http1 { pipeline: 0 | 1 } | Protocol::Events { streams: None, .. } => connections,
        Protocol::Http1 { pipeline } => format!("{connections}, {pipeline} requests deep"),
        Protocol::Http2 { streams } | Protocol::Events { streams: Some(streams), .. } => {
            format!("{connections} of HTTP/2, {}", count(streams.into(), "stream"))
        }
        Protocol::Exchange | Protocol::Push { .. } => count(plan.connections.into(), "WebSocket"),
    }
}

/// `64 users`, with the connections that they share where one carries several.
fn users(plan: &LoadPlan) -> String {
    let users = count(u64::from(plan.connections) * u64::from(plan.protocol.depth()), "user");
    match plan.protocol {
        Protocol::Http1 { pipeline: 0 | 1 } | Protocol::Events { streams: None, .. } => users,
        _ => format!("{users} on {}", connections(plan)),
    }
}

fn level_per_s(per_s: f64) -> String {
    if per_s == 0.0 { "0/s".to_owned() } else { rate(per_s) }
}

/// ` to 64 in 10 s, to 0 in 10 s`.
fn courses(stages: &[LoadStage], level: impl Fn(f64) -> String) -> String {
    let stage = |stage: &LoadStage| format!(" to {} in {}", level(stage.to), exact_duration(stage.over.0));
    stages.iter().map(stage).collect::<Vec<_>>().join(",")
}
