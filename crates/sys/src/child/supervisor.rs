//! The process between tare and a program. It outlives a `kill -9` of tare until it has killed the program and its
//! descendants. docs/adr/0001-no-orphans.md explains why this is reliable. This code runs after a plain `clone` of a
//! process with threads. It must not allocate, lock, panic or unwind. It uses only system calls and its own stack.

mod proc_children;
mod tree;

use std::ffi::{CString, c_char, c_int, c_long};
use std::{mem, ptr};

use rustix::thread::sched_setaffinity;
use tare_units::SchedulingPolicy;

use super::message::{Message, step};
use crate::affinity::KernelMask;
use crate::procfs::tree::SUPERVISOR;

/// The supervisor's file descriptors; 0, 1 and 2 become the program's.
const LIFELINE: c_int = 3;
const REPORT: c_int = 4;
const FIRST_FOREIGN: c_int = 5;

const LAST_SIGNAL: c_int = 64;

/// Asks to send SIGTERM to the program's group. Any other byte on the lifeline, and its end, asks to kill everything.
pub(super) const TERMINATE: u8 = b'T';

/// All inputs of the supervisor. They are made before the `clone`, because nothing can be allocated after it.
pub(super) struct Orders {
    pub(super) program: CString,
    pub(super) argv: CStrings,
    pub(super) envp: CStrings,
    pub(super) directory: Option<CString>,
    pub(super) affinity: Option<KernelMask>,
    pub(super) scheduling: SchedulingPolicy,
    pub(super) null: c_int,
    pub(super) output: c_int,
    pub(super) lifeline: c_int,
    pub(super) report: c_int,
}

/// C strings, and pointers to them that end in null. The heap buffers do not move with the struct.
pub(super) struct CStrings {
    _texts: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl CStrings {
    pub(super) fn new(texts: Vec<CString>) -> Self {
        let pointers = texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect();
        Self { _texts: texts, pointers }
    }
}

/// Starts the program, watches it and its lifeline, and returns when no process of its tree is left.
///
/// # Safety
/// Only for the child side of a `clone` without `CLONE_VM`, with all signals blocked, and the descriptors of `orders`
/// open.
pub(super) unsafe fn supervise(orders: &Orders) -> ! {
    // SAFETY: plain system calls on our own process; `orders` outlives this function, which never returns.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, SUPERVISOR.as_ptr());
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        // If tare ignores SIGCHLD, the kernel would reap for us, and the status would be lost.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        let main = match lay_out_descriptors(orders).and_then(|()| start(orders)) {
            Ok(main) => main,
            Err((step, errno)) => {
                send(Message::Failed { step, errno });
                libc::_exit(1);
            }
        };
        let main_reaped = tree::watch(main);
        tree::kill_all(main, main_reaped);
        send(Message::Gone);
        libc::_exit(0)
    }
}

/// Moves the four descriptors to their numbers and closes all others: another server's lifeline must not stay open in
/// this process. Where it fails, only the report has its number: the other numbers are those of tare's own files.
unsafe fn lay_out_descriptors(orders: &Orders) -> Result<(), (u64, c_int)> {
    // SAFETY: system calls on descriptor numbers; each source is first duplicated above all targets, so that no target
    // overwrites a source that is still needed.
    unsafe {
        let above = [orders.null, orders.output, orders.lifeline, orders.report]
            .map(|fd: c_int| libc::fcntl(fd, libc::F_DUPFD, 16));
        if above.iter().any(|&fd| fd < 0) {
            let errno = errno();
            libc::dup2(orders.report, REPORT);
            return Err((step::PLUMBING, errno));
        }
        let [null, output, lifeline, report] = above;
        libc::dup2(null, 0);
        libc::dup2(output, 1);
        libc::dup2(output, 2);
        libc::dup2(lifeline, LIFELINE);
        libc::dup2(report, REPORT);
        if libc::syscall(libc::SYS_close_range, c_long::from(FIRST_FOREIGN), c_long::from(c_int::MAX), 0 as c_long) != 0
        {
            return Err((step::PLUMBING, errno()));
        }
        libc::fcntl(LIFELINE, libc::F_SETFD, libc::FD_CLOEXEC);
        libc::fcntl(REPORT, libc::F_SETFD, libc::FD_CLOEXEC);
    }
    Ok(())
}

/// Like `fork`, but it does not run the handlers that libraries register for `fork`. Negative where it fails. With
/// `CLONE_VFORK`, it returns in the parent once the child executes another program or has ended.
///
/// # Safety
/// The child may only make system calls, as the whole supervisor does.
pub(super) unsafe fn clone(flags: c_int) -> libc::pid_t {
    let flags = c_long::from(libc::SIGCHLD | flags);
    // SAFETY: no CLONE_VM and a null stack: the child runs on a copy of this one.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0 as c_long, 0 as c_long, 0 as c_long, 0 as c_long) };
    libc::pid_t::try_from(pid).unwrap_or(-1)
}

/// The error of the last call.
fn errno() -> c_int {
    // SAFETY: the address is this thread's own errno.
    unsafe { *libc::__errno_location() }
}

/// Forks, and executes the program in the child. Returns its process id in the parent, once it is executing or has
/// reported why not.
unsafe fn start(orders: &Orders) -> Result<libc::pid_t, (u64, c_int)> {
    // SAFETY: `clone` copies the address space, and the child only ever calls `become_program`, which never returns.
    unsafe {
        let supervisor = libc::getpid();
        let pid = clone(libc::CLONE_VFORK);
        if pid < 0 {
            return Err((step::PLUMBING, errno()));
        }
        if pid == 0 {
            become_program(orders, supervisor);
        }
        // The program's output must end when the last of *its* processes closes it, so the supervisor closes its own
        // copies.
        libc::dup2(0, 1);
        libc::dup2(0, 2);
        // Where the child has failed, tare has read that before, and takes no notice of this.
        send(Message::Started { pid: pid.unsigned_abs() });
        Ok(pid)
    }
}

/// The child: a session of its own, ended with the supervisor, pinned, with default signals; then the program.
unsafe fn become_program(orders: &Orders, supervisor: libc::pid_t) -> ! {
    // SAFETY: system calls on our own process; the pointers of `orders` were made from live C strings and end in null.
    unsafe {
        libc::setsid();
        // The supervisor has only one thread, so "the parent's thread has died" means that the supervisor has died.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        let orphaned_before_that = libc::getppid() != supervisor;
        if orphaned_before_that {
            libc::_exit(1);
        }
        let fail = |step: u64, errno: c_int| -> ! {
            send(Message::Failed { step, errno });
            libc::_exit(127)
        };
        if let Some(Err(refused)) = orders.affinity.as_ref().map(|mask| sched_setaffinity(None, mask)) {
            fail(step::AFFINITY, refused.raw_os_error());
        }
        // The default needs no call: programs inherit the policy of tare.
        if orders.scheduling == SchedulingPolicy::Batch {
            // The system call itself, with a priority of 0: the function of this name does nothing but fail in musl.
            let priority: c_int = 0;
            if libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_BATCH, &raw const priority) != 0 {
                fail(step::SCHEDULING, errno());
            }
        }
        if orders.directory.as_ref().is_some_and(|directory| libc::chdir(directory.as_ptr()) != 0) {
            fail(step::DIRECTORY, errno());
        }
        for signal in 1..=LAST_SIGNAL {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
        libc::execve(orders.program.as_ptr(), orders.argv.pointers.as_ptr(), orders.envp.pointers.as_ptr());
        fail(step::EXECUTE, errno())
    }
}

fn send(message: Message) {
    let record = message.encode();
    // SAFETY: the record lives through the call. If tare is gone the write fails without harm, because SIGPIPE is
    // blocked; in a child that has failed to execute its program, it may be fatal.
    unsafe { libc::write(REPORT, record.as_ptr().cast(), size_of_val(&record)) };
}
