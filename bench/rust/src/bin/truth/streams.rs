//! Times of streams of events, compared with the server's own list: from the request to the first event, and from each event
//! to the next.

use std::error::Error;
use std::time::Duration;

use tare_load::{
    Cancel, LoadSession, Protocol, RequestSpec, Schedule, SessionSpec, SliceSpec, StopRule, TracedRequest,
};
use tare_reference::{Options, Served};
use tare_sys::affinity::CpuSet;

use crate::stage::{Stage, is_quantile, quantile, verdict};

const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];
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
    let slice = SliceSpec { sending: stage.sending, trace: 4_000_000, ..SliceSpec::new(Schedule::Closed, USERS, stop) };
    let sample = session.run(&slice, &Cancel::new())?;
    drop(session);
    let truth = Truth::of(server.finish()?, &sample.trace, stage.way_back_ns()?);
    println!("{:>8} {:>14} {:>14} {:>14} {:>14}", "", "truth, ms", "first, ms", "truth, ms", "gap, ms");
    let mut failed = 0;
    for (name, q) in QUANTILES {
        let known = [(&truth.first_ns, &sample.response), (&truth.gap_ns, &sample.jitter)]
            .map(|(real, histogram)| (real, histogram.value_at_quantile_ns(q).unwrap_or(0)));
        // The events of all users come in bursts.
        let holds = known.iter().all(|(real, said)| is_quantile(real, q, *said, 50_000));
        let known = known.map(|(real, said)| (quantile(real, q), said));
        let [(first, said_first), (gap, said_gap)] = known.map(|(a, b)| (a as f64 / 1e6, b as f64 / 1e6));
        let judged = verdict(holds, &mut failed);
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

/// What the server knows of all streams, sorted.
struct Truth {
    first_ns: Vec<u64>,
    gap_ns: Vec<u64>,
}

impl Truth {
    /// `events` has one entry for each event, with the number of its request. Both sides list the streams in the order of sending,
    /// and in the trace the first events alone have been waited for.
    fn of(mut events: Vec<Served>, trace: &[TracedRequest], way_back_ns: u64) -> Self {
        let mut asked: Vec<u64> =
            trace.iter().filter(|event| event.intended_ns < event.ended_ns).map(|event| event.intended_ns).collect();
        asked.sort_unstable();
        events.sort_unstable_by_key(|event| (event.nth, event.answered));
        let (mut first_ns, mut gap_ns) = (Vec::new(), Vec::new());
        for (nth, stream) in events.chunk_by(|one, next| one.nth == next.nth).enumerate() {
            let answered_ns = stream[0].answered.0 + way_back_ns;
            first_ns.extend(asked.get(nth).map(|asked_ns| answered_ns.saturating_sub(*asked_ns)));
            gap_ns.extend(stream.windows(2).map(|pair| pair[1].answered.since(pair[0].answered)));
        }
        first_ns.sort_unstable();
        gap_ns.sort_unstable();
        Self { first_ns, gap_ns }
    }
}
