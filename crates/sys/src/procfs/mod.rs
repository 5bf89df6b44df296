//! Information of the kernel under `/proc` and `/sys`: pure parsers of text, and small functions that read the files.
//! The crate `procfs` has no part in it: for the state of a process it opens a folder and parses 50 fields, and most of
//! what is read here is read in a slice.

pub mod backlog;
pub mod machine;
pub mod net;
pub mod process;
mod sock_diag;
pub mod tree;

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Why information under `/proc` or `/sys` is not available.
#[derive(Debug, thiserror::Error)]
pub enum ProcfsError {
    /// The file could not be read. For a process this usually means that it has ended.
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The kernel wrote something unexpected.
    #[error("{} is not as expected: \"{}\"; please report it with your kernel's version", path.display(), text.escape_debug())]
    Format { path: PathBuf, text: String },
}

/// Reads a file and parses it. Text that the parser rejects is an error.
fn read_as<T>(path: impl AsRef<Path>, parse: impl Fn(&str) -> Option<T>) -> Result<T, ProcfsError> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|source| ProcfsError::Read { path: path.to_owned(), source })?;
    // The name of a thread may contain any bytes.
    let text = String::from_utf8_lossy(&bytes);
    parse(&text).ok_or_else(|| ProcfsError::Format { path: path.to_owned(), text: text.chars().take(200).collect() })
}

/// Names in a directory that are numbers: process, thread and descriptor ids.
fn numbers_in(path: impl AsRef<Path>) -> Result<Vec<u32>, ProcfsError> {
    let path = path.as_ref();
    let entries = fs::read_dir(path).map_err(|source| ProcfsError::Read { path: path.to_owned(), source })?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}
