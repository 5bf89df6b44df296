//! A program that cannot outlive tare. A supervisor process starts it and kills its whole process tree in three cases:
//! when tare asks for it, when the program ends, and when tare itself is gone. docs/adr/0001-no-orphans.md explains why
//! this is reliable. What the program is for (servers, builds) is decided in `tare-sut`.

mod message;
mod prepare;
mod supervisor;

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, waitpid};
use serde::{Deserialize, Serialize};
pub use tare_units::SchedulingPolicy;

use crate::affinity::CpuSet;
use crate::clock;
use crate::socket::SEND_FLAGS;
use message::{Message, Record};

pub use prepare::{GIT_HOOK_VARIABLES, find_program};

/// How long tare waits for the kernel to remove killed processes.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);
/// How often [`run_until`] asks whether it is over.
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// The program to start. Its standard output and standard error share one pipe, so that their order is kept; the caller
/// must drain it (see [`Child::take_output`]).
#[derive(Debug, Default)]
pub struct Program {
    /// A path, or a name that is looked up in `PATH`.
    pub program: OsString,
    /// Its arguments, without its own name.
    pub args: Vec<OsString>,
    /// Environment variables that are added to those of tare, or replace them.
    pub env: Vec<(OsString, OsString)>,
    /// Its working directory; that of tare if `None`.
    pub directory: Option<PathBuf>,
    /// The CPUs of the program and of its descendants; those of tare if `None`.
    pub cpus: Option<CpuSet>,
    pub scheduling: SchedulingPolicy,
}

impl Program {
    /// A program without arguments, with tare's environment.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self { program: program.into(), ..Self::default() }
    }

    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }
}

/// Why a program could not be started or supervised.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    #[error("command not found: {program}; install it, correct the name, or give its full path")]
    NotFound { program: String },
    /// The string cannot be passed to the kernel.
    #[error("{what} holds a zero byte, which no argument or variable may")]
    ZeroByte { what: String },
    #[error("cannot start {program}: {doing}: {source}")]
    Start { program: String, doing: String, source: io::Error },
    /// Processes that the kernel did not remove in time.
    #[error("process {pid} or one of its children has not gone {}s after SIGKILL; see `ps` for one in state D", KILL_TIMEOUT.as_secs())]
    Unkillable { pid: u32 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// It returned this exit code.
    Code(i32),
    Signal(i32),
    /// Unknown: the supervisor was killed, and the program died with it.
    SupervisorKilled,
}

/// The end of a program and of its descendants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    pub how: How,
    /// Whether tare had to send SIGKILL.
    pub forced: bool,
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

/// A running program. Dropping it kills the program and its descendants, and waits for their end.
#[derive(Debug)]
pub struct Child {
    pid: u32,
    supervisor: Pid,
    /// A pipe that closes when tare ends, for any reason. The supervisor then kills everything.
    lifeline: Option<OwnedFd>,
    report: OwnedFd,
    output: Option<File>,
    exited: Option<How>,
    ended: Option<Ended>,
    killing: bool,
}

impl Child {
    /// Starts a program under a supervisor. Returns once the program is executing. Errors: when the program is not
    /// found or not executable, or its directory or CPUs do not exist.
    pub fn spawn(program: Program) -> Result<Self, ChildError> {
        let mut child = prepare::spawn(&program)?;
        let failed = |doing: String, source: io::Error| {
            let program = program.program.to_string_lossy().into_owned();
            Err(ChildError::Start { program, doing, source })
        };
        match child.receive(None) {
            Some(Message::Started { pid }) => child.pid = pid,
            Some(Message::Failed { step, errno }) => {
                return failed(prepare::describe(step, errno, &program), io::Error::from_raw_os_error(errno));
            }
            _ => return failed("its supervisor died".to_owned(), io::ErrorKind::UnexpectedEof.into()),
        }
        Ok(child)
    }

    /// The program's process id, which is also the id of its group and its session.
    pub fn program_pid(&self) -> u32 {
        self.pid
    }

    pub fn supervisor_pid(&self) -> u32 {
        self.supervisor.as_raw_nonzero().get().unsigned_abs()
    }

    /// The reading end of the output pipe; `None` from the second call on.
    pub fn take_output(&mut self) -> Option<File> {
        self.output.take()
    }

    /// How the program ended, if it has.
    pub fn try_wait(&mut self) -> Option<How> {
        self.wait(Duration::ZERO)
    }

    /// Waits until the program has ended, at most this long.
    pub fn wait(&mut self, timeout: Duration) -> Option<How> {
        let deadline = clock::now() + timeout;
        while self.exited.is_none() && self.ended.is_none() {
            if self.receive(Some(deadline)).is_none() {
                break;
            }
        }
        self.exited
    }

    /// Asks the program's group to end (SIGTERM), waits at most this long, then kills all remaining processes.
    pub fn terminate(&mut self, grace: Duration) -> Result<Ended, ChildError> {
        if let Some(lifeline) = self.lifeline.as_ref().filter(|_| self.exited.is_none() && !grace.is_zero()) {
            // On failure the supervisor has ended, which the wait below notices.
            let _gone = rustix::net::send(lifeline, &[supervisor::TERMINATE], SEND_FLAGS);
            let deadline = clock::now() + grace;
            while self.ended.is_none() && self.receive(Some(deadline)).is_some() {}
        }
        self.kill_tree()
    }

    /// Kills the program and its descendants, and waits until all of them are gone.
    pub fn kill_tree(&mut self) -> Result<Ended, ChildError> {
        let forced = self.try_wait().is_none();
        self.killing |= forced;
        self.lifeline = None;
        let deadline = clock::now() + KILL_TIMEOUT;
        while self.ended.is_none() && self.receive(Some(deadline)).is_some() {}
        self.ended.ok_or(ChildError::Unkillable { pid: self.pid })
    }

    /// The next message of the supervisor; `None` at its end or after the deadline.
    fn receive(&mut self, deadline: Option<clock::Nanos>) -> Option<Message> {
        if self.ended.is_some() || !wait_readable(&self.report, deadline) {
            return None;
        }
        let mut record = Record::default();
        let got = rustix::io::read(&self.report, record.as_flattened_mut());
        let message = got.ok().filter(|&got| got == size_of::<Record>()).and_then(|_| Message::decode(record));
        match message {
            Some(Message::Exited { status }) => self.exited = Some(decode_status(status)),
            Some(Message::Gone) => self.record_end(),
            Some(_) => {}
            None => self.handle_lost_supervisor(),
        }
        message
    }

    /// The program died with its supervisor, because the kernel ends it then. This kills the rest of its group.
    fn handle_lost_supervisor(&mut self) {
        if let Some(group) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            let _gone_already = kill_process_group(group, Signal::KILL);
        }
        self.exited.get_or_insert(How::SupervisorKilled);
        self.record_end();
    }

    fn record_end(&mut self) {
        // The supervisor exits right after its last message, so this does not block.
        let _status = waitpid(Some(self.supervisor), WaitOptions::empty());
        self.lifeline = None;
        let how = self.exited.unwrap_or(How::SupervisorKilled);
        self.ended = Some(Ended { how, forced: self.killing });
    }
}

/// Runs a program until it ends, for at most `limit`, or until `cancelled` is set. Returns how it ended, `None` where
/// it was killed before, and what it wrote. Errors: when it cannot be started, or one of its processes cannot be killed.
pub fn run_to_end(
    program: Program,
    limit: Duration,
    cancelled: &AtomicBool,
) -> Result<(Option<How>, String), ChildError> {
    let mut said = Vec::new();
    let deadline = clock::now() + limit;
    let is_over = || cancelled.load(Ordering::Relaxed) || clock::now() >= deadline;
    let how = run_until(program, is_over, Duration::ZERO, &mut |part| said.extend_from_slice(part))?;
    Ok((how, String::from_utf8_lossy(&said).into_owned()))
}

/// Runs a program until it ends, or until `is_over`, which is asked every 50 ms: then it is asked to end, and killed after
/// `grace`. `take` gets what it writes, part by part. Returns how it ended, `None` where it was ended. Errors: as for
/// [`run_to_end`].
pub fn run_until(
    program: Program,
    is_over: impl Fn() -> bool,
    grace: Duration,
    take: &mut dyn FnMut(&[u8]),
) -> Result<Option<How>, ChildError> {
    let mut child = Child::spawn(program)?;
    let mut output = child.take_output();
    while child.try_wait().is_none() && !is_over() {
        let Some(pipe) = &mut output else {
            child.wait(CHECK_EVERY);
            continue;
        };
        let has_ended = wait_readable(&*pipe, Some(clock::now() + CHECK_EVERY)) && !read_part(pipe, take);
        output = output.filter(|_| !has_ended);
    }
    let how = child.try_wait();
    // Until then, a program that it has left running may keep its output open.
    child.terminate(grace)?;
    while output.as_mut().is_some_and(|pipe| read_part(pipe, take)) {}
    Ok(how)
}

/// Takes what can be read now. Returns whether more may follow. After a failed read, the output up to there counts.
fn read_part(pipe: &mut File, take: &mut dyn FnMut(&[u8])) -> bool {
    let mut buffer = [0; 16 * 1024];
    let got = pipe.read(&mut buffer).unwrap_or(0);
    take(&buffer[..got]);
    got > 0
}

impl Drop for Child {
    fn drop(&mut self) {
        // A destructor cannot report an unkillable process; `terminate` does.
        let _ended = self.kill_tree();
    }
}

fn decode_status(status: i32) -> How {
    if libc::WIFSIGNALED(status) { How::Signal(libc::WTERMSIG(status)) } else { How::Code(libc::WEXITSTATUS(status)) }
}

fn wait_readable(fd: &impl AsFd, deadline: Option<clock::Nanos>) -> bool {
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
