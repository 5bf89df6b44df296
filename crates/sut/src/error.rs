//! Errors of a server under test, each with a remedy.

use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, io};

use tare_sys::affinity::AffinityError;
use tare_sys::child::{ChildError, How};
use tare_sys::procfs::ProcfsError;

/// The last lines of a server's log, as the end of an error message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogTail {
    /// The whole log.
    pub path: PathBuf,
    /// Its last lines.
    pub lines: Vec<String>,
}

impl fmt::Display for LogTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lines.is_empty() {
            return write!(f, "it wrote nothing");
        }
        write!(f, "the end of its log ({}):", self.path.display())?;
        self.lines.iter().try_for_each(|line| write!(f, "\n  | {line}"))
    }
}

/// Errors of a server under test, its build and its contract.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SutError {
    /// The program could not be started or ended.
    #[error("{server}: {source}")]
    Child {
        /// The server.
        server: String,
        /// Why.
        source: ChildError,
    },
    /// It has no command.
    #[error("{server}: its command is empty; write command = [\"program\", \"argument\"]")]
    NoCommand {
        /// The server.
        server: String,
    },
    /// It ended before it was ready.
    #[error("{server} ended before it was ready ({how}); {log}")]
    ExitedBeforeReady {
        /// The server.
        server: String,
        /// How it ended.
        how: How,
        /// Its last output.
        log: LogTail,
    },
    /// It was not ready in time.
    #[error("{server} was not ready after {}s: {waited_for}; is its ready rule right? Else raise startup_timeout; {log}", timeout.as_secs_f64())]
    NotReady {
        /// The server.
        server: String,
        /// The time that it was given.
        timeout: Duration,
        /// The missing sign of readiness.
        waited_for: String,
        /// Its last output.
        log: LogTail,
    },
    /// Another process has its port.
    #[error("{server}: port {port} is held by {owner}; stop that process, or let tare choose with {{port}}")]
    PortTaken {
        /// The server.
        server: String,
        /// The port.
        port: u16,
        /// The process that has it.
        owner: String,
    },
    /// Other processes took each port that tare chose for it.
    #[error(
        "{server}: port {port} was free when tare chose it, and then held by {owner}; so were {} ports before it: stop \
         the program that takes ports on this machine, or give the server a fixed port",
        tries - 1
    )]
    PortLost {
        /// The server.
        server: String,
        /// The last port.
        port: u16,
        /// The process that has it.
        owner: String,
        /// How many ports tare chose.
        tries: u32,
    },
    /// It announced a port on which it does not listen.
    #[error("{server} says that it listens on port {port}, but no process of it does ({found}); {log}")]
    PortNotItsOwn {
        /// The server.
        server: String,
        /// The announced port.
        port: u16,
        /// The port on which it listens, or the owner of the announced one.
        found: String,
        /// Its last output.
        log: LogTail,
    },
    /// It listens on several ports, and none is named.
    #[error("{server} listens on {count} ports ({ports}); say which with base_url or a group (?<port>…) in ready")]
    WhichPort {
        /// The server.
        server: String,
        /// Number of ports.
        count: usize,
        /// The ports.
        ports: String,
    },
    /// The port in the ready line is not valid.
    #[error(
        "{server}: its ready line matched, but its (?<port>…) is not a port number; correct ready in the suite; {log}"
    )]
    NoPortInLine {
        /// The server.
        server: String,
        /// Its last output.
        log: LogTail,
    },
    /// The user has cancelled.
    #[error("{server}: given up as asked")]
    Cancelled {
        /// The server, or the build.
        server: String,
    },
    /// No port is available.
    #[error("cannot find a free port on the loopback: {source}")]
    NoFreePort {
        /// The kernel's reason.
        source: io::Error,
    },
    /// A base URL that cannot be used.
    #[error("base_url \"{url}\": {reason}; write it like \"http://127.0.0.1:{{port}}\"")]
    BaseUrl {
        /// As written.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of tare could not be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// The attempted operation.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The kernel's reason.
        source: io::Error,
    },
    /// A file of the servers is wrong.
    #[error("{message}")]
    Catalog {
        /// File, key and remedy.
        message: String,
    },
    /// The servers could not be built.
    #[error("building {targets} failed ({how}); the end of what it said:\n{output}")]
    Build {
        /// What should have been built.
        targets: String,
        /// How the build ended.
        how: How,
        /// Its last lines.
        output: String,
    },
    /// The meter for JVMs could not be built.
    #[error("{}: {reason}", script.display())]
    Agent {
        /// The program that builds it.
        script: PathBuf,
        /// Its output.
        reason: String,
    },
    /// No JDK is new enough.
    #[error("{message}")]
    Jdk {
        /// The required release, the found ones, and the remedy.
        message: String,
    },
    /// A sampler is not available, or could not be attached, stopped or read.
    #[error("cannot {doing}: {said}; {remedy}")]
    Sampler {
        /// The attempted operation.
        doing: String,
        /// The message of the sampler or of the system.
        said: String,
        /// The remedy.
        remedy: String,
    },
    /// async-profiler is not on this machine, and nothing may be downloaded to it.
    #[error("async-profiler is not in {}", folder.display())]
    NoAsyncProfiler {
        /// Where it would be.
        folder: PathBuf,
    },
    /// A server on another machine failed.
    #[error("{message}")]
    Remote {
        /// Machine, server, what happened, and the remedy.
        message: String,
    },
    /// A CPU set could not be applied.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    /// The kernel's figures of a process could not be read.
    #[error(transparent)]
    Procfs(#[from] ProcfsError),
    /// A suite or contract file is wrong.
    #[error(transparent)]
    Plan(#[from] tare_plan::PlanError),
}
