//! The files that a load reads: from this machine's disk, or, in an agent, those that came with the command line.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::MultiGzDecoder;
use tare_remote::Bytes;
use tare_sys::memory_file::MemoryFile;

/// How a file begins that gzip has written.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The longest table that is read from such a file.
const MOST_BYTES: u64 = 4 << 30;

#[derive(Debug)]
pub enum InputFiles {
    /// This machine's disk.
    Disk,
    /// This machine's disk. What was read is kept for agents.
    Kept(RefCell<BTreeMap<PathBuf, Bytes>>),
    /// Files that came with the command line, and those that have a path. No other is read or written.
    Sent { files: BTreeMap<PathBuf, Bytes>, placed: RefCell<Vec<MemoryFile>> },
}

impl InputFiles {
    pub fn kept() -> Self {
        Self::Kept(RefCell::default())
    }

    pub fn sent(files: &BTreeMap<PathBuf, Bytes>) -> Self {
        Self::Sent { files: files.clone(), placed: RefCell::default() }
    }

    /// What a file contains. One that did not come with the command line of an agent is not found.
    pub fn contents(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self {
            Self::Disk => read(path),
            Self::Kept(kept) => {
                let contents = read(path)?;
                kept.borrow_mut().insert(path.to_owned(), Bytes(contents.clone()));
                Ok(contents)
            }
            Self::Sent { files, .. } => Ok(files.get(path).ok_or(ErrorKind::NotFound)?.0.clone()),
        }
    }

    /// The contents of a list or a table, which may be compressed.
    pub fn table(&self, path: &Path) -> io::Result<Vec<u8>> {
        let contents = self.contents(path)?;
        if !contents.starts_with(&GZIP) {
            return Ok(contents);
        }
        let mut plain = Vec::new();
        MultiGzDecoder::new(&contents[..]).take(MOST_BYTES + 1).read_to_end(&mut plain)?;
        if plain.len() as u64 > MOST_BYTES {
            let text = format!("it expands to more than {MOST_BYTES} bytes");
            return Err(io::Error::new(ErrorKind::InvalidData, text));
        }
        Ok(plain)
    }

    pub fn text(&self, path: &Path) -> io::Result<String> {
        String::from_utf8(self.contents(path)?).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    }

    /// A path at which this process can open the file. A file that is not there is found by who opens it.
    pub fn place(&self, path: &Path) -> PathBuf {
        match self {
            Self::Disk => path.to_owned(),
            Self::Kept(_) => {
                let _ = self.contents(path);
                path.to_owned()
            }
            Self::Sent { files, placed } => {
                let held = files.get(path).and_then(|contents| MemoryFile::new(&contents.0).ok());
                let place = held.as_ref().map_or_else(|| path.to_owned(), MemoryFile::path);
                placed.borrow_mut().extend(held);
                place
            }
        }
    }

    /// All files that were read, to be sent to agents.
    pub fn into_kept(self) -> BTreeMap<PathBuf, Bytes> {
        if let Self::Kept(kept) = self { kept.into_inner() } else { BTreeMap::new() }
    }
}

/// Reads a file; `-` is standard input, which is empty when it has been read.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    static WAS_READ: AtomicBool = AtomicBool::new(false);
    if path != Path::new("-") {
        return std::fs::read(path);
    }
    if WAS_READ.swap(true, Ordering::Relaxed) {
        return Err(io::Error::other("standard input was read for another flag already; name a file for one of them"));
    }
    let mut contents = Vec::new();
    io::stdin().lock().read_to_end(&mut contents)?;
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_table_may_be_compressed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ids.csv.gz");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(b"id\n1\n").unwrap();
        std::fs::write(&path, encoder.finish().unwrap()).unwrap();
        assert_eq!(InputFiles::Disk.table(&path).unwrap(), b"id\n1\n");
        std::fs::write(&path, b"id\n2\n").unwrap();
        assert_eq!(InputFiles::Disk.table(&path).unwrap(), b"id\n2\n");
        std::fs::write(&path, b"\x1f\x8bnonsense").unwrap();
        assert!(InputFiles::Disk.table(&path).is_err());
    }

    #[test]
    fn an_agent_reads_what_its_coordinator_read_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (body, key, other) =
            (folder.path().join("body"), folder.path().join("key.pem"), folder.path().join("other"));
        [&body, &key, &other].iter().for_each(|path| std::fs::write(path, path.to_str().unwrap()).unwrap());
        let files = InputFiles::kept();
        files.text(&body).unwrap();
        assert_eq!(files.place(&key), key);
        let kept = files.into_kept();
        folder.close().unwrap();
        let files = InputFiles::sent(&kept);
        assert_eq!(files.text(&body).unwrap(), body.to_str().unwrap());
        assert_eq!(std::fs::read(files.place(&key)).unwrap(), key.to_str().unwrap().as_bytes());
        assert_eq!(files.contents(&other).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(files.contents(Path::new("/proc/self/status")).is_err(), "a file of the agent's machine");
    }
}
