//! The kernel's own stamps of received bytes (`SO_TIMESTAMPING`), to compare those of a poller with.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::clock::{self, Nanos};

/// When the kernel received some bytes, and when the poller noticed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StampPair {
    /// The kernel's stamp of the last byte.
    pub kernel: Nanos,
    /// The poller's stamp, as in the event.
    pub poller: Nanos,
}

/// The requested stamps: by software, at the entry of the network stack, marked as such.
const WANTED: libc::c_uint = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;

/// Pairs of stamps, for a poller that compares them.
#[derive(Debug)]
pub(crate) struct StampLog {
    pairs: Vec<StampPair>,
    /// Wall time minus monotonic time, because the kernel stamps by the wall clock.
    wall_ahead_ns: u64,
}

impl StampLog {
    pub(crate) fn new() -> Self {
        Self { pairs: Vec::new(), wall_ahead_ns: wall_ahead_ns() }
    }

    pub(crate) fn take(&mut self) -> Vec<StampPair> {
        std::mem::take(&mut self.pairs)
    }

    /// Receives like recv(2), and records the kernel's stamp and `poller`. The first receive on a socket enables
    /// stamps, and has none.
    pub(crate) fn receive(&mut self, socket: BorrowedFd<'_>, buffer: &mut [u8], poller: Nanos) -> io::Result<usize> {
        let (received, stamp_ns) = receive(socket, buffer)?;
        match stamp_ns {
            Some(stamp_ns) => {
                let kernel = Nanos(stamp_ns.saturating_sub(self.wall_ahead_ns));
                self.pairs.push(StampPair { kernel, poller });
            }
            None if received > 0 => ask_for_stamps(socket)?,
            None => {}
        }
        Ok(received)
    }
}

/// Read from the two clocks many times; the narrowest reading counts.
fn wall_ahead_ns() -> u64 {
    let look = || {
        let (before, wall, after) = (clock::now(), clock::wall_unix_ns(), clock::now());
        (after.since(before), wall.saturating_sub(before.0.midpoint(after.0)))
    };
    (0..1000).map(|_| look()).min().map_or(0, |(_, ahead)| ahead)
}

fn ask_for_stamps(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the option's value is a local of the stated size, and the descriptor is borrowed and so open.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            std::ptr::from_ref(&WANTED).cast(),
            size_of::<libc::c_uint>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Calls recvmsg(2). Returns the software stamp of its control messages, in nanoseconds of wall time.
fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
    // Room for one message of three time stamps, aligned as control messages must be.
    let mut control = [0_u64; 16];
    let mut vector = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: msghdr is plain data, and zeroes are a valid value.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut vector;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: all that `message` points to are locals and the caller's buffer, with their true lengths.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    if received < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((received as usize, stamp_of(&message)))
}

fn stamp_of(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel has filled in `message`, whose control buffer is alive; the macros stay within its length.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: a header that the macros return lies whole within the control buffer.
        let found = unsafe { &*header };
        if found.cmsg_level == libc::SOL_SOCKET && found.cmsg_type == libc::SCM_TIMESTAMPING {
            // SAFETY: such a message holds three timespecs, the first of which is the software stamp.
            let stamp = unsafe { libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned() };
            let ns = stamp.tv_sec as u64 * 1_000_000_000 + stamp.tv_nsec as u64;
            return (ns > 0).then_some(ns);
        }
        // SAFETY: `header` came from the same message, which has not changed.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::os::fd::AsFd;

    // It makes no system call, so Miri can execute it.
    #[test]
    fn a_stamp_is_found_behind_other_control_messages() {
        let mut control = [0_u64; 16];
        // SAFETY: msghdr is plain data, and zeroes are a valid value.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        let stamps = [libc::timespec { tv_sec: 3, tv_nsec: 5 }; 3];
        // SAFETY: both messages fit into the control buffer, and `message` has its true length.
        unsafe {
            let other = libc::CMSG_FIRSTHDR(&raw const message);
            (*other).cmsg_len = libc::CMSG_LEN(1) as _;
            (*other).cmsg_level = libc::IPPROTO_TCP;
            let stamped = other.byte_add(libc::CMSG_SPACE(1) as usize);
            (*stamped).cmsg_len = libc::CMSG_LEN(size_of_val(&stamps) as u32) as _;
            (*stamped).cmsg_level = libc::SOL_SOCKET;
            (*stamped).cmsg_type = libc::SCM_TIMESTAMPING;
            libc::CMSG_DATA(stamped).cast::<[libc::timespec; 3]>().write_unaligned(stamps);
        }
        assert_eq!(stamp_of(&message), Some(3_000_000_005));
        message.msg_controllen = size_of::<libc::cmsghdr>() as _;
        assert_eq!(stamp_of(&message), None, "the second message is beyond the length");
        message.msg_controllen = 0;
        assert_eq!(stamp_of(&message), None);
    }

    #[test]
    fn bytes_bring_a_stamp_from_after_they_were_sent_once_the_kernel_has_begun() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (receiver, _) = listener.accept().unwrap();
        let (mut log, mut buffer) = (StampLog::new(), [0; 8]);
        let mut exchange = || {
            let before = clock::now();
            sender.write_all(b"hello").unwrap();
            assert_eq!(log.receive(receiver.as_fd(), &mut buffer, clock::now()).unwrap(), 5);
            (before, log.take())
        };
        // The first socket that enables stamps in the system makes the kernel start stamping, which takes a moment.
        let began = (0..100_000).any(|_| {
            std::thread::yield_now();
            !exchange().1.is_empty()
        });
        assert!(began);
        // The two clocks agree within a hundredth of a second, unless one of them is set.
        let slack = std::time::Duration::from_millis(10);
        for _ in 0..3 {
            let (before, pairs) = exchange();
            assert!(pairs.len() == 1 && pairs[0].kernel + slack >= before);
        }
        drop(sender);
        assert_eq!(log.receive(receiver.as_fd(), &mut buffer, clock::now()).unwrap(), 0);
    }
}
