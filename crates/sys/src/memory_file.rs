//! A file in memory, without a name, that has a path for this process.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, memfd_create};

/// A file without a name. It is gone when this is dropped.
#[derive(Debug)]
pub struct MemoryFile(File);

impl MemoryFile {
    pub fn new(contents: &[u8]) -> io::Result<Self> {
        let mut file = File::from(memfd_create("tare", MemfdFlags::CLOEXEC)?);
        file.write_all(contents)?;
        Ok(Self(file))
    }

    /// A path at which this process can open it.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_memory_is_read_by_its_path() {
        let file = MemoryFile::new(b"secret").unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), b"secret");
        assert_eq!(std::fs::read(file.path()).unwrap(), b"secret", "each opening begins at the start");
    }
}
