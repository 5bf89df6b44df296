//! Times of streams of events, compared with the planted ones: to the first event, and from each event to the next.

use std::error::Error;
use std::time::Duration;

use tare_load::{Cancel, LoadSession, Protocol, RequestSpec, Schedule, SessionSpec, SliceSpec, StopRule};
use tare_reference::Options;
use tare_sys::affinity::CpuSet;

use crate::stage::{Stage, verdict};

/// The server's timers are late at times, so the tail is shown and not judged.
const QUANTILES: [(&str, f64, bool); 3] = [("p50", 0.5, true), ("p90", 0.9, true), ("p99", 0.99, false)];
const USERS: usize = 32;
const FIRST_MS: u64 = 20;
const GAP_MS: u64 = 5;
const EVENTS: u32 = 20;

pub fn of_planted_times(stage: &Stage) -> Result<usize, Box<dyn Error>> {
    println!(
        "\n## {USERS} users, streams of {EVENTS} events: the first after {FIRST_MS} ms, then one every {GAP_MS} ms"
    );
    let planted = Options { first_event_ms: FIRST_MS, event_gap_ms: GAP_MS, events: EVENTS, ..Options::default() };
    let server = stage.server(planted)?;
    let mut session = LoadSession::open(&SessionSpec {
        protocol: Protocol::Events { messages: None, streams: None },
        connections: USERS,
        cpus: CpuSet::from_indices([stage.load_cpu]),
        ..SessionSpec::new(server.address(), RequestSpec::get("/events"))
    })?;
    let stop = StopRule::Duration(Duration::from_secs(1) * stage.seconds);
    let sample = session.run(&SliceSpec::new(Schedule::Closed, USERS, stop), &Cancel::new())?;
    drop(session);
    server.finish()?;
    println!("{:>8} {:>14} {:>14} {:>14} {:>14}", "", "planted, ms", "first, ms", "planted, ms", "gap, ms");
    let mut failed = 0;
    for (name, q, is_judged) in QUANTILES {
        let known = [(FIRST_MS, &sample.response), (GAP_MS, &sample.jitter)]
            .map(|(planted_ms, histogram)| (planted_ms * 1_000_000, histogram.value_at_quantile_ns(q).unwrap_or(0)));
        // Within 1 % or 150 µs, whichever is larger.
        let holds = known.iter().all(|(planted, said)| said.abs_diff(*planted) <= (planted / 100).max(150_000));
        let [(first, said_first), (gap, said_gap)] = known.map(|(a, b)| (a as f64 / 1e6, b as f64 / 1e6));
        let judged = if is_judged { verdict(holds, &mut failed) } else { "" };
        println!("{name:>8} {first:>14.3} {said_first:>14.3} {gap:>14.3} {said_gap:>14.3}  {judged}");
    }
    let messages = &sample.messages;
    let all_came = sample.failed == 0 && messages.missing == 0 && messages.subscriptions > 0;
    println!(
        "{} events of {} streams, {} failed  {}",
        messages.received,
        messages.subscriptions,
        sample.failed,
        verdict(all_came, &mut failed)
    );
    Ok(failed)
}
