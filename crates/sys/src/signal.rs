//! Signal dispositions of this process.

use std::io;

/// Makes this process ignore SIGTERM, like a server that does not stop when asked.
pub fn ignore_sigterm() -> io::Result<()> {
    // SAFETY: SIG_IGN installs no handler, so no code of ours ever runs in the context of a signal.
    let previous = unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
    if previous == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}
