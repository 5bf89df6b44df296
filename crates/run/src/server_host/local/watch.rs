//! Probes over a span of load: they are read before and after it, and the difference is kept.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tare_record::{Hiccups, KnownStops, PackedHistogram, Phase, RuntimeUse, ServerCpu, ServerUse};
use tare_stats::histogram::LatencyHistogram;
use tare_sut::probe::cpu::CpuSample;
use tare_sut::probe::hiccup::{Delay, Meter, blame_pauses};
use tare_sut::probe::runtime::RuntimeSample;
use tare_sys::affinity::CpuSet;
use tare_sys::clock::{self, Nanos};

use crate::server_host::ServerId;
use crate::server_host::local::other_programs::OtherPrograms;
use crate::server_host::local::running_server::{RunningServer, RunningServers};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchOrder {
    pub servers: Vec<ServerId>,
    pub phase: Phase,
    /// The cores on which hiccups are metered, if they are.
    pub meter_cpus: Option<CpuSet>,
    /// The cores on which the work of other programs is counted.
    pub counted_cpus: CpuSet,
}

/// The readings at the beginning of a span, and the meters that run meanwhile.
pub(crate) struct Watch {
    begun: Nanos,
    watched: Vec<FirstReadings>,
    meter: Option<Meter>,
    others: Option<OtherPrograms>,
    probing_ns: u64,
    phase: Phase,
}

struct FirstReadings {
    server: ServerId,
    cpu: Option<Vec<CpuSample>>,
    /// `None` where it is not known.
    runtime: Option<RuntimeTotal>,
}

/// The first and the last reading of a runtime's counters, and what it allocated from each to the next.
struct RuntimeTotal {
    first: RuntimeSample,
    last: RuntimeSample,
    allocated_bytes: Option<u64>,
}

impl RuntimeTotal {
    fn begin(first: RuntimeSample) -> Self {
        Self { last: first.clone(), first, allocated_bytes: Some(0) }
    }

    /// `None` where the reading failed, or a process started or ended: a sum of only some spans would be divided by all
    /// answers.
    fn with_reading(self, now: Option<RuntimeSample>) -> Option<Self> {
        let now = now?;
        let allocated = now.since(&self.last)?.allocated_bytes;
        let allocated_bytes = self.allocated_bytes.zip(allocated).map(|(sum, more)| sum + more);
        Some(Self { last: now, allocated_bytes, ..self })
    }

    /// What it did from the first reading to the last.
    fn sum(self) -> Option<RuntimeUse> {
        let used = self.last.since(&self.first)?;
        Some(RuntimeUse { allocated_bytes: self.allocated_bytes, ..used })
    }
}

impl Watch {
    /// Reads the probes of the servers, and starts the meters where they are asked for.
    pub fn begin(servers: &mut RunningServers, order: &WatchOrder) -> Self {
        let (begun, cpu_ns) = (clock::now(), clock::thread_cpu_ns());
        let WatchOrder { servers: watched, phase, .. } = order;
        let counted = Some(order.counted_cpus.clone()).filter(|cpus| !cpus.is_empty());
        let others = counted.and_then(|cpus| OtherPrograms::begin(servers, cpus));
        let mut watch = Self { begun, watched: Vec::new(), meter: None, others, probing_ns: 0, phase: *phase };
        if let Some(cpus) = order.meter_cpus.as_ref().filter(|_| *phase == Phase::Measure) {
            // If no thread can be started, there is no meter, and the record has no hiccups.
            watch.meter = Meter::start(cpus.clone()).ok();
            for id in watched {
                if let Some(inside) = servers.get_mut(id).and_then(|server| server.meter.as_mut()) {
                    inside.start_recording();
                }
            }
        }
        for id in watched {
            let Some(server) = servers.get_mut(id) else { continue };
            // Read before the CPU, because reading the counters of a runtime costs it CPU.
            let runtime = server.runtime().map(RuntimeTotal::begin);
            watch.watched.push(FirstReadings { server: *id, cpu: server.cpu(), runtime });
        }
        watch.probing_ns = clock::thread_cpu_ns() - cpu_ns;
        watch
    }

    /// Reads the counters of one server's JVM after a turn of load. Allocation is known only if at most one young collection
    /// happened between two readings.
    pub fn look_at_jvm(&mut self, id: ServerId, servers: &mut RunningServers) {
        let begun = clock::thread_cpu_ns();
        let watched = self.watched.iter_mut().find(|before| before.server == id);
        if let Some((before, server)) = watched.zip(servers.get_mut(&id).filter(|server| server.is_jvm())) {
            let now = server.runtime();
            before.runtime = before.runtime.take().and_then(|total| total.with_reading(now));
        }
        self.probing_ns += clock::thread_cpu_ns() - begun;
    }

    /// Reads the probes again and ends the meters. Hiccups before `scored_from_ns` are left out. That time and those of pauses
    /// count from the begin of the watch.
    pub fn end(self, servers: &mut RunningServers, scored_from_ns: u64) -> Vec<ServerUse> {
        let begun = clock::thread_cpu_ns();
        let mut probing_ns = self.probing_ns;
        let used: Vec<_> = self
            .watched
            .into_iter()
            .map(|before| {
                let server = servers.get_mut(&before.server);
                let (cpu, runtime) = server.map_or((None, None), |server| (server.cpu(), server.runtime()));
                let runtime = before.runtime.and_then(|total| total.with_reading(runtime)?.sum());
                (before.server, before.cpu.zip(cpu), runtime)
            })
            .collect();
        // After the CPU is read: processes that are new since then are found there.
        let others_share = self.others.as_ref().and_then(|others| others.share(servers));
        let scored_from = self.begun + Duration::from_nanos(scored_from_ns);
        let outside = self.meter.map(|meter| {
            let (delays, metering_ns) = meter.stop_and_read();
            probing_ns += metering_ns;
            scored_delays(delays, scored_from)
        });
        let mut all: Vec<ServerUse> = used
            .into_iter()
            .map(|(id, cpu, runtime)| {
                let known = ServerUse { others_share, ..ServerUse::default() };
                let Some(server) = servers.get_mut(&id) else { return known };
                let cpu = cpu.map(|(before, after)| server_cpu(&before, &after, server.names()));
                let hiccups = outside.as_ref().map(|outside| {
                    let inside = server.meter.as_mut();
                    let inside = inside.map(|inside| scored_delays(inside.finish_recording(), scored_from));
                    let pauses =
                        blame_pauses(outside, inside.as_deref().unwrap_or_default(), runtime.as_ref(), self.begun);
                    Hiccups { machine: histogram(outside), jvm: inside.as_deref().map(histogram), pauses }
                });
                server_use(ServerUse { cpu, hiccups, ..known }, runtime, server, self.phase)
            })
            .collect();
        probing_ns += clock::thread_cpu_ns() - begun;
        let share_ns = probing_ns / all.len().max(1) as u64;
        all.iter_mut().filter_map(|one| one.cpu.as_mut()).for_each(|cpu| cpu.probing_ns = Some(share_ns));
        all
    }
}

fn server_use(
    known: ServerUse,
    mut runtime: Option<RuntimeUse>,
    server: &mut RunningServer,
    phase: Phase,
) -> ServerUse {
    if phase != Phase::Measure {
        server.off_heap_due = true;
    } else if let Some(runtime) = runtime.as_mut().filter(|_| std::mem::take(&mut server.off_heap_due)) {
        runtime.off_heap_bytes = runtime.heap_committed_bytes.and_then(|heap| server.off_heap_bytes(heap));
    }
    let memory = server.memory();
    let stops = if phase == Phase::Measure { server.take_stops() } else { KnownStops::Untold };
    ServerUse {
        runtime,
        stops,
        rss_bytes: memory.map(|memory| memory.rss_bytes),
        rss_peak_bytes: memory.map(|memory| memory.peak_rss_bytes),
        ..known
    }
}

/// The use of a server and of those behind it, between two samples of each.
fn server_cpu<'a>(before: &[CpuSample], after: &[CpuSample], names: impl Iterator<Item = &'a str>) -> ServerCpu {
    let share =
        |(name, (before, after)): (&str, (&CpuSample, &CpuSample))| (name.to_owned(), after.since(before).serving_ns());
    let shares = names.zip(before.iter().zip(after)).map(share);
    let by_server = if after.len() > 1 { shares.collect() } else { Vec::new() };
    ServerCpu { by_server, ..CpuSample::sum(after).since(&CpuSample::sum(before)) }
}

/// The delays whose deadline was not before `scored_from`.
fn scored_delays(mut delays: Vec<Delay>, scored_from: Nanos) -> Vec<Delay> {
    delays.retain(|delay| delay.due >= scored_from);
    delays
}

fn histogram(delays: &[Delay]) -> PackedHistogram {
    let mut histogram = LatencyHistogram::new();
    delays.iter().for_each(|delay| histogram.record_ns(delay.late_ns));
    PackedHistogram::from(&histogram)
}

#[cfg(test)]
mod tests {
    use tare_sys::procfs::process::SchedStat;

    use super::*;

    #[test]
    fn the_cpu_of_a_proxy_is_that_of_all_its_servers_and_each_share_is_kept() {
        let used = |kind: &'static str, ns| {
            let stat = SchedStat { cpu_ns: ns, ..SchedStat::default() };
            ((kind, "pool".to_owned()), stat)
        };
        let proxy = CpuSample { at_ns: 100, total_ns: 30, by_pool: [used("application", 30)].into() };
        let app = CpuSample { at_ns: 101, total_ns: 12, by_pool: [used("application", 8), used("jit", 4)].into() };
        let before = [CpuSample::default(), CpuSample::default()];
        let both = server_cpu(&before, &[proxy.clone(), app], ["nginx", "app"].into_iter());
        assert_eq!((both.total_ns, both.by_kind["application"], both.serving_ns()), (42, 38, 38));
        assert_eq!(both.by_server, [("nginx".to_owned(), 30), ("app".to_owned(), 8)], "without the compiler");
        assert!(server_cpu(&before[..1], &[proxy], ["nginx"].into_iter()).by_server.is_empty(), "it has no shares");
    }

    /// Counters of these processes that have allocated some bytes.
    fn counters(allocated_bytes: u64, processes: &[u32]) -> Option<RuntimeSample> {
        let mut counters = RuntimeSample::default();
        counters.processes.extend(processes);
        counters.so_far.allocated_bytes = Some(allocated_bytes);
        Some(counters)
    }

    fn allocated(looks: &[Option<RuntimeSample>]) -> Option<u64> {
        let first = looks[0].clone().map(RuntimeTotal::begin)?;
        looks[1..].iter().try_fold(first, |total, now| total.with_reading(now.clone()))?.sum()?.allocated_bytes
    }

    #[test]
    fn what_was_done_between_the_looks_is_added_up() {
        let looks = [10, 30, 35, 100].map(|bytes| counters(bytes, &[1]));
        assert_eq!(allocated(&looks), Some(90));
    }

    #[test]
    fn after_a_look_that_failed_the_sum_is_unknown() {
        let look = |bytes| counters(bytes, &[1]);
        for looks in
            [[None, look(1), look(2), look(3)], [look(1), None, look(2), look(3)], [look(1), look(2), look(3), None]]
        {
            assert_eq!(allocated(&looks), None, "{looks:?}");
        }
    }

    #[test]
    fn while_processes_come_and_end_the_sum_is_unknown() {
        let looks = [counters(1, &[1]), counters(5, &[1, 2]), counters(9, &[1, 2])];
        assert_eq!(allocated(&looks), None);
    }
}
