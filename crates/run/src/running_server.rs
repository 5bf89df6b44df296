//! A server that runs as a process, with the probes that watch it.

use std::collections::BTreeMap;
use std::path::Path;

use tare_plan::plan::CounterSource;
use tare_sut::probe::cpu::{CpuProbe, CpuSample};
use tare_sut::probe::dotnet::DotnetProbe;
use tare_sut::probe::hiccup::inside::JvmMeter;
use tare_sut::probe::jvm::{JvmProbe, JvmSample};
use tare_sut::probe::memory::{MemorySample, off_heap_bytes};
use tare_sut::probe::told::ToldProbe;
use tare_sut::server::Status;
use tare_sys::procfs::process;

use crate::host::Host;
use crate::server_id::ServerId;

/// The servers of the fork under way.
pub(crate) type RunningServers = BTreeMap<ServerId, RunningServer>;

/// One server that runs, or ran until it died.
pub(crate) struct RunningServer {
    pub host: Host,
    probe: Option<CpuProbe>,
    counters: Option<RuntimeCounters>,
    /// The meter of hiccups in a JVM that was started with one.
    pub meter: Option<JvmMeter>,
    /// Whether the memory outside the heap is to be read after the next scored slice. It is read once per scenario: the
    /// kernel counts a heap's pages one by one, which takes some 10 ms.
    pub off_heap_due: bool,
}

/// Where a runtime keeps its counters.
enum RuntimeCounters {
    Jvm(JvmProbe),
    /// Its processes tell them.
    Told(ToldProbe),
    /// Its processes report them as events.
    Dotnet(DotnetProbe),
}

impl RunningServer {
    /// Finds the probes of a server that has just become ready. Logs and meters lie in `logs`.
    pub fn new(host: Host, counters: Option<CounterSource>, logs: &Path) -> Self {
        // A server that has just died, or runs elsewhere, has no probe: its CPU is absent in the record.
        let probe = host.pid().and_then(|pid| CpuProbe::new(pid).ok());
        let of_jvm = host.pid().and_then(JvmProbe::find_counters).map(RuntimeCounters::Jvm);
        let told = || ToldProbe::find(probe.as_ref()?.processes()).map(RuntimeCounters::Told);
        let dotnet = || DotnetProbe::find(probe.as_ref()?.processes()).map(RuntimeCounters::Dotnet);
        let counters = match counters {
            None => of_jvm,
            Some(CounterSource::Dotnet) => dotnet(),
            Some(CounterSource::Node | CounterSource::Own) => told(),
        };
        let meter = probe.as_ref().and_then(|probe| JvmMeter::find(logs, probe.processes()));
        Self { host, probe, counters, meter, off_heap_due: true }
    }

    /// CPU used so far; `None` where it cannot be read.
    pub fn cpu(&mut self) -> Option<CpuSample> {
        self.probe.as_mut()?.take_sample().ok()
    }

    /// Counters of the JVM or of another runtime; `None` where there are none.
    pub fn jvm(&self) -> Option<JvmSample> {
        match self.counters.as_ref()? {
            RuntimeCounters::Jvm(probe) => probe.take_sample(),
            RuntimeCounters::Told(probe) => probe.take_sample(),
            RuntimeCounters::Dotnet(probe) => probe.take_sample(),
        }
    }

    /// Whether its counters must be read between the turns of a slice. To read a JVM's costs the server nothing. Others
    /// are asked, and have totals.
    pub fn is_jvm(&self) -> bool {
        matches!(self.counters, Some(RuntimeCounters::Jvm(_)))
    }

    /// Memory of all its processes; `None` where they cannot be seen.
    pub fn memory(&self) -> Option<MemorySample> {
        self.probe.as_ref().map(|probe| MemorySample::of_processes(probe.processes()))
    }

    /// Resident memory of its JVM outside a heap of `heap_committed_bytes`.
    pub fn off_heap_bytes(&self, heap_committed_bytes: u64) -> Option<u64> {
        off_heap_bytes(self.host.pid().filter(|_| self.is_jvm())?, heap_committed_bytes)
    }

    /// CPU of all its processes in nanoseconds; `None` where they cannot be seen. A process that has ended uses none.
    pub fn cpu_ns(&self) -> Option<u64> {
        match &self.probe {
            Some(probe) => Some(probe.processes().filter_map(|pid| process::cpu_time_ns(pid).ok()).sum()),
            None => matches!(self.host.status(), Status::Exited(_)).then_some(0),
        }
    }
}
