//! What the probes see of one server while one slice of load runs: read before, read after, and the difference kept.

use std::collections::BTreeMap;

use tare_load::SliceSample;
use tare_plan::plan::Plan;
use tare_record::sample::{CollectorUse, Hiccups, JvmUse, Pause, Phase, ServerCpu, ServerUse};
use tare_stats::histogram::LatencyHistogram;
use tare_sut::probe::cpu::{CpuSample, CpuUse, ThreadUse};
use tare_sut::probe::hiccup::{Delay, Meter, Suspects, blame};
use tare_sut::probe::jvm::{self, JvmSample};
use tare_sut::probe::memory::MemorySample;
use tare_sys::clock::{self, Nanos};

use crate::fleet::Fleet;
use crate::journal::Journal;
use crate::others::Others;

/// The readings at the beginning of a slice, and the meters that run meanwhile.
pub(crate) struct Watch {
    cpu: Option<CpuSample>,
    jvm: Option<JvmSample>,
    meter: Option<Meter>,
    others: Option<Others>,
    /// CPU that the readings took so far.
    probing_ns: u64,
    phase: Phase,
}

impl Watch {
    /// Reads the probes of a server that is about to get its load, and starts the meters where the plan asks for them.
    pub fn begin(fleet: &mut Fleet<'_>, member: usize, phase: Phase, plan: &Plan) -> Self {
        let begun = clock::thread_cpu_ns();
        let others = Others::begin(&fleet.members, plan);
        let mut watch = Self { cpu: None, jvm: None, meter: None, others, probing_ns: 0, phase };
        let member = &mut fleet.members[member];
        if plan.probes.hiccups && phase == Phase::Measure {
            // Without a thread to spare there is no meter, and its absence is in the record.
            watch.meter = plan.machine.server_cpus.parse().ok().and_then(|cpus| Meter::start(cpus).ok());
            if let Some(inside) = &mut member.meter {
                inside.start();
            }
        }
        watch.cpu = member.cpu();
        watch.jvm = member.jvm();
        watch.probing_ns = clock::thread_cpu_ns() - begun;
        watch
    }

    /// Reads them again once the last answer has come, and ends the meters.
    pub fn end(self, fleet: &mut Fleet<'_>, member: usize, sample: &SliceSample, journal: &Journal<'_>) -> ServerUse {
        let begun = clock::thread_cpu_ns();
        let others_share = self.others.and_then(|others| others.share(&fleet.members));
        let member = &mut fleet.members[member];
        let mut probing_ns = self.probing_ns;
        let cpu = self.cpu.zip(member.cpu()).map(|(before, after)| server_cpu(after.since(&before), sample));
        let used = self.jvm.zip(member.jvm()).map(|(before, after)| after.since(&before));
        let hiccups = self.meter.map(|meter| {
            let (outside, metering_ns) = meter.finish();
            probing_ns += metering_ns;
            let outside = scored(outside, sample);
            let inside = member.meter.as_mut().map(|inside| scored(inside.finish(), sample));
            hiccups(&outside, inside.as_deref(), used.as_ref(), journal)
        });
        let memory = member.probe.as_ref().map(|probe| MemorySample::of(probe.processes()));
        let mut jvm = used.map(|used| jvm_use(used, sample));
        if self.phase != Phase::Measure {
            member.off_heap_due = true;
        } else if let Some(jvm) = jvm.as_mut().filter(|_| std::mem::take(&mut member.off_heap_due)) {
            jvm.off_heap_bytes = member.off_heap_bytes(jvm.heap_committed_bytes);
        }
        probing_ns += clock::thread_cpu_ns() - begun;
        let cpu = cpu.map(|cpu| ServerCpu { probing_ns: Some(probing_ns), ..cpu });
        ServerUse {
            cpu,
            rss_bytes: memory.map(|memory| memory.rss_bytes),
            rss_peak_bytes: memory.map(|memory| memory.peak_rss_bytes),
            jvm,
            hiccups,
            others_share,
        }
    }
}

fn server_cpu(used: CpuUse, sample: &SliceSample) -> ServerCpu {
    ServerCpu {
        wall_ns: used.wall_ns,
        total_ns: used.total_ns,
        by_kind: used.by_pool.keys().map(|kind| ((*kind).to_owned(), used.of_kind(kind).cpu_ns)).collect(),
        by_pool: used.by_pool.into_iter().map(|(kind, pools)| (kind.to_owned(), cpu_of(pools))).collect(),
        probing_ns: None,
        requests: sample.completed_in_slice,
    }
}

fn cpu_of(pools: BTreeMap<String, ThreadUse>) -> BTreeMap<String, u64> {
    pools.into_iter().map(|(pool, used)| (pool, used.cpu_ns)).collect()
}

/// Bodies from this size on are held in objects that the JVM may allocate where they cannot be counted.
const HUGE_BODY_BYTES: u64 = 256 * 1024;

fn jvm_use(used: jvm::JvmUse, sample: &SliceSample) -> JvmUse {
    let is_huge = sample.bytes_in + sample.bytes_out > HUGE_BODY_BYTES * sample.completed.max(1);
    JvmUse {
        collections: used.collections,
        collecting_ns: used.collecting_ns,
        collectors: used.collectors.into_iter().map(|(name, of)| (name, collector_use(of))).collect(),
        safepoint_ns: used.safepoint_ns,
        safepoints: Some(used.safepoints),
        allocated_bytes: used.allocated_bytes.filter(|_| !is_huge),
        heap_used_bytes: used.heap_used_bytes,
        heap_committed_bytes: used.heap_committed_bytes,
        heap_after_gc_bytes: used.heap_after_gc_bytes,
        metaspace_bytes: used.metaspace_bytes,
        off_heap_bytes: None,
        requests: sample.completed_in_slice,
    }
}

fn collector_use(of: jvm::Collector) -> CollectorUse {
    CollectorUse { pauses: of.pauses, pause_ns: of.pause_ns }
}

/// The delays whose deadline was in the window or its drain.
fn scored(mut delays: Vec<Delay>, sample: &SliceSample) -> Vec<Delay> {
    let begin = Nanos(sample.start_ns + sample.discarded_head_ns);
    delays.retain(|delay| delay.due >= begin);
    delays
}

fn hiccups(outside: &[Delay], inside: Option<&[Delay]>, jvm: Option<&jvm::JvmUse>, journal: &Journal<'_>) -> Hiccups {
    let suspects = jvm.map_or_else(Suspects::default, |jvm| Suspects {
        collecting_ns: jvm.collecting_ns,
        safepoint_ns: jvm.safepoint_ns,
    });
    let pauses = blame(outside, inside.unwrap_or_default(), suspects).into_iter().map(|pause| Pause {
        at_ns: journal.since_begin_ns(pause.begin.0),
        length_ns: pause.length_ns,
        cause: pause.cause,
    });
    Hiccups { machine: histogram(outside), jvm: inside.map(histogram), pauses: pauses.collect() }
}

fn histogram(delays: &[Delay]) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    delays.iter().for_each(|delay| histogram.record_ns(delay.late_ns));
    histogram
}
