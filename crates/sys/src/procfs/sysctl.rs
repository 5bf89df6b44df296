//! Values of the kernel of macOS by name.

use std::ffi::CStr;
use std::ptr;

/// A text; `None` if the kernel has no such value.
pub(crate) fn text(name: &CStr) -> Option<String> {
    let mut bytes = [0_u8; 256];
    let length = read(name, &mut bytes)?;
    let text = bytes.get(..length)?.split(|&byte| byte == 0).next()?;
    Some(String::from_utf8_lossy(text).trim().to_owned())
}

/// A number of four or eight bytes; `None` if the kernel has no such value.
pub(crate) fn number(name: &CStr) -> Option<u64> {
    let mut bytes = [0_u8; 8];
    match read(name, &mut bytes)? {
        4 => u64::try_from(i32::from_ne_bytes(bytes.first_chunk().copied()?)).ok(),
        8 => Some(u64::from_ne_bytes(bytes)),
        _ => None,
    }
}

/// Reads a value into `bytes`. Returns its length.
fn read(name: &CStr, bytes: &mut [u8]) -> Option<usize> {
    let mut length = bytes.len();
    // SAFETY: the name ends in a zero byte; the kernel writes at most `length` bytes, and then their number.
    let failed =
        unsafe { libc::sysctlbyname(name.as_ptr(), bytes.as_mut_ptr().cast(), &raw mut length, ptr::null_mut(), 0) };
    (failed == 0).then_some(length)
}
