//! Watches the program and kills its tree: as subreaper the supervisor inherits every orphan of the tree.

use std::ffi::c_int;
use std::mem;

use super::{LIFELINE, TERMINATE, proc_children, send};
use crate::child::message::Message;

/// Waits until the program has ended or tare asks for its end. Returns whether the program has been reaped. Asked to end with
/// SIGTERM, what the program has started in its group may take its time, too: a shell or npm ends at once.
///
/// # Safety
/// Only for the supervisor, whose only child is the program.
pub(super) unsafe fn watch(main: libc::pid_t) -> bool {
    // SAFETY: the signal set and poll array live on this stack for the length of the calls.
    unsafe {
        let mut child_signal: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut child_signal);
        libc::sigaddset(&raw mut child_signal, libc::SIGCHLD);
        let children = libc::signalfd(-1, &raw const child_signal, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        let (mut is_asked, mut main_reaped) = (false, false);
        let mut waits = [LIFELINE, children].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        loop {
            // If the program died before the signalfd existed, its signal is pending, so nothing is missed.
            while let Some(pid) = reap(libc::WNOHANG, main) {
                main_reaped |= pid == main;
            }
            if main_reaped && !(is_asked && libc::kill(-main, 0) == 0) {
                return true;
            }
            libc::poll(waits.as_mut_ptr(), 2, -1);
            let mut drained = [0_u8; mem::size_of::<libc::signalfd_siginfo>()];
            libc::read(children, drained.as_mut_ptr().cast(), drained.len());
            if waits[0].revents == 0 {
                continue;
            }
            let mut order = 0_u8;
            if libc::read(LIFELINE, (&raw mut order).cast(), 1) != 1 || order != TERMINATE || main_reaped {
                return main_reaped;
            }
            is_asked = true;
            libc::kill(-main, libc::SIGTERM);
            // A stopped process acts on SIGTERM only once it runs again.
            libc::kill(-main, libc::SIGCONT);
        }
    }
}

/// Kills until the kernel says that no child is left. As subreaper, the supervisor inherits every orphan of
/// the tree. `wait` returns `ECHILD` only when there is none, which proves that no process survives.
///
/// # Safety
/// Only for the supervisor, after [`watch`].
pub(super) unsafe fn kill_all(main: libc::pid_t, mut main_reaped: bool) {
    // SAFETY: signals go only to our own, unreaped descendants. Their ids cannot have been reused.
    unsafe {
        loop {
            if !main_reaped {
                libc::kill(-main, libc::SIGKILL);
            }
            proc_children::kill_children(libc::getpid());
            match reap(0, main) {
                Some(pid) => main_reaped |= pid == main,
                None => return,
            }
            // Before the next look through all processes, which would else follow the end of each child.
            while let Some(pid) = reap(libc::WNOHANG, main) {
                main_reaped |= pid == main;
            }
        }
    }
}

/// Reaps one child; reports the end of the program itself.
unsafe fn reap(flags: c_int, main: libc::pid_t) -> Option<libc::pid_t> {
    let mut status = 0;
    // SAFETY: `waitpid` fills one number on this stack.
    let pid = unsafe { libc::waitpid(-1, &raw mut status, flags | libc::__WALL) };
    if pid == main {
        send(Message::Exited { status });
    }
    (pid > 0).then_some(pid)
}
