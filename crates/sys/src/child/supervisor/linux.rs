//! The supervisor on Linux: as subreaper it inherits every orphan of the tree, and the program dies with it.

use std::ffi::{c_int, c_long};
use std::mem;

use super::{LIFELINE, TERMINATE, Usage, proc_children, send};
use crate::affinity::KernelMask;
use crate::child::message::Message;
use crate::scheduling::SchedulingPolicy;

pub(super) const LAST_SIGNAL: c_int = 64;
/// The unit of `ru_maxrss` in bytes.
pub(super) const MAX_RSS_UNIT: u64 = 1024;

pub(super) use super::proc_children::own_pid_in_proc;

/// Forks the supervisor, in a PID namespace of its own if that is wanted and permitted. Says in `pid_namespace` whether
/// it was.
///
/// # Safety
/// As for [`fork`].
pub(in crate::child) unsafe fn fork_supervisor(pid_namespace: &mut bool) -> libc::pid_t {
    // SAFETY: the caller's promise.
    unsafe {
        let mut pid = clone(if *pid_namespace { libc::CLONE_NEWPID } else { 0 });
        if pid < 0 && *pid_namespace {
            // Without root, the subreaper works without a PID namespace.
            *pid_namespace = false;
            pid = clone(0);
        }
        pid
    }
}

/// Copies this process.
///
/// # Safety
/// The child may only make system calls, as the whole supervisor does.
pub(super) unsafe fn fork() -> libc::pid_t {
    // SAFETY: the caller's promise.
    unsafe { clone(0) }
}

/// A pipe that no program inherits; 0 if it was made.
pub(super) fn pipe(ends: &mut [c_int; 2]) -> c_int {
    // SAFETY: the call fills the array.
    unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }
}

/// Takes the supervisor's name, and the orphans of its descendants. The first process of a PID namespace gets them anyway.
pub(super) fn become_supervisor(pid_namespace: bool) {
    // SAFETY: system calls on our own process, with plain numbers and a constant string.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"supervisor".as_ptr());
        if !pid_namespace {
            libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        }
    }
}

/// Ends this process with its parent. The supervisor has only one thread, so "the parent's thread has died" means that
/// the supervisor has died.
pub(super) fn end_with_parent() {
    // SAFETY: a system call on our own process, with plain numbers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Pins this process.
pub(super) fn pin(mask: &KernelMask) -> Result<(), c_int> {
    rustix::thread::sched_setaffinity(None, mask).map_err(rustix::io::Errno::raw_os_error)
}

/// Sets the scheduling policy of this process.
pub(super) fn schedule(policy: SchedulingPolicy) -> Result<(), c_int> {
    // The system call itself, with a priority of 0: the function of this name does nothing but fail in musl.
    let priority: c_int = 0;
    // SAFETY: the priority is a local that outlives the call.
    match unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy.number(), &raw const priority) } {
        0 => Ok(()),
        _ => Err(errno()),
    }
}

/// Watches the program and the lifeline, then kills until no process of the tree is left.
///
/// # Safety
/// Only for the supervisor, whose only child is the program.
pub(super) unsafe fn watch_then_kill_tree(main: libc::pid_t, pid_namespace: bool, usage: &mut Usage) {
    // SAFETY: the caller's promise.
    unsafe {
        let main_reaped = watch(main, usage);
        kill_all(main, main_reaped, pid_namespace, usage);
    }
}

/// Closes all descriptors from `first` on.
///
/// # Safety
/// Nothing may use them any more.
pub(super) unsafe fn close_from(first: c_int) {
    // SAFETY: closing descriptors of our own process; the limit is read into a plain struct.
    unsafe {
        if libc::syscall(libc::SYS_close_range, c_long::from(first), c_long::from(c_int::MAX), 0 as c_long) == 0 {
            return;
        }
        // Kernels before 5.9 do not have close_range.
        let mut limit: libc::rlimit = mem::zeroed();
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        for fd in first..c_int::try_from(limit.rlim_cur).unwrap_or(65_536).min(1 << 20) {
            libc::close(fd);
        }
    }
}

/// Waits until the program has ended or tare asks for its end. Returns whether the program has been reaped.
unsafe fn watch(main: libc::pid_t, usage: &mut Usage) -> bool {
    // SAFETY: the signal set and poll array live on this stack for the length of the calls.
    unsafe {
        let mut child_signal: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut child_signal);
        libc::sigaddset(&raw mut child_signal, libc::SIGCHLD);
        let children = libc::signalfd(-1, &raw const child_signal, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        let mut waits = [LIFELINE, children].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        loop {
            // If the program died before the signalfd existed, its signal is pending, so nothing is missed.
            while let Some(pid) = reap(libc::WNOHANG, main, usage) {
                if pid == main {
                    return true;
                }
            }
            libc::poll(waits.as_mut_ptr(), 2, -1);
            let mut drained = [0_u8; mem::size_of::<libc::signalfd_siginfo>()];
            libc::read(children, drained.as_mut_ptr().cast(), drained.len());
            if waits[0].revents == 0 {
                continue;
            }
            let mut order = 0_u8;
            if libc::read(LIFELINE, (&raw mut order).cast(), 1) != 1 || order != TERMINATE {
                return false;
            }
            libc::kill(-main, libc::SIGTERM);
            // A stopped process acts on SIGTERM only once it runs again.
            libc::kill(-main, libc::SIGCONT);
        }
    }
}

/// Kills until the kernel says that no child is left. As subreaper (or init), the supervisor inherits every orphan of
/// the tree. `wait` returns `ECHILD` only when there is none, which proves that no process survives.
unsafe fn kill_all(main: libc::pid_t, mut main_reaped: bool, pid_namespace: bool, usage: &mut Usage) {
    // SAFETY: signals go only to our own, unreaped descendants. Their ids cannot have been reused.
    unsafe {
        loop {
            if pid_namespace {
                libc::kill(-1, libc::SIGKILL);
            } else {
                if !main_reaped {
                    libc::kill(-main, libc::SIGKILL);
                }
                proc_children::kill_children(libc::getpid());
            }
            match reap(0, main, usage) {
                Some(pid) => main_reaped |= pid == main,
                None => return,
            }
        }
    }
}

/// Reaps one child and adds up its use; reports the end of the program itself.
unsafe fn reap(flags: c_int, main: libc::pid_t, usage: &mut Usage) -> Option<libc::pid_t> {
    // SAFETY: `wait4` fills the two plain structs on this stack.
    unsafe {
        let mut status = 0;
        let mut used: libc::rusage = mem::zeroed();
        let pid = libc::wait4(-1, &raw mut status, flags | libc::__WALL, &raw mut used);
        if pid <= 0 {
            return None;
        }
        usage.add(&used);
        if pid == main {
            send(Message::Exited { status });
        }
        Some(pid)
    }
}

/// Like `fork`, but it can create a PID namespace, and it does not run the handlers that libraries register for `fork`.
///
/// # Safety
/// The child may only make system calls, as the whole supervisor does.
unsafe fn clone(flags: c_int) -> libc::pid_t {
    let flags = c_long::from(flags | libc::SIGCHLD);
    // SAFETY: no CLONE_VM and a null stack: the child runs on a copy of this one.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0 as c_long, 0 as c_long, 0 as c_long, 0 as c_long) };
    libc::pid_t::try_from(pid).unwrap_or(-1)
}

/// The error of the last call.
pub(super) fn errno() -> c_int {
    // SAFETY: the address is this thread's own errno.
    unsafe { *libc::__errno_location() }
}
