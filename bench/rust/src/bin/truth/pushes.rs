//! Percentiles of the push latency, compared with the server's own list: from a message's stamp to the moment at which
//! it was passed to the kernel, for each message of thousands of users on one core.

use std::error::Error;
use std::time::Duration;

use tare_load::{Cancel, LoadSession, Protocol, RequestSpec, Schedule, SessionSpec, SliceSample, SliceSpec, StopRule};
use tare_reference::{Options, Served};
use tare_sys::affinity::CpuSet;

use crate::stage::{Stage, quantile, rank_percent, verdict};

const QUANTILES: [(&str, f64); 7] =
    [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)];
const PERIOD: &str = "100ms";

pub fn of_a_stalling_server(stage: &Stage) -> Result<usize, Box<dyn Error>> {
    let users = stage.users;
    println!(
        "\n## {users} users, a message every 100 ms: after 1 ms, one in a hundred after 50 ms, and a freeze of 500 ms in every 10 s"
    );
    let planted = Options {
        delay_us: 1000,
        slow_share: 0.01,
        slow_us: 50_000,
        stall_every_s: 10.0,
        stall_ms: 500,
        ..Options::default()
    };
    let server = stage.server(planted)?;
    let mut session = LoadSession::open(&SessionSpec {
        protocol: Protocol::Push { period: PERIOD.parse()?, messages: None },
        connections: users,
        cpus: CpuSet::from_indices([stage.load_cpu]),
        ..SessionSpec::new(server.address(), RequestSpec::get("/ws/ts"))
    })?;
    let stop = StopRule::Duration(Duration::from_secs(10) * stage.stalls);
    let slice = SliceSpec {
        drain_timeout: Duration::from_secs(3),
        trace: 4_000_000,
        ..SliceSpec::new(Schedule::Closed, users, stop)
    };
    let sample = session.run(&slice, &Cancel::new())?;
    drop(session);
    let window = sample.start_ns..sample.start_ns + sample.window_ns;
    let mut pushed = server.finish()?;
    pushed.retain(|pushed| window.contains(&pushed.received.0));
    let mut truth: Vec<u64> = pushed.iter().map(|pushed| pushed.answered.since(pushed.received)).collect();
    truth.sort_unstable();
    let failed = compare(&truth, &sample);
    println!("{}", one_by_one(pushed, &sample));
    Ok(failed)
}

/// Time from the server's send of each message to its arrival here. Each message has its own stamp, which identifies
/// it.
fn one_by_one(mut pushed: Vec<Served>, sample: &SliceSample) -> String {
    let mut came = sample.trace.clone();
    came.sort_unstable_by_key(|message| message.intended_ns);
    pushed.sort_unstable_by_key(|message| message.received);
    let mut later: Vec<u64> =
        came.iter().zip(&pushed).map(|(came, pushed)| came.ended_ns.saturating_sub(pushed.answered.0)).collect();
    later.sort_unstable();
    let us = |q: f64| quantile(&later, q) as f64 / 1e3;
    let known =
        [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)].map(|(name, q)| format!("{name} {:.1}", us(q)));
    format!("each message by itself, from the server's hand to the generator's stamp: {} µs", known.join(", "))
}

fn compare(truth: &[u64], sample: &SliceSample) -> usize {
    println!("{:>8} {:>14} {:>14} {:>14} {:>14}", "", "truth, ms", "latency, ms", "deviation, µs", "truth's rank");
    let mut failed = 0;
    for (name, q) in QUANTILES {
        let real = quantile(truth, q);
        let said = sample.response.value_at_quantile_ns(q).unwrap_or(0);
        // Within 1 % or 100 µs, whichever is larger.
        let holds = said.abs_diff(real) <= (real / 100).max(100_000);
        println!(
            "{name:>8} {:>14.3} {:>14.3} {:>14.1} {:>14.3}  {}",
            real as f64 / 1e6,
            said as f64 / 1e6,
            (said as f64 - real as f64) / 1e3,
            rank_percent(truth, said),
            verdict(holds, &mut failed)
        );
    }
    let messages = &sample.messages;
    let all_came = messages.received == truth.len() as u64 && messages.missing == 0 && sample.failed == 0;
    println!(
        "{} messages pushed, {} came, {} missing, {} subscriptions failed  {}",
        truth.len(),
        messages.received,
        messages.missing,
        sample.failed,
        verdict(all_came, &mut failed)
    );
    let cpu_us = sample.generator_cpu_ns as f64 / 1e3 / sample.completed.max(1) as f64;
    println!(
        "generator: {:.1} % of its core, {cpu_us:.2} µs a message; stamps and clock within {} ns",
        sample.generator_cpu_share() * 100.0,
        messages.stamp_unit_ns + messages.clock_within_ns
    );
    failed
}
