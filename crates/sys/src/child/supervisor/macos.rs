//! The supervisor on macOS: it finds the tree by session and by parents. It compiles, and it has never run.
//!
//! macOS has no subreaper, and no signal at the death of a parent. docs/adr/0001-no-orphans.md says what that leaves open.

use std::ffi::{c_int, c_void};
use std::mem::{size_of, size_of_val, zeroed};
use std::ptr;

use super::descendants::{ListedProcess, mark_descendants};
use super::{LIFELINE, TERMINATE, Usage, send};
use crate::affinity::KernelMask;
use crate::child::message::Message;
use crate::scheduling::SchedulingPolicy;

pub(super) const LAST_SIGNAL: c_int = 31;
/// The unit of `ru_maxrss` in bytes.
pub(super) const MAX_RSS_UNIT: u64 = 1;

/// The most processes that are listed: above the largest `kern.maxproc` of common machines.
const MOST_PROCESSES: usize = 16_384;
/// Pauses between two searches for processes that are being killed, in nanoseconds.
const FIRST_PAUSE_NS: i64 = 2_000_000;
const LONGEST_PAUSE_NS: i64 = 500_000_000;

/// Forks the supervisor. There are no PID namespaces.
///
/// # Safety
/// As for [`fork`].
pub(in crate::child) unsafe fn fork_supervisor(pid_namespace: &mut bool) -> libc::pid_t {
    *pid_namespace = false;
    // SAFETY: the caller's promise.
    unsafe { libc::fork() }
}

/// Copies this process.
///
/// # Safety
/// The child may only make system calls, as the whole supervisor does.
pub(super) unsafe fn fork() -> libc::pid_t {
    // SAFETY: the caller's promise.
    unsafe { libc::fork() }
}

/// A pipe that no program inherits; 0 if it was made.
pub(super) fn pipe(ends: &mut [c_int; 2]) -> c_int {
    // SAFETY: the call fills the array, whose descriptors are ours. The supervisor has one thread.
    unsafe {
        let made = libc::pipe(ends.as_mut_ptr());
        if made == 0 {
            libc::fcntl(ends[0], libc::F_SETFD, libc::FD_CLOEXEC);
            libc::fcntl(ends[1], libc::F_SETFD, libc::FD_CLOEXEC);
        }
        made
    }
}

/// A process cannot take another name, or the orphans of its descendants.
pub(super) const fn become_supervisor(_pid_namespace: bool) {}

/// A process cannot ask to be killed with its parent. tare kills the program's group when it loses the supervisor.
pub(super) const fn end_with_parent() {}

/// The id of the calling process. macOS has neither `/proc` nor PID namespaces, so there is no other.
pub(super) fn own_pid_in_proc() -> u64 {
    u64::from(std::process::id())
}

/// Programs run on any CPU.
pub(super) const fn pin(_mask: &KernelMask) -> Result<(), c_int> {
    Ok(())
}

/// There is no policy but the default.
pub(super) const fn schedule(_policy: SchedulingPolicy) -> Result<(), c_int> {
    Err(libc::ENOTSUP)
}

/// Closes all descriptors from `first` on.
///
/// # Safety
/// Nothing may use them any more.
pub(super) unsafe fn close_from(first: c_int) {
    // SAFETY: the kernel fills at most the array, with entries of this form; closing descriptors of our own process.
    unsafe {
        let mut open: [libc::proc_fdinfo; 1024] = zeroed();
        loop {
            let (length, list) = (size_of_val(&open) as c_int, open.as_mut_ptr().cast::<c_void>());
            let filled = libc::proc_pidinfo(libc::getpid(), libc::PROC_PIDLISTFDS, 0, list, length);
            let count = usize::try_from(filled).unwrap_or(0) / size_of::<libc::proc_fdinfo>();
            let foreign = open.iter().take(count).filter(|entry| entry.proc_fd >= first);
            let closed = foreign.filter(|entry| libc::close(entry.proc_fd) == 0).count();
            if closed == 0 {
                return;
            }
        }
    }
}

/// Watches the program and the lifeline, then kills until no process of the tree is left. The program is reaped last:
/// until then no other process or session can have its id.
///
/// # Safety
/// Only for the supervisor, whose only child is the program.
pub(super) unsafe fn watch_then_kill_tree(main: libc::pid_t, _pid_namespace: bool, usage: &mut Usage) {
    // SAFETY: the caller's promise; `wait4` fills the two plain values on this stack.
    unsafe {
        watch(main);
        kill_tree(main);
        let mut status = 0;
        let mut used: libc::rusage = zeroed();
        if libc::wait4(main, &raw mut status, 0, &raw mut used) == main {
            usage.add(&used);
            send(Message::Exited { status });
        }
    }
}

/// Waits until the program has ended or tare asks for its end.
unsafe fn watch(main: libc::pid_t) {
    // SAFETY: events live on this stack for the length of the calls; the signals go to our child, which is not reaped.
    unsafe {
        let queue = libc::kqueue();
        if add(queue, LIFELINE as usize, libc::EVFILT_READ, 0) != 0 {
            return;
        }
        if add(queue, main.unsigned_abs() as usize, libc::EVFILT_PROC, libc::NOTE_EXIT) != 0 {
            if errno() == libc::ESRCH {
                // The program is ending already.
                wait_for_end(main);
            }
            return;
        }
        loop {
            let mut happened: libc::kevent = zeroed();
            let count = libc::kevent(queue, ptr::null(), 0, &raw mut happened, 1, ptr::null());
            if count < 0 && errno() != libc::EINTR {
                return;
            }
            if count < 1 {
                continue;
            }
            if happened.filter == libc::EVFILT_PROC {
                // It is reported shortly before it can be waited for.
                return wait_for_end(main);
            }
            let mut order = 0_u8;
            if libc::read(LIFELINE, (&raw mut order).cast(), 1) != 1 || order != TERMINATE {
                return;
            }
            libc::kill(-main, libc::SIGTERM);
            // A stopped process acts on SIGTERM only once it runs again.
            libc::kill(-main, libc::SIGCONT);
        }
    }
}

/// Adds one event; 0 if that worked.
unsafe fn add(queue: c_int, ident: usize, filter: i16, fflags: u32) -> c_int {
    let change = libc::kevent { ident, filter, flags: libc::EV_ADD, fflags, data: 0, udata: ptr::null_mut() };
    // SAFETY: the change is a local, and without room for events none is written.
    unsafe { libc::kevent(queue, &raw const change, 1, ptr::null_mut(), 0, ptr::null()) }
}

/// Waits for the end of the program, and leaves it to be reaped.
unsafe fn wait_for_end(main: libc::pid_t) {
    // SAFETY: the call fills a plain struct on this stack.
    unsafe {
        let mut info: libc::siginfo_t = zeroed();
        libc::waitid(libc::P_PID, main.unsigned_abs(), &raw mut info, libc::WEXITED | libc::WNOWAIT);
    }
}

/// Kills until no process of the tree lives. The processes are stopped first, so that none forks unseen between two looks.
unsafe fn kill_tree(main: libc::pid_t) {
    // SAFETY: signals go only to the tree. As long as the program is not reaped, its id stands for nothing else.
    unsafe {
        let mut pause_ns = FIRST_PAUSE_NS;
        while signal_tree(main, libc::SIGSTOP) > 0 {
            signal_tree(main, libc::SIGKILL);
            libc::kill(-main, libc::SIGKILL);
            let pause = libc::timespec { tv_sec: 0, tv_nsec: pause_ns };
            libc::nanosleep(&raw const pause, ptr::null_mut());
            pause_ns = (pause_ns * 2).min(LONGEST_PAUSE_NS);
        }
    }
}

/// Sends a signal to all living processes of the tree. Returns how many there are.
unsafe fn signal_tree(main: libc::pid_t, signal: c_int) -> usize {
    let mut all = [ListedProcess { pid: 0, parent: 0, is_ours: false }; MOST_PROCESSES];
    // SAFETY: as in `kill_tree`.
    unsafe {
        let count = list_processes(main, &mut all);
        let all = all.get_mut(..count).unwrap_or_default();
        mark_descendants(all);
        let mut sent = 0;
        for process in all.iter().filter(|process| process.is_ours) {
            libc::kill(process.pid, signal);
            sent += 1;
        }
        sent
    }
}

/// Lists the living processes. Those of the program's session belong to the tree.
unsafe fn list_processes(main: libc::pid_t, all: &mut [ListedProcess; MOST_PROCESSES]) -> usize {
    // SAFETY: the kernel fills at most the array and the struct of this stack.
    unsafe {
        let mut pids: [libc::pid_t; MOST_PROCESSES] = [0; MOST_PROCESSES];
        let listed = libc::proc_listallpids(pids.as_mut_ptr().cast(), size_of_val(&pids) as c_int);
        let own = libc::getpid();
        let mut count = 0;
        for &pid in pids.iter().take(usize::try_from(listed).unwrap_or(0)).filter(|&&pid| pid > 0 && pid != own) {
            let mut about: libc::proc_bsdinfo = zeroed();
            let (length, into) = (size_of_val(&about) as c_int, (&raw mut about).cast());
            let filled = libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, into, length);
            // A process that has ended, or is another user's, is not ours.
            if filled != length || about.pbi_status == libc::SZOMB {
                continue;
            }
            if let Some(slot) = all.get_mut(count) {
                *slot = ListedProcess { pid, parent: about.pbi_ppid.cast_signed(), is_ours: libc::getsid(pid) == main };
                count += 1;
            }
        }
        count
    }
}

/// The error of the last call.
pub(super) fn errno() -> c_int {
    // SAFETY: the address is this thread's own errno.
    unsafe { *libc::__error() }
}
