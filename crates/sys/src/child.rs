//! A program that cannot outlive us: started under a supervisor process that kills the program's whole tree when tare
//! asks for it, when the program ends, and when tare itself is gone. Why this holds: docs/adr/0001-no-orphans.md.
//! What the program is for (servers, builds) is the business of `tare-sut`.

mod message;
mod offspring;
mod prepare;
mod supervisor;

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, io};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, waitpid};

use crate::affinity::CpuSet;
use crate::clock;
use crate::scheduling::SchedulingPolicy;
use message::{Message, SIZE};

/// How long the kernel may take to remove killed processes before tare stops waiting for it.
const KILL_PATIENCE: Duration = Duration::from_secs(10);

/// What to start and where its output goes.
#[derive(Debug)]
pub struct Program {
    /// A path, or a name to be looked up in `PATH`.
    pub program: OsString,
    /// Its arguments, without its own name.
    pub args: Vec<OsString>,
    /// Variables added to, or replacing, those of tare.
    pub env: Vec<(OsString, OsString)>,
    /// Its working directory; tare's own when `None`.
    pub directory: Option<PathBuf>,
    /// The CPUs of the program and of all that it starts; tare's own when `None`.
    pub cpus: Option<CpuSet>,
    /// The scheduling policy of the program and of all that it starts.
    pub scheduling: SchedulingPolicy,
    /// Where standard output and standard error go, both to the same place so that their order is kept.
    pub output: Output,
    /// Asks for a PID namespace of its own, which the kernel grants to root only; see [`Child::in_pid_namespace`].
    pub pid_namespace: bool,
}

/// Where a program's output goes.
#[derive(Debug)]
pub enum Output {
    /// To a pipe that [`Child::take_output`] hands out and somebody must drain.
    Pipe,
    /// To a file.
    File(File),
    /// Nowhere.
    Discard,
}

impl Program {
    /// A program without arguments, with tare's environment, its output in a pipe.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            directory: None,
            cpus: None,
            scheduling: SchedulingPolicy::Normal,
            output: Output::Pipe,
            pid_namespace: false,
        }
    }

    /// The same program with these arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }
}

/// Why a program could not be started or followed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChildError {
    /// There is no such program.
    #[error("command not found: {program}; install it, correct the name, or give its full path")]
    NotFound {
        /// As it was written.
        program: String,
    },
    /// A string that the kernel cannot take.
    #[error("{what} holds a zero byte, which no argument or variable may")]
    ZeroByte {
        /// The string.
        what: String,
    },
    /// The program could not be started.
    #[error("cannot start {program}: {doing}: {source}")]
    Start {
        /// The program.
        program: String,
        /// What failed.
        doing: String,
        /// The kernel's reason.
        source: io::Error,
    },
    /// Processes that the kernel did not remove within the patience for it.
    #[error("process {pid} or one of its children has not gone {}s after SIGKILL; see `ps` for one in state D", KILL_PATIENCE.as_secs())]
    Unkillable {
        /// The program's process id.
        pid: u32,
    },
    /// The supervisor could not be reached.
    #[error("lost the supervisor of process {pid}: {source}")]
    Supervisor {
        /// The program's process id.
        pid: u32,
        /// The kernel's reason.
        source: io::Error,
    },
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It returned this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
    /// Unknown: somebody killed the supervisor, and the program died with it.
    SupervisorKilled,
}

/// The end of a program and of everything that it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// How the program itself ended.
    pub how: How,
    /// Whether tare had to send SIGKILL for it.
    pub forced: bool,
    /// User CPU of the whole tree, once it is gone.
    pub user_ns: u64,
    /// System CPU of the whole tree, once it is gone.
    pub system_ns: u64,
    /// The largest peak RSS of one process of the tree. It is never below tare's own RSS at the start, because the
    /// kernel counts the image that was forked: for a server's memory read `VmHWM` instead.
    pub max_rss_bytes: u64,
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => match Signal::from_named_raw(*signal) {
                Some(name) => {
                    let name = format!("{name:?}");
                    write!(f, "killed by signal {signal} ({})", name.trim_matches('"').trim_start_matches("Signal::"))
                }
                None => write!(f, "killed by signal {signal}"),
            },
            Self::SupervisorKilled => write!(f, "killed together with its supervisor"),
        }
    }
}

/// A running program. Dropping it kills the program and everything that it started, and waits for that.
#[derive(Debug)]
pub struct Child {
    pid: u32,
    supervisor: Pid,
    pid_namespace: bool,
    /// Its end, by whatever death of tare, is the supervisor's sign to kill.
    lifeline: Option<OwnedFd>,
    report: OwnedFd,
    output: Option<File>,
    exited: Option<How>,
    ended: Option<Ended>,
    killing: bool,
}

impl Child {
    /// Starts a program under a supervisor and returns once it has been executed.
    ///
    /// # Errors
    /// When it is not found, may not be executed, or its directory or CPUs are not there.
    pub fn spawn(program: Program) -> Result<Self, ChildError> {
        let name = program.program.to_string_lossy().into_owned();
        let mut child = prepare::spawn(program)?;
        match child.receive(None) {
            Some(Message::Started { pid }) => child.pid = pid,
            Some(Message::Failed { step, errno }) => {
                let doing = prepare::describe(step).to_owned();
                return Err(ChildError::Start { program: name, doing, source: io::Error::from_raw_os_error(errno) });
            }
            _ => {
                let source = io::Error::from(io::ErrorKind::UnexpectedEof);
                return Err(ChildError::Start { program: name, doing: "its supervisor died".into(), source });
            }
        }
        Ok(child)
    }

    /// The program's process id, its process group and its session.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The process that watches over the program.
    pub fn supervisor_pid(&self) -> u32 {
        self.supervisor.as_raw_nonzero().get().unsigned_abs()
    }

    /// Whether the kernel granted the PID namespace that was asked for.
    pub fn in_pid_namespace(&self) -> bool {
        self.pid_namespace
    }

    /// The reading end of the output pipe, once.
    pub fn take_output(&mut self) -> Option<File> {
        self.output.take()
    }

    /// How the program ended, if it has.
    pub fn try_wait(&mut self) -> Option<How> {
        self.wait(Duration::ZERO)
    }

    /// Waits until the program has ended, for so long at most.
    pub fn wait(&mut self, patience: Duration) -> Option<How> {
        let deadline = clock::now() + patience;
        while self.exited.is_none() && self.ended.is_none() {
            if self.receive(Some(deadline)).is_none() {
                break;
            }
        }
        self.exited
    }

    /// Asks the program's group to end (SIGTERM), waits for so long at most, then kills everything that is left.
    ///
    /// # Errors
    /// When something cannot be killed.
    pub fn terminate(&mut self, grace: Duration) -> Result<Ended, ChildError> {
        if let Some(lifeline) = self.lifeline.as_ref().filter(|_| self.exited.is_none() && !grace.is_zero()) {
            // A failure means that the supervisor has ended, which the wait below sees.
            let _gone = rustix::net::send(lifeline, &[supervisor::TERMINATE], rustix::net::SendFlags::NOSIGNAL);
            self.wait(grace);
        }
        self.kill()
    }

    /// Kills the program and everything that it started, and waits until all of it is gone.
    ///
    /// # Errors
    /// When something cannot be killed.
    pub fn kill(&mut self) -> Result<Ended, ChildError> {
        let forced = self.try_wait().is_none();
        self.killing |= forced;
        self.lifeline = None;
        let deadline = clock::now() + KILL_PATIENCE;
        while self.ended.is_none() && self.receive(Some(deadline)).is_some() {}
        self.ended.ok_or(ChildError::Unkillable { pid: self.pid })
    }

    /// The next message of the supervisor; its end, and a deadline that has passed, are `None`.
    fn receive(&mut self, deadline: Option<clock::Nanos>) -> Option<Message> {
        if self.ended.is_some() || !readable(&self.report, deadline) {
            return None;
        }
        let mut record = [0; SIZE];
        let got = rustix::io::read(&self.report, &mut record);
        let message = got.ok().filter(|&got| got == SIZE).and_then(|_| Message::decode(record));
        match message {
            Some(Message::Exited { status }) => self.exited = Some(how(status)),
            Some(Message::Gone { user_ns, system_ns, max_rss_bytes }) => {
                let how = self.exited.unwrap_or(How::SupervisorKilled);
                self.end(Ended { how, forced: self.killing, user_ns, system_ns, max_rss_bytes });
            }
            Some(_) => {}
            None => self.supervisor_is_lost(),
        }
        message
    }

    /// The program died with its supervisor (`PR_SET_PDEATHSIG`); what else is in its group is killed from here.
    fn supervisor_is_lost(&mut self) {
        if let Some(group) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            let _gone_already = kill_process_group(group, Signal::KILL);
        }
        self.exited = Some(self.exited.unwrap_or(How::SupervisorKilled));
        let how = self.exited.unwrap_or(How::SupervisorKilled);
        self.end(Ended { how, forced: self.killing, user_ns: 0, system_ns: 0, max_rss_bytes: 0 });
    }

    fn end(&mut self, ended: Ended) {
        // The supervisor exits right after its last message, so this does not block.
        let _status = waitpid(Some(self.supervisor), WaitOptions::empty());
        self.lifeline = None;
        self.ended = Some(ended);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // An unkillable process cannot be helped from a destructor; `terminate` reports it.
        let _ended = self.kill();
    }
}

/// Finds a program as `execvp` would: in `PATH`, unless it is written with a slash.
///
/// # Errors
/// When there is no such file that may be executed.
pub fn find_program(name: &Path, directory: Option<&Path>, path: Option<&OsString>) -> Result<PathBuf, ChildError> {
    prepare::find_program(name, directory, path)
}

fn how(status: i32) -> How {
    if libc::WIFSIGNALED(status) { How::Signal(libc::WTERMSIG(status)) } else { How::Code(libc::WEXITSTATUS(status)) }
}

fn readable(fd: &impl AsFd, deadline: Option<clock::Nanos>) -> bool {
    loop {
        let left = deadline.map(|deadline| deadline.since(clock::now()));
        let timeout = left.and_then(|left| Timespec::try_from(Duration::from_nanos(left)).ok());
        match poll(&mut [PollFd::new(fd, PollFlags::IN)], timeout.as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(ready) => return ready > 0,
            Err(_) => return false,
        }
    }
}
