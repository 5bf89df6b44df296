//! Life of one server: started under a supervisor, ready only when its own process accepts connections, and stopped
//! with all its processes. `contract` checks its answers; `probe` measures its use of CPU and memory.

mod log;
mod ownership;
mod ready;
mod spec;

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tare_sys::affinity::{CpuSet, pin_process_tree};
use tare_sys::child::{Child, Ended, How, Program};
use tare_sys::clock;
use tare_sys::procfs::process::Stat;

use crate::error::{LogTail, SutError};
use log::Log;
pub use log::temporary_log;
pub use ready::port_holder;
use spec::Port;
pub use spec::{PORT, ReadyRule, ServerSpec};

/// How many ports tare chooses for one start of a server, one after another, while other processes take them.
const MOST_PORTS: u32 = 5;
const ERROR_LINES: usize = 20;

/// A server that has become ready. Dropping it kills it and its descendants.
#[derive(Debug)]
pub struct Server {
    spec: ServerSpec,
    address: SocketAddr,
    base_url: String,
    startup_ns: u64,
    child: Mutex<Child>,
    log: Log,
    /// Its own until it has ended.
    _port: Option<Port>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Status {
    Running,
    /// It is stopped (SIGSTOP, a debugger): it keeps its connections and answers nothing.
    Stopped,
    Exited(How),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopReport {
    /// How it ended, whether it had to be killed, and the CPU of its whole tree.
    pub ended: Ended,
    /// Whether it had ended on its own before.
    pub was_dead: bool,
    /// The last lines of its log.
    pub log: LogTail,
}

impl std::fmt::Display for StopReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.was_dead, self.ended.forced) {
            (true, _) => write!(f, "had ended by itself: {}", self.ended.how),
            (false, true) => write!(f, "did not end after SIGTERM and was killed"),
            (false, false) => write!(f, "ended after SIGTERM: {}", self.ended.how),
        }
    }
}

impl Server {
    /// Starts a server and waits until it accepts connections.
    pub fn start(spec: &ServerSpec) -> Result<Self, SutError> {
        Self::start_unless_cancelled(spec, &AtomicBool::new(false))
    }

    /// Starts a server and waits until it accepts connections, or until `cancelled` is set. If another process takes the
    /// port that tare has chosen, the server starts again with another one.
    ///
    /// # Errors
    /// When the command is not found, when the server ends or hangs before it is ready, when another process has its
    /// port, or when the start was cancelled. No process is left in these cases.
    pub fn start_unless_cancelled(spec: &ServerSpec, cancelled: &AtomicBool) -> Result<Self, SutError> {
        let mut tries = 1;
        loop {
            let port = spec.choose_port()?;
            let chosen = port.as_ref().filter(|port| port.is_chosen()).map(Port::number);
            match (Self::start_at(spec, port, cancelled), chosen) {
                (Err(error), Some(port)) if tries < MOST_PORTS && ready::has_lost_port(&error, port) => tries += 1,
                (Err(SutError::PortTaken { server, port, owner }), Some(_)) => {
                    return Err(SutError::PortLost { server, port, owner, tries });
                }
                (started, _) => return started,
            }
        }
    }

    fn start_at(spec: &ServerSpec, port: Option<Port>, cancelled: &AtomicBool) -> Result<Self, SutError> {
        let number = port.as_ref().map(Port::number);
        let begun = clock::now();
        ready::refuse_taken_port(spec, number)?;
        let mut child = Child::spawn(program(spec, number)?)
            .map_err(|source| SutError::Child { server: spec.name.clone(), source })?;
        let output = child.take_output().ok_or_else(|| SutError::NoCommand { server: spec.name.clone() })?;
        let mut log = Log::start(output, &spec.log_path, spec.pattern()).map_err(|source| SutError::File {
            doing: "write the log",
            path: spec.log_path.clone(),
            source,
        })?;
        let waited = ready::Wait::new(spec, number, &mut child, &mut log, cancelled).until_ready();
        let (address, base_url) = waited?;
        let startup_ns = clock::now().since(begun);
        Ok(Self { spec: spec.clone(), address, base_url, startup_ns, child: Mutex::new(child), log, _port: port })
    }

    pub fn name(&self) -> &str {
        &self.spec.name
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The time from its start, the last one where it lost a port before, until it was ready.
    pub fn startup_ns(&self) -> u64 {
        self.startup_ns
    }

    /// The process id of its root process.
    pub fn pid(&self) -> u32 {
        self.child().program_pid()
    }

    pub fn status(&self) -> Status {
        let mut child = self.child();
        if let Some(how) = child.try_wait() {
            return Status::Exited(how);
        }
        // A process that ends between the two calls is reported by the next call.
        if Stat::of_process(child.program_pid()).is_ok_and(|stat| stat.is_stopped()) {
            Status::Stopped
        } else {
            Status::Running
        }
    }

    /// The last lines of its log.
    pub fn log_tail(&self, count: usize) -> LogTail {
        tail(&self.spec, &self.log, count)
    }

    /// Moves all its processes and threads to these CPUs, as warm-up does to give the JIT room.
    pub fn set_cpus(&self, cpus: &CpuSet) -> Result<(), SutError> {
        Ok(pin_process_tree(self.pid(), cpus)?)
    }

    /// Asks it to end, and kills what is left of it after its grace.
    pub fn stop(mut self) -> Result<StopReport, SutError> {
        let was_dead = matches!(self.status(), Status::Exited(_));
        let ended = self
            .child()
            .terminate(self.spec.stop_grace)
            .map_err(|source| SutError::Child { server: self.spec.name.clone(), source })?;
        self.log.finish();
        Ok(StopReport { ended, was_dead, log: self.log_tail(ERROR_LINES) })
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After `stop` there is nothing to do. An error cannot be reported here.
        let _ended = self.child().terminate(Duration::ZERO);
        self.log.finish();
    }
}

fn program(spec: &ServerSpec, port: Option<u16>) -> Result<Program, SutError> {
    let mut words = spec.command.iter().map(|word| spec::with_port(word, port));
    let name = words.next().ok_or_else(|| SutError::NoCommand { server: spec.name.clone() })?;
    let mut program = Program::new(name).args(words);
    program.env = spec.env.iter().map(|(name, value)| (name.into(), spec::with_port(value, port).into())).collect();
    program.directory.clone_from(&spec.directory);
    program.scheduling = spec.scheduling;
    program.cpus = Some(spec.cpus.clone()).filter(|cpus| !cpus.is_empty());
    Ok(program)
}

fn tail(spec: &ServerSpec, log: &Log, count: usize) -> LogTail {
    LogTail { path: spec.log_path.clone(), lines: log.tail(count) }
}
