//! Errors of a server under test, each with a remedy.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;

use tare_sys::affinity::AffinityError;
use tare_sys::child::{ChildError, How};
use tare_sys::procfs::ProcfsError;

/// Said of a server that ended without an error, as one does that makes itself a daemon.
const IN_BACKGROUND: &str = "; if it went into the background, keep it in the foreground (nginx -g 'daemon off;')";
/// Said where tare tells a server no port, and it announces none.
const CHOOSES_PORT: &str = "; it is given no {port}, and two servers of one fixed port cannot run side by side";

#[derive(Debug, thiserror::Error)]
pub enum SutError {
    #[error("{server}: {source}")]
    Child { server: String, source: ChildError },
    #[error("{server}: its command is empty; write command = [\"program\", \"argument\"]")]
    NoCommand { server: String },
    #[error(
        "{server} ended before it was ready ({how}){}{}; {log}",
        if *how == How::Code(0) { IN_BACKGROUND } else { "" },
        if *chooses_port { CHOOSES_PORT } else { "" }
    )]
    ExitedBeforeReady { server: String, how: How, chooses_port: bool, log: String },
    /// It ran, but did not become ready, or listened where it should not.
    #[error("{said}; {log}")]
    NotReady { said: String, log: String },
    #[error("{server}: port {port} is held by {owner}; stop that process, or let tare choose with {{port}}")]
    PortTaken { server: String, port: u16, owner: String },
    #[error(
        "{server}: port {port} was free when tare chose it, and then held by {owner}; so were {} ports before it: stop \
         the program that takes ports on this machine, or give the server a fixed port; instead of docker run, give the \
         program itself",
        tries - 1
    )]
    PortLost { server: String, port: u16, owner: String, tries: u32 },
    #[error("{server}: given up as asked")]
    Cancelled { server: String },
    #[error("cannot {doing} {}: {source}", path.display())]
    File { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("building {targets} failed ({how}); first errors and end of what `{command}` said:\n{output}")]
    Build { targets: String, command: String, how: How, output: String },
    /// async-profiler is not on this machine, and nothing may be downloaded to it.
    #[error("async-profiler is not in {}", folder.display())]
    NoAsyncProfiler { folder: PathBuf },
    /// Of the catalog, a JDK, a sampler or another machine: what is wrong, and the remedy.
    #[error("{0}")]
    Other(String),
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    #[error(transparent)]
    Procfs(#[from] ProcfsError),
    #[error(transparent)]
    Plan(#[from] tare_plan::PlanError),
}

impl SutError {
    /// Why a file could not be read or written; `doing` is what was tried.
    pub fn file(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { doing, path, source }
    }

    /// Why a sampler did not do what was tried, and what to do.
    pub fn sampler(doing: impl Display, said: impl Display, remedy: impl Display) -> Self {
        Self::Other(format!("cannot {doing}: {said}; {remedy}"))
    }
}
