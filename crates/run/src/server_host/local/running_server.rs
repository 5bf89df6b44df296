//! A server that runs as a process, with the probes that watch it.

use std::collections::BTreeMap;
use std::path::Path;

use tare_plan::plan::CounterSource;
use tare_record::{IdleSpan, KnownStops};
use tare_sut::probe::counter_socket;
use tare_sut::probe::cpu::{CpuProbe, CpuSample};
use tare_sut::probe::hiccup::inside::JvmMeter;
use tare_sut::probe::jvm::JvmProbe;
use tare_sut::probe::jvm::stops::StopLog;
use tare_sut::probe::memory::{memory_of_processes, off_heap_bytes};
use tare_sut::probe::runtime::RuntimeSample;
use tare_sut::server::Status;
use tare_sys::procfs::process::{self, Memory};

use crate::server_host::local::live_server::LiveServer;
use crate::server_host::local::server_id::ServerId;

/// The servers of the fork under way.
pub(crate) type RunningServers = BTreeMap<ServerId, RunningServer>;

/// One server that runs, or ran until it died.
pub(crate) struct RunningServer {
    pub live: LiveServer,
    cpu_probe: Option<CpuProbe>,
    runtime_probe: Option<RuntimeProbe>,
    /// The meter of hiccups in a JVM that was started with one.
    pub meter: Option<JvmMeter>,
    /// The log of the stops of a JVM that was started with one.
    stop_log: Option<StopLog>,
    /// The stops that its runtime told with its last counters.
    told_stops: Option<Vec<IdleSpan>>,
    /// Whether the memory outside the heap is to be read after the next scored slice. It is read once per scenario: the
    /// kernel counts a heap's pages one by one, which takes some 10 ms.
    pub off_heap_due: bool,
}

/// How the counters of a runtime are read.
enum RuntimeProbe {
    Jvm(JvmProbe),
    /// Its processes send them over a socket.
    CounterSocket,
}

impl RuntimeProbe {
    /// How those of the runtime of these processes are read. A JVM may run behind a script that started it.
    fn find(processes: &mut CpuProbe, source: Option<CounterSource>) -> Option<Self> {
        match source {
            None => processes.processes().find_map(JvmProbe::find_counters).map(Self::Jvm),
            Some(CounterSource::Node | CounterSource::Own) => Some(Self::CounterSocket),
        }
    }
}

impl RunningServer {
    /// Finds the probes of a server that has just become ready. Logs and meters lie in `logs`.
    pub fn new(live: LiveServer, counters: Option<CounterSource>, logs: &Path) -> Self {
        // A server that has just died, or runs elsewhere, has no probe: its CPU is absent in the record.
        let mut cpu_probe = live.pid().and_then(|pid| CpuProbe::new(pid).ok());
        let runtime_probe = cpu_probe.as_mut().and_then(|probe| RuntimeProbe::find(probe, counters));
        let meter = cpu_probe.as_ref().and_then(|probe| JvmMeter::find(logs, probe.processes()));
        let stop_log = cpu_probe.as_ref().and_then(|probe| StopLog::find(logs, probe.processes()));
        Self { live, cpu_probe, runtime_probe, meter, stop_log, told_stops: None, off_heap_due: true }
    }

    /// CPU used so far; `None` where it cannot be read.
    pub fn cpu(&mut self) -> Option<CpuSample> {
        self.cpu_probe.as_mut()?.take_sample().ok()
    }

    /// Counters of its runtime; `None` where there are none.
    pub fn runtime(&mut self) -> Option<RuntimeSample> {
        let mut sample = match self.runtime_probe.as_mut()? {
            RuntimeProbe::Jvm(probe) => probe.take_sample(),
            // A server with several processes may start or end one at any time.
            RuntimeProbe::CounterSocket => counter_socket::take_sample(self.cpu_probe.as_mut()?.find_living()),
        };
        self.told_stops = sample.as_mut().and_then(|sample| sample.stops.take());
        sample
    }

    /// Its stops that ended since the last call, as far as they are known.
    pub fn take_stops(&mut self) -> KnownStops {
        match self.stop_log.as_mut().map(StopLog::take_stops) {
            None => self.told_stops.take().map_or(KnownStops::Untold, KnownStops::Spans),
            Some(None) => KnownStops::Unreadable,
            Some(Some(stops)) => KnownStops::Spans(stops),
        }
    }

    /// Whether its counters must be read between the turns of a slice. Reading a JVM's costs the server nothing. Other runtimes
    /// are asked, and report totals.
    pub fn is_jvm(&self) -> bool {
        matches!(self.runtime_probe, Some(RuntimeProbe::Jvm(_)))
    }

    /// Memory of all its processes; `None` where they cannot be seen, or have ended.
    pub fn memory(&self) -> Option<Memory> {
        self.cpu_probe.as_ref().and_then(|probe| memory_of_processes(probe.processes()))
    }

    /// Resident memory of its JVM outside a heap of `heap_committed_bytes`.
    pub fn off_heap_bytes(&self, heap_committed_bytes: u64) -> Option<u64> {
        let Some(RuntimeProbe::Jvm(probe)) = &self.runtime_probe else { return None };
        off_heap_bytes(probe.pid(), heap_committed_bytes)
    }

    /// CPU of all its processes in nanoseconds; `None` where they cannot be seen. A process that has ended uses none.
    pub fn cpu_ns(&self) -> Option<u64> {
        match &self.cpu_probe {
            Some(probe) => Some(probe.processes().filter_map(|pid| process::cpu_time_ns(pid).ok()).sum()),
            None => matches!(self.live.status(), Status::Exited(_)).then_some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    /// Counters of a JVM.
    const COUNTERS: &[u8] = include_bytes!("../../../../hostile/seeds/counters/little-endian");

    #[test]
    fn a_jvm_behind_a_script_has_counters() {
        // The script's child runs until its input ends.
        let mut script = Command::new("sh")
            .args(["-c", "exec 3<&0; cat <&3 & echo $!; wait"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut child = String::new();
        BufReader::new(script.stdout.take().unwrap()).read_line(&mut child).unwrap();
        let folder = tempfile::Builder::new().prefix("hsperfdata_").tempdir().unwrap();
        std::fs::write(folder.path().join(child.trim()), COUNTERS).unwrap();
        let mut processes = CpuProbe::new(script.id()).unwrap();
        let Some(RuntimeProbe::Jvm(found)) = RuntimeProbe::find(&mut processes, None) else {
            panic!("the script's child has counters");
        };
        assert_eq!(found.pid().to_string(), child.trim());
        drop(script.stdin.take());
        script.wait().unwrap();
    }
}
