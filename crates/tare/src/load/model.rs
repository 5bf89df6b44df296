//! How requests are offered: the schedule that the flags ask for, and its name in words.

use std::time::Duration;

use tare_load::{Conversation, Protocol, Push, Schedule, SliceSpec, Spacing, Stages, StopRule};
use tare_report::format::{count, duration, grouped, rate};

use crate::args::{ModelArgs, Stage};

/// Closed without a rate; else constant or Poisson. At one level, or in stages.
pub fn schedule(model: &ModelArgs) -> Schedule {
    let spacing = if model.poisson { Spacing::Poisson } else { Spacing::Even };
    if let Some(users) = stages(0.0, &model.user_stages) {
        return Schedule::ClosedStages { users };
    }
    match (model.rate.map(|rate| rate.0), rate_stages(model)) {
        (_, Some(rate_per_s)) => Schedule::Stages { rate_per_s, spacing },
        (None, None) => Schedule::Closed,
        (Some(rate_per_s), None) if model.poisson => Schedule::Poisson { rate_per_s },
        (Some(rate_per_s), None) => Schedule::Constant { rate_per_s },
    }
}

fn rate_stages(model: &ModelArgs) -> Option<Stages> {
    let rate = model.rate.map_or(0.0, |rate| rate.0);
    match model.ramp {
        Some(ramp) => Some(Stages::steady(0.0).then(rate, ramp.0)),
        None => stages(rate, &model.stages),
    }
}

fn stages(from: f64, list: &[Stage]) -> Option<Stages> {
    let lead = |stages: Stages, stage: &Stage| stages.then(stage.to, stage.over.0);
    (!list.is_empty()).then(|| list.iter().fold(Stages::steady(from), lead))
}

/// How long the stages last that the flags ask for, of whichever kind.
pub fn staged(model: &ModelArgs) -> Duration {
    model.stages.iter().chain(&model.user_stages).map(|stage| stage.over.0).sum()
}

/// `closed loop, 64 users for 10 s`, `open loop, Poisson, 20,000/s over 64 connections for 10 s`.
pub fn in_words(model: &ModelArgs, slice: &SliceSpec, protocol: Protocol) -> String {
    let how_long = match slice.stop {
        StopRule::Duration(span) => format!("for {}", duration((span - slice.discard_head).as_secs_f64())),
        StopRule::Count { requests, .. } => format!("until {} requests", grouped(requests)),
    };
    let connections = count(model.connections.into(), "connection");
    if let Protocol::WebSocket(Conversation::Push(push)) = protocol {
        return subscriptions(model, slice, push);
    }
    let over = match protocol {
        Protocol::Http1 { pipeline: 1 } => connections,
        Protocol::Http1 { pipeline } => format!("{connections}, {pipeline} requests deep"),
        Protocol::Http2 { streams } => format!("{connections} of HTTP/2, {}", count(streams as u64, "stream")),
        Protocol::WebSocket(_) => count(model.connections.into(), "WebSocket"),
    };
    if let Schedule::ClosedStages { .. } = slice.schedule {
        let level = |to: f64| grouped(to as u64);
        return format!("closed loop, 0 users{} over {over} {how_long}", in_stages(&model.user_stages, level));
    }
    if matches!(slice.schedule, Schedule::Closed) {
        let users = match protocol {
            Protocol::Http1 { pipeline: 1 } => count(model.connections.into(), "user"),
            _ => format!("{} on {over}", count(u64::from(model.connections) * protocol.depth() as u64, "user")),
        };
        return format!("closed loop, {users} {how_long}");
    }
    let arrivals = match (&slice.schedule, model.poisson) {
        (_, true) => "Poisson",
        (Schedule::Stages { .. }, false) => "evenly spaced",
        _ => "constant",
    };
    let tick = model.tick.map_or(String::new(), |tick| format!(", sent in ticks of {tick}"));
    format!("open loop, {arrivals}, {} over {over}{tick} {how_long}", rates(model))
}

/// `2,500 users, to each of whom the server pushes a message every 100 ms, until each has 600`.
fn subscriptions(model: &ModelArgs, slice: &SliceSpec, push: Push) -> String {
    let until = match slice.stop {
        StopRule::Duration(span) => format!("for {}", duration((span - slice.discard_head).as_secs_f64())),
        StopRule::Count { .. } => format!("until each has {}", grouped(push.messages_per_user)),
    };
    let (users, every) = (count(model.connections.into(), "user"), duration(push.period.as_secs_f64()));
    format!("{users}, to each of whom the server pushes a message every {every}, {until}")
}

/// `20,000/s`, or `0/s to 1,000/s in 10 s, to 5,000/s in 30 s`.
fn rates(model: &ModelArgs) -> String {
    let from = model.rate.map_or("0/s".to_owned(), |from| rate(from.0));
    if let Some(ramp) = model.ramp {
        return format!("0/s to {from} in {}", duration(ramp.secs()));
    }
    from + &in_stages(&model.stages, |to| if to == 0.0 { "0/s".to_owned() } else { rate(to) })
}

/// ` to 64 in 10 s, to 0 in 10 s`.
fn in_stages(stages: &[Stage], level: impl Fn(f64) -> String) -> String {
    let stage = |stage: &Stage| format!(" to {} in {}", level(stage.to), duration(stage.over.secs()));
    stages.iter().map(stage).collect::<Vec<_>>().join(",")
}
