//! CPU and allocation per request, compared with the planted values and with the figures of the kernel and the JVM.

use std::error::Error;
use std::time::Duration;

use tare_record::ServerCpu;
use tare_sut::probe::cpu::CpuProbe;
use tare_sut::probe::jvm::JvmProbe;
use tare_sut::probe::kind::APPLICATION;
use tare_sut::server::Server;
use tare_sys::procfs::machine::clock_tick_ns;

use crate::stage::{JvmTotals, Stage, jvm_totals, native_totals};
use crate::verdicts::Verdicts;

const PLANTED_NS: u64 = 20_000;
const PLANTED_BYTES: u64 = 10_000;
const JVM_PER_S: f64 = 6_000.0;
const SLICE: Duration = Duration::from_millis(500);
/// Enough requests for the JIT to finish with this server's small loop.
const WARM_UP: Duration = Duration::from_secs(6);

/// A server that uses 20 µs and records how much of its CPU that was. The rest of a request's cost cannot be measured
/// on a server that uses nothing: after 20 µs of work the core is warm, and the rest is cheaper.
pub fn of_a_native_server(stage: &Stage, verdicts: &mut Verdicts) -> Result<(), Box<dyn Error>> {
    verdicts.head("CPU of a native server that burns 20 µs per request");
    let server = stage.native(PLANTED_NS)?;
    let mut probe = CpuProbe::new(server.pid())?;
    let mut session = stage.session(&server)?;
    let (opened, before) = (native_totals(&server)?, probe.take_sample()?);
    stage.one_by_one(&mut session, Duration::from_secs(stage.seconds.into()))?;
    let (said_ns, closed) = (probe.take_sample()?.since(&before).total_ns, native_totals(&server)?);
    let answered = (closed.requests - opened.requests) as f64;
    let beside_ns = (closed.cpu_ns - opened.cpu_ns) - (closed.burnt_ns - opened.burnt_ns);
    let truth_us = (PLANTED_NS as f64 + beside_ns as f64 / answered) / 1e3;
    verdicts.close("CPU per request, 20 µs and what is beside", "µs", truth_us, said_ns as f64 / answered / 1e3, 0.1);
    let whole = probe.take_sample()?.total_ns;
    drop(session);
    check_against_kernel(server, whole, verdicts)
}

/// The kernel's figures of a process and its children after their end, compared with the probe's last sample.
fn check_against_kernel(server: Server, said_ns: u64, verdicts: &mut Verdicts) -> Result<(), Box<dyn Error>> {
    let before_ns = cpu_of_ended_children_ns()?;
    server.stop()?;
    let (truth_s, said_s) = ((cpu_of_ended_children_ns()? - before_ns) as f64 / 1e9, said_ns as f64 / 1e9);
    verdicts.close("CPU of its whole life, by the kernel at its end", "s", truth_s, said_s, truth_s * 0.01);
    Ok(())
}

/// The CPU of all children that have ended, with their own children.
fn cpu_of_ended_children_ns() -> Result<u64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let after_name = stat.rsplit_once(')').ok_or("/proc/self/stat has no name")?.1;
    // Fields 16 and 17 of proc_pid_stat(5), user and system time; the first after the name is field 3.
    let ticks: Vec<u64> = after_name.split_whitespace().skip(13).take(2).map(str::parse).collect::<Result<_, _>>()?;
    Ok(ticks.iter().sum::<u64>() * clock_tick_ns())
}

/// A JVM whose one thread records its own CPU and allocation.
pub fn of_a_jvm(stage: &Stage, verdicts: &mut Verdicts) -> Result<(), Box<dyn Error>> {
    verdicts.head("CPU and allocation of a JVM that burns 20 µs and allocates 10,000 bytes per request");
    let server = stage.jvm(PLANTED_NS / 1000, PLANTED_BYTES, 0, false)?;
    let mut session = stage.session(&server)?;
    stage.drive(&mut session, JVM_PER_S, WARM_UP)?;
    // Makes reading the totals as cheap as possible.
    for _ in 0..300 {
        jvm_totals(&server)?;
    }
    let mut probe = CpuProbe::new(server.pid())?;
    let jvm = JvmProbe::find_counters(server.pid()).ok_or("the JVM keeps no counters")?;
    let (opened, cpu_before) = (jvm_totals(&server)?, probe.take_sample()?);
    let (mut allocated, mut requests) = (0, 0);
    for _ in 0..stage.seconds * 2 {
        let before = jvm.take_sample().ok_or("the JVM is gone")?;
        let sample = stage.drive(&mut session, JVM_PER_S, SLICE)?;
        let used = jvm.take_sample().and_then(|after| after.since(&before)).ok_or("the JVM is gone")?;
        if let Some(bytes) = used.allocated_bytes {
            allocated += bytes;
            requests += sample.completed_in_slice;
        }
    }
    let (cpu, closed) = (probe.take_sample()?.since(&cpu_before), jvm_totals(&server)?);
    check_thread_cpu(&opened, &closed, &cpu, verdicts);
    let answered = closed.requests - opened.requests;
    let truth = (closed.allocated_bytes - opened.allocated_bytes) as f64 / answered as f64;
    let said = allocated as f64 / requests as f64;
    verdicts.close("bytes allocated per request, by its counters", "B", truth, said, (truth * 0.01).max(64.0));
    let whole = probe.take_sample()?.total_ns;
    drop(session);
    check_against_kernel(server, whole, verdicts)
}

fn check_thread_cpu(opened: &JvmTotals, closed: &JvmTotals, cpu: &ServerCpu, verdicts: &mut Verdicts) {
    let answered = (closed.requests - opened.requests) as f64;
    let truth_us = (closed.cpu_ns - opened.cpu_ns) as f64 / answered / 1e3;
    let of_loop = cpu.by_pool.get(APPLICATION).and_then(|pools| pools.get("server-loop")).copied().unwrap_or(0);
    let said_us = of_loop as f64 / answered / 1e3;
    verdicts.close(
        "CPU per request of its thread, by its counters",
        "µs",
        truth_us,
        said_us,
        (truth_us * 0.01).max(0.1),
    );
    let sum: u64 = cpu.by_pool.values().flat_map(|pools| pools.values()).sum();
    let (total_s, sum_s) = (cpu.total_ns as f64 / 1e9, sum as f64 / 1e9);
    verdicts.close("CPU of all kinds of threads together", "s", total_s, sum_s, total_s * 0.01);
}
