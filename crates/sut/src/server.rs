//! Life of one server: started under a supervisor, ready only when its own process accepts connections, and stopped
//! with all its processes, and before it what is behind it. `contract` checks its answers; `probe` measures its use of CPU and memory.

mod log;
mod ready;
mod spec;

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tare_sys::affinity::{CpuSet, pin_process_tree};
use tare_sys::child::{Child, How, Program};
use tare_sys::clock;
use tare_sys::procfs::process::Stat;

use crate::error::SutError;
use log::Log;
pub use log::temporary_logs;
pub use ready::port_holder;
pub use spec::{ADDRESS, CLASS_PATH_OPTIONS, ServerSpec, with_short_arguments};
pub(crate) use spec::{Fillings, PORT};
use spec::{Port, with_port};

/// How many ports tare chooses for one start of a server, one after another, while other processes take them.
const MOST_PORTS: u32 = 5;
/// A supervisor knows of the end of its server within this time.
const SUPERVISOR_DELAY: Duration = Duration::from_millis(200);
/// The longest time between SIGTERM and the end of a server that did not become ready.
const GIVEN_UP_GRACE: Duration = Duration::from_secs(3);

/// A server that has become ready. Dropping it kills it and its descendants.
#[derive(Debug)]
pub struct Server {
    spec: ServerSpec,
    address: SocketAddr,
    startup_ns: u64,
    child: Mutex<Child>,
    log: Log,
    /// Its own until it has ended.
    _port: Option<Port>,
    /// Its files, until it has ended.
    fillings: Fillings,
    upstream: Option<Box<Server>>,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Status {
    Running,
    /// It is stopped (SIGSTOP, a debugger): it keeps its connections and answers nothing.
    Stopped,
    Exited(How),
    /// It is a proxy, and a server behind it has ended.
    UpstreamExited {
        server: String,
        how: How,
    },
}

impl Server {
    /// Starts a server, after what is behind it, and waits until it accepts connections or `cancelled` is set. Where
    /// another process takes the chosen port, it tries again with others. An error leaves no process.
    pub fn start(spec: &ServerSpec, cancelled: &AtomicBool) -> Result<Self, SutError> {
        let upstream = spec.upstream.as_deref().map(|upstream| Self::start(upstream, cancelled));
        let upstream = upstream.transpose()?;
        let behind = upstream.as_ref().map(Self::address);
        let mut server = Self::start_at_free_port(spec, behind, cancelled)?;
        server.upstream = upstream.map(Box::new);
        Ok(server)
    }

    fn start_at_free_port(
        spec: &ServerSpec,
        upstream: Option<SocketAddr>,
        cancelled: &AtomicBool,
    ) -> Result<Self, SutError> {
        let mut tries = 1;
        loop {
            let port = spec.choose_port()?;
            let chosen = port.as_ref().map(Port::number).filter(|port| *port != 0 && spec.port.is_none());
            match (Self::start_at(spec, port, upstream, cancelled), chosen) {
                (Err(error), Some(port)) if tries < MOST_PORTS && ready::has_lost_port(&error, port) => tries += 1,
                (Err(SutError::PortTaken { server, port, owner }), Some(chosen)) if port == chosen => {
                    return Err(SutError::PortLost { server, port, owner, tries });
                }
                (started, _) => return started,
            }
        }
    }

    fn start_at(
        spec: &ServerSpec,
        port: Option<Port>,
        upstream: Option<SocketAddr>,
        cancelled: &AtomicBool,
    ) -> Result<Self, SutError> {
        let number = port.as_ref().map(Port::number);
        let begun = clock::now();
        ready::refuse_taken_port(spec, number)?;
        let fillings = Fillings::prepare(spec, number, upstream)?;
        let mut child = Child::spawn(program(spec, &fillings)?)
            .map_err(|source| SutError::Child { server: spec.name.clone(), source })?;
        let output = child.take_output().ok_or_else(|| SutError::NoCommand { server: spec.name.clone() })?;
        let log = Log::start(output, &spec.log_path, spec.ready_line()?);
        let log = log.map_err(SutError::file("write the log", &spec.log_path))?;
        let wait = ready::Wait { spec, port: number, child: &mut child, log: &log, cancelled, begun: clock::now() };
        let started = wait.until_ready();
        // What it has begun outside of its process tree, such as a container, only it can end.
        let end = |_: &SutError| drop(child.terminate(spec.stop_grace.min(GIVEN_UP_GRACE)));
        let address = started.inspect_err(end)?;
        let startup_ns = clock::now().since(begun);
        Ok(Self {
            spec: spec.clone(),
            address,
            startup_ns,
            child: Mutex::new(child),
            log,
            _port: port,
            fillings,
            upstream: None,
        })
    }

    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// It, the server behind it, the one behind that, and so on.
    pub fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |server| server.upstream.as_deref())
    }

    /// Its command, with its port, its files and the address of what is behind it in their places.
    pub fn command_line(&self) -> String {
        self.fillings.fill(&self.spec.command.join(" "))
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn base_url(&self) -> String {
        match &self.spec.base_url {
            Some(url) => with_port(url, Some(self.address.port())),
            None => format!("http://{}", self.address),
        }
    }

    /// The time from its start, the last one where it lost a port, until it was ready; with that of what is behind it.
    pub fn startup_ns(&self) -> u64 {
        self.chain().map(|server| server.startup_ns).sum()
    }

    pub fn pid(&self) -> u32 {
        self.child().program_pid()
    }

    /// The state of its process. A proxy is no better than what is behind it.
    pub fn status(&self) -> Status {
        let of_upstream = |server: &Self| match server.status() {
            Status::Exited(how) => Status::UpstreamExited { server: server.name().to_owned(), how },
            other => other,
        };
        match self.own_status() {
            Status::Running => self.upstream.as_deref().map_or(Status::Running, of_upstream),
            other => other,
        }
    }

    /// Its state after a question without an answer: its client learns of its end before its supervisor does.
    pub fn status_of_silent(&self) -> Status {
        self.child().wait(SUPERVISOR_DELAY);
        self.status()
    }

    fn own_status(&self) -> Status {
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

    pub fn last_lines(&self) -> Vec<String> {
        self.log.tail()
    }

    /// The last lines of its log, as the end of a message.
    pub fn end_of_log(&self) -> String {
        self.log.end()
    }

    /// Moves all its processes and threads, and those of what is behind it, to these CPUs.
    pub fn set_cpus(&self, cpus: &CpuSet) -> Result<(), SutError> {
        self.chain().try_for_each(|server| Ok(pin_process_tree(server.pid(), cpus)?))
    }

    /// Asks it to end, and kills what is left of it after its grace; then what is behind it. Says how each ended.
    pub fn stop(mut self) -> Result<String, SutError> {
        let was_dead = matches!(self.own_status(), Status::Exited(_));
        let ended = self
            .child()
            .terminate(self.spec.stop_grace)
            .map_err(|source| SutError::Child { server: self.spec.name.clone(), source })?;
        self.log.finish();
        let how = match (was_dead, ended.forced) {
            (true, _) => format!("had ended by itself: {}", ended.how),
            (false, true) => "did not end after SIGTERM and was killed".to_owned(),
            (false, false) => format!("ended after SIGTERM: {}", ended.how),
        };
        let Some(upstream) = self.upstream.take() else { return Ok(how) };
        let name = upstream.name().to_owned();
        Ok(format!("{how}; {name} behind it {}", upstream.stop()?))
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

fn program(spec: &ServerSpec, fillings: &Fillings) -> Result<Program, SutError> {
    let mut words = fillings.command(spec)?.into_iter();
    let name = words.next().ok_or_else(|| SutError::NoCommand { server: spec.name.clone() })?;
    let mut program = Program::new(name).args(words);
    program.env = spec.env.iter().map(|(name, value)| (name.into(), fillings.fill(value).into())).collect();
    program.directory.clone_from(&spec.directory);
    program.scheduling = spec.scheduling;
    program.cpus = Some(spec.cpus.clone()).filter(|cpus| !cpus.is_empty());
    Ok(program)
}
