//! Files in memory on Linux.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, memfd_create};

pub(super) fn open() -> io::Result<File> {
    Ok(File::from(memfd_create("tare", MemfdFlags::CLOEXEC)?))
}

pub(super) fn path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
