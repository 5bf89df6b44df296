//! Metrics of the probes: of a cell, and raw of a slice.

use tare_record::StoredSlice;
use tare_record::{RuntimeUse, ServerCpu};

use super::{CellRow, Metric, cell, maybe, slice};
use crate::clean::escape_csv;
use tare_analysis::summary::Distribution;

const PROC: &str = "/proc/PID/task/*/schedstat, by name of thread";
const JVM: &str = "hsperfdata";
/// A JVM's hsperfdata, or what another runtime tells.
const RUNTIME: &str = "the runtime's counters";
const ENDS: &str = "the runtime's counters, ends of scored slices";
const METERS: &str = "meters of hiccups, where the plan has them";

pub(super) const OF_CELLS: &[Metric] = &[
    cell("cpu_by_pool", "text", "CPU in ns per request by kind and pool of threads: `gc/GC Thread=120`", PROC, |r| {
        escape_csv(&cpu_by_pool(r))
    }),
    cell("heap_committed_peak_bytes", "B", "largest heap that the runtime had taken from the system", ENDS, |r| {
        maybe(r.cell.probes.heap_committed_peak_bytes)
    }),
    cell("heap_after_gc_peak_bytes", "B", "most that a collection of a JVM left in use (G1)", ENDS, |r| {
        maybe(r.cell.probes.heap_after_gc_peak_bytes)
    }),
    cell("off_heap_peak_bytes", "B", "largest resident memory of a JVM beside its heap", "/proc/PID/smaps", |r| {
        maybe(r.cell.probes.off_heap_peak_bytes)
    }),
    cell("metaspace_peak_bytes", "B", "largest memory of a JVM for classes", ENDS, |r| {
        maybe(r.cell.probes.metaspace_peak_bytes)
    }),
    cell(
        "collectors",
        "text",
        "stop-the-world pauses of the runtime by collector, with their time in ns",
        RUNTIME,
        |r| escape_csv(&collectors(r)),
    ),
    cell("safepoints", "count", "stops of all threads of a JVM for any reason", JVM, |r| {
        maybe(r.cell.probes.safepoints)
    }),
    cell("safepoint_share", "1", "share of time in these stops, collections included", JVM, |r| {
        maybe(r.cell.probes.safepoint_share)
    }),
    cell("machine_hiccup_p99_ns", "ns", "99th percentile of hiccups on the server's cores", METERS, |r| {
        p99(machine(r))
    }),
    cell("machine_hiccup_max_ns", "ns", "largest hiccup on the server's cores", METERS, |r| {
        maybe(machine(r).and_then(|d| d.max_ns))
    }),
    cell("jvm_hiccup_p99_ns", "ns", "99th percentile of hiccups inside the JVM", METERS, |r| p99(jvm(r))),
    cell("jvm_hiccup_max_ns", "ns", "largest hiccup inside the JVM", METERS, |r| maybe(jvm(r).and_then(|d| d.max_ns))),
    cell("pause_causes", "text", "pauses of 5 ms or more by cause, with their time in ns", METERS, |r| {
        escape_csv(&pauses(r))
    }),
    cell("probe_cpu_share", "1", "CPU of all probes as a share of the server's own", "thread clocks", |r| {
        maybe(r.cell.probes.probe_cpu_share)
    }),
];

pub(super) const OF_SLICES: &[Metric] = &[
    slice("server_vm_cpu_ns", "ns", "of the server's CPU, other threads of the JVM itself", PROC, |s| {
        super::slices::of_threads(s, "vm")
    }),
    slice("gc_pause_count", "count", "stop-the-world collections of the runtime", RUNTIME, |s| {
        of_runtime(s, |r| r.collections)
    }),
    slice("gc_pause_ns", "ns", "time in these", RUNTIME, |s| of_runtime(s, |r| r.collecting_ns)),
    slice("safepoint_ns", "ns", "time in stops of all threads of a JVM, collections included", JVM, |s| {
        of_runtime(s, |r| r.safepoint_ns)
    }),
    slice("allocated_bytes", "B", "bytes that the runtime allocated", RUNTIME, |s| {
        of_runtime(s, |r| r.allocated_bytes)
    }),
    slice("heap_used_bytes", "B", "heap in use at the end, garbage included", RUNTIME, |s| {
        of_runtime(s, |r| r.heap_used_bytes)
    }),
    slice("heap_committed_bytes", "B", "heap taken from the system at the end", RUNTIME, |s| {
        of_runtime(s, |r| r.heap_committed_bytes)
    }),
    slice("heap_after_gc_bytes", "B", "heap that the last collection left in use (G1)", JVM, |s| {
        of_runtime(s, |r| r.heap_after_gc_bytes)
    }),
    slice("metaspace_bytes", "B", "memory for classes at the last collection", JVM, |s| {
        of_runtime(s, |r| r.metaspace_bytes)
    }),
    slice("off_heap_bytes", "B", "resident beside the heap, after the first scored slice", "/proc/PID/smaps", |s| {
        of_runtime(s, |r| r.off_heap_bytes)
    }),
    slice("machine_hiccup_longest_ns", "ns", "largest hiccup on the server's cores", METERS, |s| {
        maybe(s.server.hiccups.as_ref().and_then(|h| h.machine.unpack().max_ns()))
    }),
    slice("jvm_hiccup_longest_ns", "ns", "largest hiccup inside the JVM", METERS, |s| {
        maybe(s.server.hiccups.as_ref().and_then(|h| h.jvm.as_ref()?.unpack().max_ns()))
    }),
    slice("context_switches", "count", "times that a thread of the server was put on a CPU", PROC, |s| {
        maybe(s.server.cpu.as_ref().and_then(ServerCpu::context_switches))
    }),
    slice("compiler_share", "1", "CPU and waiting of a JVM's compiler threads, over time", PROC, |s| {
        maybe(s.server.cpu.as_ref().and_then(ServerCpu::compiler_share))
    }),
    slice("compiles", "count", "methods that a JVM compiled, at any tier", JVM, |s| of_runtime(s, |r| r.compiles)),
    slice("probing_cpu_ns", "ns", "CPU of the probes outside the server", "thread clocks", |s| {
        maybe(s.server.cpu.as_ref().and_then(|cpu| cpu.probing_ns))
    }),
];

fn of_runtime(slice: &StoredSlice, figure: fn(&RuntimeUse) -> Option<u64>) -> String {
    maybe(slice.server.runtime.as_ref().and_then(figure))
}

fn cpu_by_pool(row: &CellRow<'_>) -> String {
    let of_kind = row.cell.cpu_by_kind.iter().flat_map(|kind| kind.pools.iter().map(move |pool| (&kind.kind, pool)));
    joined(of_kind.map(|(kind, pool)| format!("{kind}/{}={:.0}", pool.pool, pool.ns_per_request)))
}

fn collectors(row: &CellRow<'_>) -> String {
    joined(row.cell.probes.collectors.iter().map(|c| format!("{}={}:{}", c.collector, c.pauses, c.pause_ns)))
}

fn pauses(row: &CellRow<'_>) -> String {
    joined(row.cell.probes.pauses.iter().map(|p| format!("{}={}:{}", p.cause.name(), p.pauses, p.pause_ns)))
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("; ")
}

fn machine<'a>(row: &CellRow<'a>) -> Option<&'a Distribution> {
    row.cell.shown_latency()?.machine_hiccups.as_ref()
}

fn jvm<'a>(row: &CellRow<'a>) -> Option<&'a Distribution> {
    row.cell.shown_latency()?.jvm_hiccups.as_ref()
}

fn p99(distribution: Option<&Distribution>) -> String {
    super::cells::percentile(distribution, 99.0)
}
