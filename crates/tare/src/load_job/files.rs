//! The files that a load reads: from this machine's disk, or, in an agent, those that came with the command line.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tare_remote::{Bytes, InputFile};
use tare_sys::memory_file::MemoryFile;

/// Where the files of a load come from.
#[derive(Debug)]
pub enum InputFiles {
    /// This machine's disk.
    Disk,
    /// This machine's disk. What was read is kept for agents.
    Kept(RefCell<BTreeMap<PathBuf, Vec<u8>>>),
    /// Files that came with the command line. Nothing is read from the disk, and nothing is written to it.
    Sent {
        /// By the path that the command line has.
        files: BTreeMap<PathBuf, Vec<u8>>,
        /// Those that must have a path.
        placed: RefCell<Vec<MemoryFile>>,
    },
}

impl InputFiles {
    /// This machine's files, kept for agents.
    pub fn kept() -> Self {
        Self::Kept(RefCell::default())
    }

    /// The files that a coordinator sent.
    pub fn sent(files: &[InputFile]) -> Self {
        let files = files.iter().map(|file| (PathBuf::from(&file.path), file.contents.0.clone()));
        Self::Sent { files: files.collect(), placed: RefCell::default() }
    }

    /// What a file contains.
    pub fn contents(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self {
            Self::Disk => std::fs::read(path),
            Self::Kept(kept) => {
                let contents = std::fs::read(path)?;
                kept.borrow_mut().insert(path.to_owned(), contents.clone());
                Ok(contents)
            }
            Self::Sent { files, .. } => files.get(path).cloned().ok_or_else(|| ErrorKind::NotFound.into()),
        }
    }

    /// The text of a file.
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
                let held = files.get(path).and_then(|contents| MemoryFile::new(contents).ok());
                held.map_or_else(
                    || path.to_owned(),
                    |held| {
                        let place = held.path();
                        placed.borrow_mut().push(held);
                        place
                    },
                )
            }
        }
    }

    /// All files that were read, to be sent to agents.
    pub fn into_kept(self) -> Vec<InputFile> {
        let Self::Kept(kept) = self else { return Vec::new() };
        let file = |(path, contents): (PathBuf, Vec<u8>)| InputFile {
            path: path.display().to_string(),
            contents: Bytes(contents),
        };
        kept.into_inner().into_iter().map(file).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
