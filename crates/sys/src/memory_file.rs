//! A file without a name that has a path for this process: in memory on Linux, in the temporary folder on macOS.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

#[cfg(target_os = "linux")]
use self::linux as system;
#[cfg(target_os = "macos")]
use self::macos as system;

/// A file without a name. It is gone when this is dropped.
#[derive(Debug)]
pub struct MemoryFile(File);

impl MemoryFile {
    /// A file with these contents.
    ///
    /// # Errors
    /// When no file descriptor or no memory is left.
    pub fn new(contents: &[u8]) -> io::Result<Self> {
        let mut file = system::open()?;
        file.write_all(contents)?;
        Ok(Self(file))
    }

    /// A path at which this process can open it. On macOS it can be read once for each call of this.
    pub fn path(&self) -> PathBuf {
        system::path(&self.0)
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
