//! Pauses of three causes, each of known length: a collection, a stopped process, and a core taken away.

use std::error::Error;
use std::process::Command;
use std::time::Duration;

use tare_record::{Pause, PauseCause};
use tare_sut::probe::hiccup::inside::JvmMeter;
use tare_sut::probe::hiccup::{Meter, blame_pauses};
use tare_sut::probe::jvm::JvmProbe;
use tare_sut::server::Server;
use tare_sys::clock::{self, Nanos};

use crate::stage::{Stage, get, jvm_totals};
use crate::verdicts::Verdicts;

const PLANTED: Duration = Duration::from_millis(50);
/// The meter's interval. It may miss this much at the beginning of a pause.
const TOLERANCE_MS: f64 = 1.0;
const MARGIN: Duration = Duration::from_millis(200);
/// Live objects, in thousands, for a collection of about 50 ms.
const LIVE: u64 = 250;

/// Does one thing to the server while the meters run. Returns how long it really took.
type Deed<'a> = dyn Fn() -> Result<u64, Box<dyn Error>> + 'a;

pub fn of_a_jvm(stage: &Stage, verdicts: &mut Verdicts) -> Result<(), Box<dyn Error>> {
    verdicts.head("Pauses of about 50 ms in a JVM");
    let server = stage.jvm(0, 0, LIVE, true)?;
    let mut inside = JvmMeter::find(stage.folder(), server.pid()).ok_or("the JVM has no meter")?;
    // The first collections are skipped, because the JVM still adapts.
    for _ in 0..3 {
        get(&server, "/gc")?;
    }
    let collect = || {
        let before = jvm_totals(&server)?.collecting_ns;
        get(&server, "/gc")?;
        Ok(jvm_totals(&server)?.collecting_ns - before)
    };
    let before =
        JvmProbe::find_counters(server.pid()).and_then(|jvm| jvm.take_sample()).ok_or("the JVM keeps no counters")?;
    let (truth_ns, pause) = watched(stage, &server, &mut inside, &collect)?;
    let after = JvmProbe::find_counters(server.pid()).and_then(|jvm| jvm.take_sample()).ok_or("the JVM is gone")?;
    let counted = after.since(&before).ok_or("it is another JVM")?.collecting_ns;
    let counted_ms = counted.ok_or("the JVM does not count its collections")? as f64 / 1e6;
    verdicts.close("System.gc(): by the JVM's counters", "ms", truth_ns as f64 / 1e6, counted_ms, TOLERANCE_MS);
    tell("System.gc()", PauseCause::Collection, truth_ns, pause.as_ref(), verdicts);
    let (truth_ns, pause) = watched(stage, &server, &mut inside, &|| stopped(server.pid()))?;
    tell("SIGSTOP", PauseCause::Process, truth_ns, pause.as_ref(), verdicts);
    match burnt_by_another(stage) {
        Err(why) => verdicts.left_out("a core taken away", &why.to_string()),
        Ok(_) => {
            let (truth_ns, pause) = watched(stage, &server, &mut inside, &|| burnt_by_another(stage))?;
            tell("a core taken away", PauseCause::Machine, truth_ns, pause.as_ref(), verdicts);
        }
    }
    Ok(())
}

fn tell(what: &str, cause: PauseCause, truth_ns: u64, pause: Option<&Pause>, verdicts: &mut Verdicts) {
    let said_ms = pause.map_or(0.0, |pause| pause.length_ns as f64 / 1e6);
    verdicts.close(&format!("{what}: by the meter inside"), "ms", truth_ns as f64 / 1e6, said_ms, TOLERANCE_MS);
    let said = pause.map_or("nothing", |pause| pause.cause.name());
    verdicts.same(&format!("{what}: blamed on"), cause.name(), said);
}

/// The longest pause that was measured, with its true length.
fn watched(
    stage: &Stage,
    server: &Server,
    inside: &mut JvmMeter,
    deed: &Deed<'_>,
) -> Result<(u64, Option<Pause>), Box<dyn Error>> {
    let jvm = JvmProbe::find_counters(server.pid()).ok_or("the JVM keeps no counters")?;
    let before = jvm.take_sample().ok_or("the JVM is gone")?;
    let meter = Meter::start(stage.server_cpus())?;
    inside.start_recording();
    clock::sleep_until(clock::now() + MARGIN);
    let truth_ns = deed()?;
    clock::sleep_until(clock::now() + MARGIN);
    let (machine, _) = meter.stop_and_read();
    let used = jvm.take_sample().and_then(|after| after.since(&before)).ok_or("the JVM is gone")?;
    let pauses = blame_pauses(&machine, &inside.finish_recording(), Some(&used), Nanos::ZERO);
    Ok((truth_ns, pauses.into_iter().max_by_key(|pause| pause.length_ns)))
}

fn stopped(pid: u32) -> Result<u64, Box<dyn Error>> {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).ok_or("no process")?;
    rustix::process::kill_process(pid, rustix::process::Signal::STOP)?;
    let begun = clock::now();
    clock::sleep_until(begun + PLANTED);
    rustix::process::kill_process(pid, rustix::process::Signal::CONT)?;
    Ok(clock::now().since(begun))
}

/// A process of higher priority takes the server's core, and prints for how long.
fn burnt_by_another(stage: &Stage) -> Result<u64, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let cpu = stage.server_cpu.to_string();
    let milliseconds = PLANTED.as_millis().to_string();
    let mut command = Command::new("chrt");
    command.args(["-f", "50", "taskset", "-c", &cpu]).arg(program).args(["--burn-ms", &milliseconds]);
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// Uses CPU for a time by the clock, and not until a signal: no other process has the core meanwhile, not even the one
/// that would end it. It sleeps first, so that the CPU of its start is a separate pause. Prints how long it used the
/// core.
pub fn burn(milliseconds: u64) {
    clock::sleep_until(clock::now() + MARGIN / 4);
    let begun = clock::now();
    let end = begun + Duration::from_millis(milliseconds);
    while clock::now() < end {
        std::hint::spin_loop();
    }
    println!("{}", clock::now().since(begun));
}
