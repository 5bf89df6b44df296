//! The server's cost for the probes: CPU per request with and without them, in alternating slices.

use std::error::Error;
use std::time::Duration;

use tare_stats::interval::Interval;
use tare_sut::probe::cpu::CpuProbe;
use tare_sut::probe::hiccup::Meter;
use tare_sut::probe::hiccup::inside::JvmMeter;
use tare_sut::probe::jvm::JvmProbe;
use tare_sut::probe::memory::memory_of_processes;
use tare_sut::server::Server;
use tare_sys::procfs::process;

use crate::stage::Stage;
use crate::verdicts::Verdicts;

const PER_S: f64 = 4_000.0;
const SLICE: Duration = Duration::from_millis(500);
const WARM_UP: Duration = Duration::from_secs(6);
/// One per cent of the server's CPU, for the probes of every run.
const LIMIT: f64 = 1.01;
const ALPHA: f64 = 0.05;

/// The probes outside the server, as in each slice of a run.
pub fn of_looking(stage: &Stage, verdicts: &mut Verdicts) -> Result<(), Box<dyn Error>> {
    println!("\nWhat the probes cost a JVM: its CPU per request with them, relative to without");
    let server = stage.jvm(20, 10_000, 0, false)?;
    let mut probe = CpuProbe::new(server.pid())?;
    let jvm = JvmProbe::find_counters(server.pid()).ok_or("the JVM keeps no counters")?;
    let mut look = || {
        // The values of the probes are not needed here.
        let _ = (probe.take_sample(), jvm.take_sample(), memory_of_processes(probe.processes()));
    };
    let mut with = |is_looking: bool| {
        if is_looking {
            look();
        }
    };
    compare(stage, &server, ("counters and accounts, read at both ends", Some(LIMIT)), verdicts, &mut with)
}

/// The hiccup meters. One of them runs in the JVM.
pub fn of_meters(stage: &Stage, verdicts: &mut Verdicts) -> Result<(), Box<dyn Error>> {
    let server = stage.jvm(20, 10_000, 0, true)?;
    let mut inside = JvmMeter::find(stage.folder(), server.pid()).ok_or("the JVM has no meter")?;
    let mut outside: Option<Meter> = None;
    let mut with = |is_metered: bool| match outside.take() {
        Some(meter) => {
            meter.stop_and_read();
            inside.finish_recording();
        }
        None if is_metered => {
            inside.start_recording();
            outside = Meter::start(stage.server_cpus()).ok();
        }
        None => {}
    };
    compare(stage, &server, ("meters of hiccups, where asked for", None), verdicts, &mut with)
}

/// Pairs of slices. In each pair, one slice calls `with(true)` at both its ends.
fn compare(
    stage: &Stage,
    server: &Server,
    (what, limit): (&str, Option<f64>),
    verdicts: &mut Verdicts,
    with: &mut dyn FnMut(bool),
) -> Result<(), Box<dyn Error>> {
    let mut session = stage.session(server)?;
    stage.drive(&mut session, PER_S, WARM_UP)?;
    let mut slice = |is_probed: bool| -> Result<f64, Box<dyn Error>> {
        let before = process::cpu_time_ns(server.pid())?;
        with(is_probed);
        let sample = stage.drive(&mut session, PER_S, SLICE)?;
        with(is_probed);
        Ok((process::cpu_time_ns(server.pid())? - before) as f64 / sample.completed_in_slice as f64)
    };
    let mut logs = Vec::new();
    for pair in 0..stage.seconds * 2 {
        // The order within a pair alternates, so that drift affects both equally.
        let first = slice(pair % 2 == 0)?;
        let second = slice(pair % 2 != 0)?;
        let (with, without) = if pair % 2 == 0 { (first, second) } else { (second, first) };
        logs.push((with / without).ln());
    }
    let interval = Interval::of_mean(&logs, ALPHA)?;
    let middle = tare_stats::quantile::mean(&logs)?;
    verdicts.ratio(what, (middle.exp(), interval.lo.exp(), interval.hi.exp()), logs.len(), limit);
    Ok(())
}
