//! What the probes saw of a cell, over its scored slices.

use std::collections::BTreeMap;

use tare_record::{PauseCause, RuntimeUse, ServerCpu, StoredSlice};
use tare_units::grouped_by;

use crate::cell::level;
use crate::evidence::Evidence;
use crate::summary::{CollectorShare, KindCores, KindShare, PauseTally, PoolShare, Probes, ServerShare};

pub(crate) fn probes(evidence: &Evidence<'_>) -> Probes {
    let runtimes = || evidence.measured().filter_map(|s| s.server.runtime.as_ref());
    let peak = |of: fn(&RuntimeUse) -> Option<u64>| runtimes().filter_map(of).max();
    Probes {
        heap_committed_peak_bytes: peak(|runtime| runtime.heap_committed_bytes),
        heap_after_gc_peak_bytes: peak(|runtime| runtime.heap_after_gc_bytes),
        off_heap_peak_bytes: peak(|runtime| runtime.off_heap_bytes),
        metaspace_peak_bytes: peak(|runtime| runtime.metaspace_bytes),
        collectors: collectors(runtimes()),
        safepoints: runtimes().filter_map(|runtime| runtime.safepoints).reduce(|sum, one| sum + one),
        safepoint_share: level::time_share(evidence.measured(), |runtime| runtime.safepoint_ns),
        pauses: pauses(evidence),
        probe_cpu_share: probe_cpu_share(evidence.measured().filter_map(|s| s.server.cpu.as_ref())),
    }
}

fn collectors<'a>(runtimes: impl Iterator<Item = &'a RuntimeUse>) -> Vec<CollectorShare> {
    let mut sums: BTreeMap<&str, CollectorShare> = BTreeMap::new();
    for (name, of) in runtimes.flat_map(|runtime| &runtime.collectors) {
        let none = || CollectorShare { collector: name.clone(), pauses: 0, pause_ns: 0 };
        let sum = sums.entry(name).or_insert_with(none);
        sum.pauses += of.pauses;
        sum.pause_ns += of.pause_ns;
    }
    sums.into_values().collect()
}

fn pauses(evidence: &Evidence<'_>) -> Vec<PauseTally> {
    let mut tallies: BTreeMap<PauseCause, PauseTally> = BTreeMap::new();
    for pause in evidence.measured().filter_map(|s| s.server.hiccups.as_ref()).flat_map(|hiccups| &hiccups.pauses) {
        let none = PauseTally { cause: pause.cause, pauses: 0, pause_ns: 0, pause_max_ns: 0 };
        let tally = tallies.entry(pause.cause).or_insert(none);
        tally.pauses += 1;
        tally.pause_ns += pause.length_ns;
        tally.pause_max_ns = tally.pause_max_ns.max(pause.length_ns);
    }
    tallies.into_values().collect()
}

/// The cost of observing the server: in it (the agent) and outside it (readings, and the meter on its cores).
fn probe_cpu_share<'a>(slices: impl Iterator<Item = &'a ServerCpu>) -> Option<f64> {
    let probes = |cpu: &ServerCpu| Some(cpu.probing_ns? + cpu.by_kind.get("probe").copied().unwrap_or(0));
    level::quotient(slices.filter_map(|cpu| Some((probes(cpu)?, cpu.total_ns))))
}

/// CPU per request by kind of thread, and within each by pool, over some slices.
pub(crate) fn cpu_by_kind<'a>(slices: impl Iterator<Item = &'a StoredSlice>) -> Vec<KindShare> {
    let mut sums: BTreeMap<&str, (u64, BTreeMap<&str, u64>)> = BTreeMap::new();
    let mut requests = 0;
    for cpu in slices.filter_map(|s| s.server.cpu.as_ref()) {
        requests += cpu.requests;
        cpu.by_kind.iter().for_each(|(kind, ns)| sums.entry(kind).or_default().0 += ns);
        for (kind, pools) in &cpu.by_pool {
            let sum = &mut sums.entry(kind).or_default().1;
            pools.iter().for_each(|(pool, ns)| *sum.entry(pool).or_default() += ns);
        }
    }
    let per_request = |ns: u64| ns as f64 / requests as f64;
    let pool = |(pool, ns): (&str, u64)| PoolShare { pool: pool.to_owned(), ns_per_request: per_request(ns) };
    let kind = |(kind, (ns, pools)): (&str, (u64, BTreeMap<&str, u64>))| KindShare {
        kind: kind.to_owned(),
        ns_per_request: per_request(ns),
        pools: pools.into_iter().map(pool).collect(),
    };
    if requests == 0 { Vec::new() } else { sums.into_iter().map(kind).collect() }
}

/// CPU per request of each server of a chain, over some slices.
pub(crate) fn cpu_by_server<'a>(slices: impl Iterator<Item = &'a StoredSlice>) -> Vec<ServerShare> {
    let cpus: Vec<&ServerCpu> = slices.filter_map(|s| s.server.cpu.as_ref()).collect();
    let requests: u64 = cpus.iter().map(|cpu| cpu.requests).sum();
    let sums = grouped_by(cpus.iter().flat_map(|cpu| &cpu.by_server).map(|(server, ns)| (server, *ns)));
    let share = |(server, ns): (&String, Vec<u64>)| ServerShare {
        server: server.clone(),
        ns_per_request: ns.iter().sum::<u64>() as f64 / requests as f64,
    };
    if requests == 0 { Vec::new() } else { sums.into_iter().map(share).collect() }
}

pub(crate) fn cores_by_kind(slice: &StoredSlice) -> Vec<KindCores> {
    let (Some(cpu), Some(loaded_ns)) = (&slice.server.cpu, level::loaded_ns(slice).filter(|ns| *ns > 0)) else {
        return Vec::new();
    };
    let cores = |(kind, ns): (&String, &u64)| KindCores {
        kind: kind.clone(),
        // More than six digits are noise, and would fill the JSON.
        cores: (*ns as f64 / loaded_ns as f64 * 1e4).round() / 1e4,
    };
    cpu.by_kind.iter().filter(|(_, ns)| **ns > 0).map(cores).collect()
}
