//! The columns of `slices.csv`. docs/METRICS.md has the unit, the meaning and the source of each.

use tare_record::{RuntimeUse, ServerCpu, StoredSlice};

use super::{counts, maybe, word};
use crate::clean::escape_csv;

type SliceColumn = (&'static str, fn(&StoredSlice) -> String);

pub(super) const COLUMNS: &[SliceColumn] = &[
    ("fork", |s| s.key.fork.to_string()),
    ("group", |s| escape_csv(&s.key.group)),
    ("scenario", |s| escape_csv(&s.key.scenario)),
    ("variant", |s| escape_csv(&s.key.variant)),
    ("phase", |s| word(&s.key.phase)),
    ("slice_kind", |s| s.key.kind.name().to_owned()),
    ("round", |s| s.key.round.to_string()),
    ("start_ns", |s| s.load.window_start_ns().to_string()),
    ("window_ns", |s| s.load.window_ns.to_string()),
    ("users", |s| s.key.users.to_string()),
    ("offered_per_s", |s| maybe(s.key.offered_per_s)),
    ("completed", |s| s.load.completed.to_string()),
    ("ok", |s| s.load.ok.to_string()),
    ("failed", |s| s.load.failed.to_string()),
    ("errors", |s| escape_csv(&counts(s.load.errors.iter().map(|(class, e)| (class, e.count))))),
    ("connection_events", |s| escape_csv(&counts(s.load.connection_events.iter().map(|(class, e)| (class, e.count))))),
    ("bytes_in", |s| s.load.bytes_in.to_string()),
    ("bytes_out", |s| s.load.bytes_out.to_string()),
    ("response_p50_ns", |s| maybe(s.load.response.unpack().value_at_quantile_ns(0.5))),
    ("response_max_ns", |s| maybe(s.load.response.unpack().max_ns())),
    ("blocked", |s| s.load.blocked.to_string()),
    ("blocked_ns", |s| s.load.blocked_ns.to_string()),
    ("connections_opened", |s| s.load.connections_opened.to_string()),
    ("connections_lost", |s| s.load.connections_lost.to_string()),
    ("tls_handshakes", |s| s.load.tls_handshakes.to_string()),
    ("tls_resumed", |s| s.load.tls_resumed.to_string()),
    ("generator_cpu_ns", |s| s.load.generator_cpu_ns.to_string()),
    ("others_share", |s| maybe(s.server.others_share)),
    ("generator_spin_ns", |s| s.load.generator_spin_ns.to_string()),
    ("stamp_lag_p50_ns", |s| stamped(s, 0.5)),
    ("stamp_lag_p99_ns", |s| stamped(s, 0.99)),
    ("generator_workers", |s| s.load.workers.to_string()),
    ("server_cpu_ns", |s| of_cpu(s, |c| c.total_ns)),
    ("server_cpu_wall_ns", |s| of_cpu(s, |c| c.wall_ns)),
    ("server_cpu_requests", |s| of_cpu(s, |c| c.requests)),
    ("server_jit_cpu_ns", |s| of_threads(s, "jit")),
    ("server_gc_cpu_ns", |s| of_threads(s, "gc")),
    ("rss_bytes", |s| maybe(s.server.rss_bytes)),
    ("rss_peak_bytes", |s| maybe(s.server.rss_peak_bytes)),
    ("server_vm_cpu_ns", |s| of_threads(s, "vm")),
    ("gc_pause_count", |s| of_runtime(s, |r| r.collections)),
    ("gc_pause_ns", |s| of_runtime(s, |r| r.collecting_ns)),
    ("safepoint_ns", |s| of_runtime(s, |r| r.safepoint_ns)),
    ("allocated_bytes", |s| of_runtime(s, |r| r.allocated_bytes)),
    ("heap_used_bytes", |s| of_runtime(s, |r| r.heap_used_bytes)),
    ("heap_committed_bytes", |s| of_runtime(s, |r| r.heap_committed_bytes)),
    ("heap_after_gc_bytes", |s| of_runtime(s, |r| r.heap_after_gc_bytes)),
    ("metaspace_bytes", |s| of_runtime(s, |r| r.metaspace_bytes)),
    ("off_heap_bytes", |s| of_runtime(s, |r| r.off_heap_bytes)),
    ("machine_hiccup_longest_ns", |s| maybe(s.server.hiccups.as_ref().and_then(|h| h.machine.unpack().max_ns()))),
    ("jvm_hiccup_longest_ns", |s| maybe(s.server.hiccups.as_ref().and_then(|h| h.jvm.as_ref()?.unpack().max_ns()))),
    ("context_switches", |s| maybe(s.server.cpu.as_ref().and_then(ServerCpu::context_switches))),
    ("compiler_share", |s| maybe(s.server.cpu.as_ref().and_then(ServerCpu::compiler_share))),
    ("compiles", |s| of_runtime(s, |r| r.compiles)),
    ("probing_cpu_ns", |s| maybe(s.server.cpu.as_ref().and_then(|cpu| cpu.probing_ns))),
];

fn of_cpu(slice: &StoredSlice, figure: fn(&ServerCpu) -> u64) -> String {
    maybe(slice.server.cpu.as_ref().map(figure))
}

fn of_threads(slice: &StoredSlice, kind: &str) -> String {
    maybe(slice.server.cpu.as_ref().and_then(|cpu| cpu.by_kind.get(kind).copied()))
}

fn of_runtime(slice: &StoredSlice, figure: fn(&RuntimeUse) -> Option<u64>) -> String {
    maybe(slice.server.runtime.as_ref().and_then(figure))
}

fn stamped(slice: &StoredSlice, quantile: f64) -> String {
    maybe(slice.load.stamp_lag.unpack().value_at_quantile_ns(quantile))
}
