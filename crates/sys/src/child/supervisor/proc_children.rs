//! Reads the children of a process from `/proc` without a heap. Only the supervisor needs this; all other code reads
//! `/proc` through `crate::procfs`.

use std::ffi::{c_char, c_int};

/// Sends SIGKILL to every direct child of this process.
///
/// # Safety
/// `parent` must be the caller itself. Then no other process can reap its children, so their ids cannot be reused.
pub(super) unsafe fn kill_children(parent: libc::pid_t) {
    // SAFETY: `getdents64` fills at most the buffer; entries are walked only within what it returned.
    unsafe {
        let proc = libc::open(c"/proc".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC);
        if proc < 0 {
            return;
        }
        let mut entries = [0_u8; 8192];
        loop {
            let got = libc::syscall(libc::SYS_getdents64, proc, entries.as_mut_ptr(), entries.len());
            let Some(got) = usize::try_from(got).ok().filter(|&got| got > 0) else { break };
            let mut rest = entries.get(..got).unwrap_or(&[]);
            while let Some((name, after)) = first_entry(rest) {
                rest = after;
                if let Some(pid) = number(name).filter(|&pid| parent_of(proc, name) == Some(parent) && pid != parent) {
                    libc::kill(pid, libc::SIGKILL);
                }
            }
        }
        libc::close(proc);
    }
}

/// Splits the first `linux_dirent64` (inode 8, offset 8, length 2, type 1, name) off a listing.
fn first_entry(listing: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = usize::from(u16::from_ne_bytes([*listing.get(16)?, *listing.get(17)?]));
    let name = listing.get(19..length)?;
    let end = name.iter().position(|&byte| byte == 0)?;
    Some((name.get(..end)?, listing.get(length..)?))
}

fn number(name: &[u8]) -> Option<libc::pid_t> {
    if name.is_empty() || name.len() > 9 {
        return None;
    }
    name.iter()
        .try_fold(0, |sum: libc::pid_t, &byte| byte.is_ascii_digit().then(|| sum * 10 + libc::pid_t::from(byte - b'0')))
}

/// Reads the parent from `/proc/NAME/stat`.
unsafe fn parent_of(proc: c_int, name: &[u8]) -> Option<libc::pid_t> {
    let mut path = [0_u8; 24];
    path.get_mut(..name.len())?.copy_from_slice(name);
    path.get_mut(name.len()..name.len() + 6)?.copy_from_slice(b"/stat\0");
    let mut text = [0_u8; 512];
    // SAFETY: the path ends in a zero byte, and `read` fills at most the buffer.
    let got = unsafe {
        let file = libc::openat(proc, path.as_ptr().cast::<c_char>(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let got = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        got
    };
    parent_in_stat(text.get(..usize::try_from(got).ok()?)?)
}

/// The field after the state. The name before it may contain spaces and parentheses, so the *last* one closes it.
fn parent_in_stat(stat: &[u8]) -> Option<libc::pid_t> {
    let after_name = stat.iter().rposition(|&byte| byte == b')')?;
    let mut fields = stat.get(after_name + 1..)?.split(|&byte| byte == b' ').filter(|field| !field.is_empty());
    fields.next()?;
    number(fields.next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_found_behind_any_name() {
        assert_eq!(parent_in_stat(b"12 (a) b) (c)) S 34 12 12 0 -1"), Some(34));
        assert_eq!(parent_in_stat(b"12 (java"), None);
    }

    #[test]
    fn only_whole_numbers_are_process_ids() {
        assert_eq!(number(b"4194304"), Some(4_194_304));
        assert_eq!(number(b"self").or(number(b"")).or(number(b"12345678901")), None);
    }

    #[test]
    fn a_listing_is_cut_into_names() {
        let mut listing = vec![0; 24];
        listing[16] = 24;
        listing[19..22].copy_from_slice(b"123");
        let (name, rest) = first_entry(&listing).unwrap();
        assert_eq!((name, rest.len()), (&b"123"[..], 0));
        assert!(first_entry(&listing[..10]).is_none());
    }
}
