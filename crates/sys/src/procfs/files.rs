//! Reads files and folders of `/proc` and `/sys`.

use std::fs;
use std::path::Path;

use super::ProcfsError;

/// Reads a file and parses it. Text that the parser rejects is an error.
pub(super) fn read_as<T>(path: impl AsRef<Path>, parse: impl Fn(&str) -> Option<T>) -> Result<T, ProcfsError> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|source| ProcfsError::Read { path: path.to_owned(), source })?;
    // The name of a thread may contain any bytes.
    let text = String::from_utf8_lossy(&bytes);
    parse(&text).ok_or_else(|| ProcfsError::Format { path: path.to_owned(), text: text.chars().take(200).collect() })
}

/// Names in a directory that are numbers: process, thread and descriptor ids.
pub(super) fn numbers_in(path: impl AsRef<Path>) -> Result<Vec<u32>, ProcfsError> {
    let path = path.as_ref();
    let entries = fs::read_dir(path).map_err(|source| ProcfsError::Read { path: path.to_owned(), source })?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}
