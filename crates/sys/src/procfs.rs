//! What the kernel says under `/proc` and `/sys`: pure parsers over text, and thin readers above them.
//! What the numbers mean for a server or a machine is decided by those who ask.

pub mod backlog;
pub mod machine;
pub mod net;
pub mod process;

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Why something under `/proc` or `/sys` could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcfsError {
    /// The file could not be read; for a process this mostly means that it has ended.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The kernel wrote something unexpected.
    #[error("{} is not as expected: \"{}\"; please report it with your kernel's version", path.display(), text.escape_debug())]
    Format {
        /// The file.
        path: PathBuf,
        /// The start of what it holds.
        text: String,
    },
}

/// Reads a file and parses it; text that the parser refuses is an error.
fn read_as<T>(path: impl AsRef<Path>, parse: impl Fn(&str) -> Option<T>) -> Result<T, ProcfsError> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|source| ProcfsError::Read { path: path.to_owned(), source })?;
    // A thread may be named by any bytes.
    let text = String::from_utf8_lossy(&bytes);
    parse(&text).ok_or_else(|| ProcfsError::Format { path: path.to_owned(), text: text.chars().take(200).collect() })
}

/// Names in a directory that are numbers: process, thread and descriptor ids.
fn numbers_in(path: impl AsRef<Path>) -> Result<Vec<u32>, ProcfsError> {
    let path = path.as_ref();
    let entries = fs::read_dir(path).map_err(|source| ProcfsError::Read { path: path.to_owned(), source })?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}
