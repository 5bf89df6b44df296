//! A server that runs as a process, with the probes that watch it.

use std::collections::BTreeMap;
use std::path::Path;

use tare_plan::plan::CounterSource;
use tare_record::{IdleSpan, KnownStops};
use tare_sut::SutError;
use tare_sut::probe::counter_socket;
use tare_sut::probe::cpu::{CpuProbe, CpuSample};
use tare_sut::probe::hiccup::inside::JvmMeter;
use tare_sut::probe::jvm::stops::StopLog;
use tare_sut::probe::jvm::{JvmProbe, is_jvm};
use tare_sut::probe::memory::{memory_of_processes, off_heap_bytes};
use tare_sut::probe::runtime::RuntimeSample;
use tare_sut::server::{Server, Status};
use tare_sys::affinity::CpuSet;
use tare_sys::procfs::process::Memory;

use crate::server_host::ServerId;

/// The servers of the fork under way.
pub(crate) type RunningServers = BTreeMap<ServerId, RunningServer>;

/// One server that runs, or ran until it died.
pub(crate) struct RunningServer {
    /// Dropping it ends it. `None` if it was started outside tare: its processes cannot be seen, and it is left running.
    own: Option<Server>,
    /// Of each of its servers, itself first; empty where any of them cannot be seen.
    cpu_probes: Vec<CpuProbe>,
    runtime_probe: Option<RuntimeProbe>,
    pub meter: Option<JvmMeter>,
    stop_log: Option<StopLog>,
    /// The stops that its runtime told with its last counters.
    told_stops: Option<Vec<IdleSpan>>,
    /// Whether the memory outside the heap is read after the next scored slice: once per scenario, as it takes 10 ms.
    pub off_heap_due: bool,
}

enum RuntimeProbe {
    Jvm(JvmProbe),
    /// Its processes send them over a socket.
    CounterSocket,
}

impl RuntimeProbe {
    /// How those of the runtime of these processes are read. A JVM may run behind a script that started it. Of several
    /// JVMs, and of runtimes read in different ways, nothing is known: the counters of one would pass for all.
    fn find(probes: &[CpuProbe], jvms: &[u32], source: Option<CounterSource>) -> Option<Self> {
        let mut counted: Vec<JvmProbe> = all_processes(probes).filter_map(JvmProbe::find_counters).collect();
        match source {
            None if counted.len() == 1 && jvms.len() <= 1 => counted.pop().map(Self::Jvm),
            Some(_) if probes.len() == 1 || counted.is_empty() && probes.len() > 1 => Some(Self::CounterSocket),
            _ => None,
        }
    }
}

fn all_processes(probes: &[CpuProbe]) -> impl Iterator<Item = u32> + '_ {
    probes.iter().flat_map(CpuProbe::processes)
}

impl RunningServer {
    /// Finds the probes of a server that has just become ready. Logs and meters lie in `logs`.
    pub fn new(own: Option<Server>, counters: Option<CounterSource>, logs: &Path) -> Self {
        // A server that has just died, or runs elsewhere, has no probe: its CPU is absent in the record.
        let chain = own.iter().flat_map(Server::chain);
        let probes: Option<Vec<CpuProbe>> = chain.map(|server| CpuProbe::new(server.pid()).ok()).collect();
        let cpu_probes = probes.unwrap_or_default();
        let jvms: Vec<u32> = all_processes(&cpu_probes).filter(|pid| is_jvm(*pid)).collect();
        let runtime_probe = RuntimeProbe::find(&cpu_probes, &jvms, counters);
        // What one of several runtimes suffers says too little of all.
        let is_alone = jvms.len() == 1 && (cpu_probes.len() == 1 || runtime_probe.is_some());
        let the_jvm = jvms.first().filter(|_| is_alone);
        let meter = the_jvm.and_then(|jvm| JvmMeter::find(logs, *jvm));
        let stop_log = the_jvm.and_then(|jvm| StopLog::find(logs, *jvm));
        Self { own, cpu_probes, runtime_probe, meter, stop_log, told_stops: None, off_heap_due: true }
    }

    /// Finds the probes of a process that runs already, with its children, and asks its JVM for a log of its stops until this is
    /// dropped. The second is why a JVM writes none.
    pub fn attach(pid: u32) -> Result<(Self, Option<String>), SutError> {
        let cpu_probes = vec![CpuProbe::new(pid)?];
        let jvms: Vec<u32> = all_processes(&cpu_probes).filter(|pid| is_jvm(*pid)).collect();
        let (stop_log, refused) = match jvms.as_slice() {
            [] => (None, None),
            [jvm] => StopLog::ask(*jvm).map_or_else(|refused| (None, Some(refused)), |log| (Some(log), None)),
            several => (None, Some(format!("it has several JVMs: {several:?}"))),
        };
        let runtime_probe = RuntimeProbe::find(&cpu_probes, &jvms, None);
        let server =
            Self { own: None, cpu_probes, runtime_probe, meter: None, stop_log, told_stops: None, off_heap_due: false };
        Ok((server, refused))
    }

    /// The servers that tare started: it, and those behind it.
    fn chain(&self) -> impl Iterator<Item = &Server> {
        self.own.iter().flat_map(Server::chain)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.chain().map(Server::name)
    }

    pub fn pid(&self) -> Option<u32> {
        self.own.as_ref().map(Server::pid)
    }

    pub fn status(&self) -> Status {
        self.own.as_ref().map_or(Status::Running, Server::status)
    }

    /// The last lines of its log, where it is ours and has said anything; of a proxy also those of what is behind it.
    pub fn log_tail(&self) -> Option<String> {
        let is_chain = self.chain().count() > 1;
        let of_server = |server: &Server| {
            let name = is_chain.then(|| format!("{}:", server.name()));
            let said = server.last_lines();
            if said.is_empty() { Vec::new() } else { name.into_iter().chain(said).collect() }
        };
        let all: Vec<String> = self.chain().flat_map(of_server).collect();
        (!all.is_empty()).then(|| all.join("\n"))
    }

    pub fn set_cpus(&self, cpus: &CpuSet) -> Result<(), SutError> {
        self.own.as_ref().map_or(Ok(()), |server| server.set_cpus(cpus))
    }

    /// Ends it, where it is ours, and says how it ended.
    pub fn stop(self) -> String {
        let Some(server) = self.own else { return "external: left running".to_owned() };
        server.stop().unwrap_or_else(|error| error.to_string())
    }

    /// Whether its runtime tells when it stood still.
    pub fn tells_stops(&self) -> bool {
        self.stop_log.is_some()
    }

    /// CPU used so far by it and by each server behind it; `None` where it cannot be read.
    pub fn cpu(&mut self) -> Option<Vec<CpuSample>> {
        let samples = self.cpu_probes.iter_mut().map(|probe| probe.take_sample().ok());
        samples.collect::<Option<Vec<_>>>().filter(|samples| !samples.is_empty())
    }

    pub fn runtime(&mut self) -> Option<RuntimeSample> {
        let mut sample = match self.runtime_probe.as_mut()? {
            RuntimeProbe::Jvm(probe) => probe.take_sample(),
            // A server with several processes may start or end one at any time.
            RuntimeProbe::CounterSocket => {
                counter_socket::take_sample(self.cpu_probes.iter_mut().flat_map(CpuProbe::find_living))
            }
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
        memory_of_processes(all_processes(&self.cpu_probes))
    }

    /// Resident memory of its JVM outside a heap of `heap_committed_bytes`.
    pub fn off_heap_bytes(&self, heap_committed_bytes: u64) -> Option<u64> {
        let Some(RuntimeProbe::Jvm(probe)) = &self.runtime_probe else { return None };
        off_heap_bytes(probe.pid, heap_committed_bytes)
    }

    /// CPU of all its processes in nanoseconds; `None` where they cannot be seen.
    pub fn cpu_ns(&mut self) -> Option<u64> {
        match self.cpu_probes.as_mut_slice() {
            [] => matches!(self.status(), Status::Exited(_)).then_some(0),
            probes => Some(probes.iter_mut().map(CpuProbe::cpu_ns).sum()),
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
    fn a_server_elsewhere_is_driven_and_left_alone() {
        let elsewhere = RunningServer::new(None, None, Path::new(""));
        assert_eq!((elsewhere.pid(), elsewhere.log_tail()), (None, None));
        assert!(matches!(elsewhere.status(), Status::Running));
        elsewhere.set_cpus(&"0".parse().unwrap()).unwrap();
        assert_eq!(elsewhere.stop(), "external: left running");
    }

    #[test]
    fn a_jvm_behind_a_script_has_counters_and_one_of_two_does_not_speak_for_both() {
        let folder = tempfile::Builder::new().prefix("hsperfdata_").tempdir().unwrap();
        // Each maps its own program, as a JVM maps its counters, and the child runs until its input ends.
        let elsewhere = tempfile::tempdir().unwrap();
        let programs = elsewhere.path().join(folder.path().file_name().unwrap());
        std::fs::create_dir(&programs).unwrap();
        let [of_script, of_child] = ["script", "child"].map(|name| programs.join(name));
        for program in [&of_script, &of_child] {
            assert!(Command::new("cp").arg("/bin/sh").arg(program).status().unwrap().success());
        }
        let mut script = Command::new(&of_script)
            .args(["-c", "exec 3<&0; \"$0\" -c 'echo $$; read x' <&3 & wait"])
            .arg(&of_child)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut child = String::new();
        BufReader::new(script.stdout.take().unwrap()).read_line(&mut child).unwrap();
        std::fs::rename(of_script, programs.join(script.id().to_string())).unwrap();
        std::fs::rename(of_child, programs.join(child.trim())).unwrap();
        std::fs::write(folder.path().join(child.trim()), COUNTERS).unwrap();
        let processes = [CpuProbe::new(script.id()).unwrap()];
        let Some(RuntimeProbe::Jvm(found)) = RuntimeProbe::find(&processes, &[], None) else {
            panic!("the script's child has counters");
        };
        assert_eq!(found.pid.to_string(), child.trim());
        let both = [script.id(), found.pid];
        assert!(RuntimeProbe::find(&processes, &both, None).is_none(), "one of them keeps no counters");
        std::fs::write(folder.path().join(script.id().to_string()), COUNTERS).unwrap();
        assert!(RuntimeProbe::find(&processes, &[], None).is_none(), "as Maven, which starts the server");
        drop(script.stdin.take());
        script.wait().unwrap();
    }
}
