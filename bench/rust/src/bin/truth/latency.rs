//! Percentiles of the response time, compared with the server's own list: from the intended start to the moment at
//! which the answer was passed to the kernel, for each request.

use std::error::Error;
use std::time::Duration;

use tare_load::Schedule;
use tare_reference::Options;

use crate::stage::{Evidence, Spread, Stage, is_quantile, quantile, rank_percent, verdict};

const QUANTILES: [(&str, f64); 8] = [
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
    ("max", 1.0),
];
const EVENLY: Schedule = Schedule::constant(1000.0);

pub fn of_a_stalling_server(stage: &Stage) -> Result<usize, Box<dyn Error>> {
    println!("## The server freezes for 1 s in every 10 s; 1000 requests/s, evenly spaced");
    let planted = Options { stall_every_s: 10.0, stall_ms: 1000, ..Options::default() };
    compare(stage, stage.drive(Spread::Connections, planted, EVENLY, Duration::from_secs(10) * stage.stalls)?)
}

pub fn of_known_delays(stage: &Stage) -> Result<usize, Box<dyn Error>> {
    println!("\n## The server answers after 1.3 ms, one in a hundred after 50 ms; 1000 requests/s, evenly spaced");
    compare(stage, stage.drive(Spread::Connections, known_delays(), EVENLY, Duration::from_secs(1) * stage.seconds)?)
}

pub fn over_http2(stage: &Stage) -> Result<usize, Box<dyn Error>> {
    println!("\n## The same delays over HTTP/2, on four connections with 16 streams each");
    compare(stage, stage.drive(Spread::Streams, known_delays(), EVENLY, Duration::from_secs(1) * stage.seconds)?)
}

pub fn of_calls(stage: &Stage) -> Result<usize, Box<dyn Error>> {
    println!("\n## The same as unary calls of gRPC");
    compare(stage, stage.drive(Spread::Calls, known_delays(), EVENLY, Duration::from_secs(1) * stage.seconds)?)
}

fn known_delays() -> Options {
    Options { delay_us: 1300, slow_share: 0.01, slow_us: 50_000, ..Options::default() }
}

fn compare(stage: &Stage, evidence: Evidence) -> Result<usize, Box<dyn Error>> {
    let truth = truth_ns(&evidence);
    let way_back_ns = stage.way_back_ns()?;
    let seen: Vec<u64> = truth.iter().map(|truth_ns| truth_ns + way_back_ns).collect();
    println!(
        "{:>8} {:>14} {:>14} {:>14} {:>14} {:>14}",
        "", "truth, ms", "response, ms", "deviation, µs", "truth's rank", "service, ms"
    );
    let mut failed = 0;
    for (name, q) in QUANTILES {
        let real = quantile(&seen, q);
        let said = evidence.sample.response.value_at_quantile_ns(q).unwrap_or(0);
        let service = evidence.sample.service.value_at_quantile_ns(q).unwrap_or(0);
        let holds = is_quantile(&seen, q, said, 10_000);
        println!(
            "{name:>8} {:>14.3} {:>14.3} {:>14.1} {:>14.3} {:>14.3}  {}",
            real as f64 / 1e6,
            said as f64 / 1e6,
            (said as f64 - real as f64) / 1e3,
            rank_percent(&seen, said),
            service as f64 / 1e6,
            verdict(holds, &mut failed)
        );
    }
    println!(
        "{} requests, {} of them blocked for want of a connection; the way back, {:.1} µs for a client that only reads, is in the truth",
        truth.len(),
        evidence.sample.blocked,
        way_back_ns as f64 / 1e3
    );
    Ok(failed)
}

/// Duration of each request by the server's list, sorted. Both sides list the requests in the order of sending.
fn truth_ns(evidence: &Evidence) -> Vec<u64> {
    let mut asked = evidence.sample.trace.clone();
    asked.sort_unstable_by_key(|request| request.sent_ns);
    let took =
        asked.iter().zip(&evidence.served).map(|(asked, served)| served.answered.0.saturating_sub(asked.intended_ns));
    let mut took: Vec<u64> = took.collect();
    took.sort_unstable();
    took
}
