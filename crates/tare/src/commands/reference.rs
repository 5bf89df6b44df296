//! `tare reference`: the built-in server with known behaviour, for tests, benchmarks and preflight's self-test.

use std::net::SocketAddr;

use tare_reference::{Fault, FaultKind, Options, Stop, serve_until_stopped};

use crate::args::ReferenceArgs;
use crate::console;
use crate::failure::Outcome;

/// Serves until SIGTERM.
pub fn reference(args: &ReferenceArgs) -> anyhow::Result<Outcome> {
    let fault = match &args.fault {
        Some(name) => Some(Fault { kind: kind(name)?, after: args.fault_after }),
        None => None,
    };
    let options = Options {
        address: args.address,
        port: args.port,
        routes: args.routes,
        spin_ns: args.spin_ns,
        base_ns: args.base_ns,
        spin_percent: args.spin_percent,
        delay_us: args.delay_us,
        slow_share: args.slow_share,
        slow_us: args.slow_us,
        stall_every_s: args.stall_every_s,
        stall_ms: args.stall_ms,
        answer_bytes: args.answer_bytes,
        push_period_ms: args.push_period_ms,
        clock_ahead_ns: args.clock_ahead_ns,
        fault,
        never_ready: args.never_ready,
        lie_ready: args.lie_ready,
        ignore_sigterm: args.ignore_sigterm,
        stderr_noise: args.stderr_noise,
        ..Options::default()
    };
    let stop = Stop::default();
    serve_until_stopped(&options, &stop, |address: SocketAddr| {
        console::print_text(&format!("tare: ready on {address}\n"))
    })?;
    Ok(Outcome::Done)
}

fn kind(name: &str) -> anyhow::Result<FaultKind> {
    let known = FaultKind::NAMES.iter().find(|(known, _)| *known == name);
    known.map(|(_, kind)| *kind).ok_or_else(|| {
        let names: Vec<&str> = FaultKind::NAMES.iter().map(|(name, _)| *name).collect();
        anyhow::anyhow!("--fault {name} is unknown; there are: {}", names.join(", "))
    })
}
