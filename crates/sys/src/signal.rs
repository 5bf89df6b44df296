//! Signals: what this process does with them, and those that it sends.

use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

/// Makes this process ignore SIGTERM, like a server that does not stop when asked.
pub fn ignore_sigterm() -> io::Result<()> {
    // SAFETY: SIG_IGN installs no handler, so no code of ours ever runs in the context of a signal.
    let previous = unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
    if previous == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Sends SIGQUIT to a process. A JVM opens its attach socket then, if it finds a file that asks for it. A program that does not
/// catch the signal ends: ask [`catches_quit`](crate::procfs::process::catches_quit) first.
pub fn send_quit(pid: u32) -> io::Result<()> {
    let process = Pid::from_raw(pid.cast_signed()).ok_or(Errno::SRCH)?;
    Ok(kill_process(process, Signal::QUIT)?)
}
