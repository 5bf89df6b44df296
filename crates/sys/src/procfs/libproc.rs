//! libproc of macOS: processes, their threads and their sockets. It compiles, and it has never run.
//!
//! # Source
//! `<libproc.h>` and `<sys/proc_info.h>`.

use std::ffi::{OsStr, c_char, c_int, c_void};
use std::mem::{MaybeUninit, size_of};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::ProcfsError;
use super::net::Listener;
use super::socket_info::SocketFdInfo;

// Not in the libc crate.
const PROC_PIDFDSOCKETINFO: c_int = 3;
const PROC_PIDTHREADID64INFO: c_int = 15;
const PROC_PIDLISTTHREADIDS: c_int = 28;

/// A struct of the kernel for which any bytes are a valid value.
///
/// # Safety
/// It has only numbers, or arrays of them, and no gaps that matter.
unsafe trait PlainData: Copy {}

// SAFETY: numbers and arrays of them, as are the next ones.
unsafe impl PlainData for libc::proc_bsdinfo {}
// SAFETY: as above.
unsafe impl PlainData for libc::proc_taskinfo {}
// SAFETY: as above.
unsafe impl PlainData for libc::proc_threadinfo {}
// SAFETY: as above.
unsafe impl PlainData for libc::proc_fdinfo {}
// SAFETY: as above.
unsafe impl PlainData for SocketFdInfo {}
// SAFETY: as above.
unsafe impl PlainData for u64 {}

/// A socket that a process holds open.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenSocket {
    pid: u32,
    fd: c_int,
}

impl OpenSocket {
    /// The kernel's number of the socket.
    pub(super) fn handle(self) -> Option<u64> {
        self.read().map(|info| info.handle)
    }

    /// What it listens on; `None` if it does not.
    pub(super) fn listener(self) -> Option<Listener> {
        let info = self.read()?;
        Some(Listener { address: info.listens_on()?, inode: info.handle })
    }

    /// How many connections wait to be accepted, if it listens on `port`.
    pub(super) fn backlog_on(self, port: u16) -> Option<u64> {
        let info = self.read()?;
        info.listens_on().filter(|address| address.port() == port)?;
        u64::try_from(info.waiting).ok()
    }

    fn read(self) -> Option<SocketFdInfo> {
        let mut info = MaybeUninit::<SocketFdInfo>::uninit();
        let length = size_of::<SocketFdInfo>() as c_int;
        // SAFETY: the kernel fills at most the struct, for which any bytes are valid, and says whether it filled it all.
        unsafe {
            let pid = self.pid.cast_signed();
            let filled = libc::proc_pidfdinfo(pid, self.fd, PROC_PIDFDSOCKETINFO, info.as_mut_ptr().cast(), length);
            (filled == length).then(|| info.assume_init())
        }
    }
}

/// The state and the family of a process, even of one that has ended and was not reaped.
pub(super) fn process_info(pid: u32) -> Result<libc::proc_bsdinfo, ProcfsError> {
    const LIVING: u64 = 0;
    const ZOMBIE: u64 = 1;
    let find = |which| one(pid, libc::PROC_PIDTBSDINFO, which, "the state");
    find(LIVING).or_else(|_| find(ZOMBIE))
}

/// Memory and threads of a process.
pub(super) fn task(pid: u32) -> Result<libc::proc_taskinfo, ProcfsError> {
    one(pid, libc::PROC_PIDTASKINFO, 0, "the memory")
}

/// CPU time, in nanoseconds, and name of a thread.
pub(super) fn thread(pid: u32, tid: u32) -> Result<libc::proc_threadinfo, ProcfsError> {
    one(pid, PROC_PIDTHREADID64INFO, u64::from(tid), "a thread")
}

/// The threads of a process. Their numbers count up from 1 since boot; one beyond 32 bits is left out.
pub(super) fn threads(pid: u32) -> Result<Vec<u32>, ProcfsError> {
    let ids: Vec<u64> = list(pid, PROC_PIDLISTTHREADIDS, "the threads")?;
    Ok(ids.into_iter().filter_map(|id| u32::try_from(id).ok()).collect())
}

/// The sockets of a process; none if it is gone or is another user's.
pub(super) fn sockets_of(pid: u32) -> impl Iterator<Item = OpenSocket> {
    let files: Vec<libc::proc_fdinfo> = list(pid, libc::PROC_PIDLISTFDS, "the open files").unwrap_or_default();
    let is_socket = |file: &libc::proc_fdinfo| file.proc_fdtype == libc::PROX_FDTYPE_SOCKET as u32;
    files.into_iter().filter(is_socket).map(move |file| OpenSocket { pid, fd: file.proc_fd })
}

/// The sockets of all processes of this user; for root, of all.
pub(super) fn all_sockets() -> impl Iterator<Item = OpenSocket> {
    all_processes().unwrap_or_default().into_iter().flat_map(sockets_of)
}

/// Every process of the machine.
pub(super) fn all_processes() -> Result<Vec<u32>, ProcfsError> {
    let mut room = 1024;
    loop {
        let mut pids: Vec<libc::pid_t> = vec![0; room];
        let length = c_int::try_from(size_of_val(pids.as_slice())).unwrap_or(c_int::MAX);
        // SAFETY: the kernel fills at most the list.
        let count = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), length) };
        match usize::try_from(count) {
            Ok(0) | Err(_) => return Err(failed("the processes", 0)),
            Ok(count) if count < pids.len() => {
                pids.truncate(count);
                // The kernel itself has the number 0.
                return Ok(pids.into_iter().filter_map(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0).collect());
            }
            // There may be more.
            Ok(_) => room *= 2,
        }
    }
}

/// The file that a process executes.
pub(super) fn program(pid: u32) -> Option<PathBuf> {
    let mut path = [0_u8; libc::PROC_PIDPATHINFO_MAXSIZE as usize];
    // SAFETY: the kernel fills at most the array.
    let length = unsafe { libc::proc_pidpath(pid.cast_signed(), path.as_mut_ptr().cast(), path.len() as u32) };
    let path = path.get(..usize::try_from(length).ok().filter(|&length| length > 0)?)?;
    Some(PathBuf::from(OsStr::from_bytes(path)))
}

/// The CPU time of a process, in nanoseconds.
pub(super) fn cpu_time_ns(pid: u32) -> Result<u64, ProcfsError> {
    let mut usage = MaybeUninit::<libc::rusage_info_v4>::zeroed();
    // SAFETY: the kernel fills the struct of this version, which has only numbers. The parameter's type is that of a
    // pointer to a pointer in the header, too.
    let usage = unsafe {
        let into = usage.as_mut_ptr().cast::<libc::rusage_info_t>();
        if libc::proc_pid_rusage(pid.cast_signed(), libc::RUSAGE_INFO_V4, into) != 0 {
            return Err(failed("the CPU time", pid));
        }
        usage.assume_init()
    };
    Ok(ticks_to_ns(usage.ri_user_time + usage.ri_system_time))
}

/// Ticks of the processor's clock, in which the kernel counts CPU time, as nanoseconds.
#[expect(deprecated, reason = "another crate would be needed only for this function")]
fn ticks_to_ns(ticks: u64) -> u64 {
    let mut base = libc::mach_timebase_info { numer: 0, denom: 0 };
    // SAFETY: the call fills the struct of this stack.
    unsafe { libc::mach_timebase_info(&raw mut base) };
    let ns = u128::from(ticks) * u128::from(base.numer) / u128::from(base.denom.max(1));
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// The text of an array of the kernel, which ends at its first zero.
pub(super) fn text_of(array: &[c_char]) -> String {
    let bytes: Vec<u8> = array.iter().map(|&byte| byte as u8).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads one struct about a process.
fn one<T: PlainData>(pid: u32, flavor: c_int, argument: u64, what: &str) -> Result<T, ProcfsError> {
    let mut value = MaybeUninit::<T>::uninit();
    let length = size_of::<T>() as c_int;
    // SAFETY: the kernel fills at most the struct, for which any bytes are valid, and says whether it filled it all.
    unsafe {
        let filled = libc::proc_pidinfo(pid.cast_signed(), flavor, argument, value.as_mut_ptr().cast(), length);
        if filled == length { Ok(value.assume_init()) } else { Err(failed(what, pid)) }
    }
}

/// Reads a list of structs about a process.
fn list<T: PlainData>(pid: u32, flavor: c_int, what: &str) -> Result<Vec<T>, ProcfsError> {
    let mut all: Vec<T> = Vec::with_capacity(256);
    loop {
        let length = c_int::try_from(all.capacity() * size_of::<T>()).unwrap_or(c_int::MAX);
        // SAFETY: the kernel fills at most the room of the list, and any bytes are valid for its structs.
        let filled = unsafe {
            let room = all.as_mut_ptr().cast::<c_void>();
            libc::proc_pidinfo(pid.cast_signed(), flavor, 0, room, length)
        };
        let count = usize::try_from(filled).unwrap_or(0) / size_of::<T>();
        match count {
            0 => return Err(failed(what, pid)),
            count if count < all.capacity() => {
                // SAFETY: the kernel has written that many.
                unsafe { all.set_len(count) };
                return Ok(all);
            }
            // There may be more.
            count => all = Vec::with_capacity(count * 2),
        }
    }
}

fn failed(what: &str, pid: u32) -> ProcfsError {
    let path = if pid == 0 { PathBuf::from(what) } else { format!("{what} of process {pid}").into() };
    ProcfsError::Read { path, source: std::io::Error::last_os_error() }
}
