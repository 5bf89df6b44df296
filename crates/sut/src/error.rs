//! What can go wrong with a server under test, each with what to do about it.

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

/// Everything that can go wrong with a server under test, its build and its contract.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SutError {
    /// The program could not be started, or not be ended.
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
        /// What it said last.
        log: LogTail,
    },
    /// It was not ready in time.
    #[error("{server} was not ready after {}s: {waited_for}; is its ready rule right? Else raise startup_timeout; {log}", timeout.as_secs_f64())]
    NotReady {
        /// The server.
        server: String,
        /// The patience there was.
        timeout: Duration,
        /// What did not come.
        waited_for: String,
        /// What it said last.
        log: LogTail,
    },
    /// Another process has its port.
    #[error("{server}: port {port} is held by {owner}; stop that process, or let tare choose with {{port}}")]
    PortTaken {
        /// The server.
        server: String,
        /// The port.
        port: u16,
        /// Who has it.
        owner: String,
    },
    /// It said that it listens where it does not.
    #[error("{server} says that it listens on port {port}, but no process of it does ({found}); {log}")]
    PortNotItsOwn {
        /// The server.
        server: String,
        /// The port it said.
        port: u16,
        /// Where it does listen, or who does there.
        found: String,
        /// What it said last.
        log: LogTail,
    },
    /// Nobody can tell which of its ports is meant.
    #[error("{server} listens on {count} ports ({ports}); say which with base_url or a group (?<port>…) in ready")]
    WhichPort {
        /// The server.
        server: String,
        /// How many.
        count: usize,
        /// Which.
        ports: String,
    },
    /// The ready line's port is no port.
    #[error(
        "{server}: its ready line matched, but its (?<port>…) is not a port number; correct ready in the suite; {log}"
    )]
    NoPortInLine {
        /// The server.
        server: String,
        /// What it said last.
        log: LogTail,
    },
    /// The user has asked to stop.
    #[error("{server}: given up as asked")]
    Cancelled {
        /// The server, or what was being built.
        server: String,
    },
    /// No port could be had.
    #[error("cannot find a free port on the loopback: {source}")]
    NoFreePort {
        /// The kernel's reason.
        source: io::Error,
    },
    /// A base URL that leads nowhere.
    #[error("base_url \"{url}\": {reason}; write it like \"http://127.0.0.1:{{port}}\"")]
    BaseUrl {
        /// As written.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of tare's could not be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The servers' files are not as they should be.
    #[error("{message}")]
    Catalog {
        /// File, key and remedy.
        message: String,
    },
    /// The servers could not be built.
    #[error("building {targets} failed ({how}); the end of what it said:\n{output}")]
    Build {
        /// What was to be built.
        targets: String,
        /// How the build ended.
        how: How,
        /// Its last lines.
        output: String,
    },
    /// The meter for JVMs could not be built.
    #[error("{}: {reason}", script.display())]
    Agent {
        /// What was to build it.
        script: PathBuf,
        /// What it said.
        reason: String,
    },
    /// No JDK that is new enough.
    #[error("{message}")]
    Jdk {
        /// What was looked for, what there is, and the remedy.
        message: String,
    },
    /// A sampler could not be had, attached, stopped or read.
    #[error("cannot {doing}: {said}; {remedy}")]
    Sampler {
        /// What was tried.
        doing: String,
        /// What the sampler, or the system, said.
        said: String,
        /// What to do.
        remedy: String,
    },
    /// A CPU set could not be applied.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    /// The kernel's account of a process could not be read.
    #[error(transparent)]
    Procfs(#[from] ProcfsError),
    /// A file of intent is wrong.
    #[error(transparent)]
    Plan(#[from] tare_plan::PlanError),
}
