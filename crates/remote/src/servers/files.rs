//! The files of servers on another machine: programs, scripts and class paths. Each file or folder is sent once and kept
//! there in a folder that is named after the hash of its contents.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use super::leftovers::mark_used;
use crate::protocol::FilePart;

const HASH_LENGTH: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BundleFile {
    pub source: PathBuf,
    /// Its path within the bundle: the name of the file or folder that is sent comes first.
    pub path: String,
    pub is_executable: bool,
}

/// The files of a file or a folder, in order of their paths.
pub(crate) fn bundle_files(root: &Path) -> io::Result<Vec<BundleFile>> {
    let name = name_of(root)?;
    let mut files = Vec::new();
    collect(root, name, &mut files)?;
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

fn collect(source: &Path, path: String, files: &mut Vec<BundleFile>) -> io::Result<()> {
    let found = fs::metadata(source)?;
    if found.is_dir() {
        for entry in fs::read_dir(source)? {
            let child = entry?.path();
            collect(&child, format!("{path}/{}", name_of(&child)?), files)?;
        }
    } else {
        let is_executable = found.permissions().mode() & 0o111 != 0;
        files.push(BundleFile { source: source.to_owned(), path, is_executable });
    }
    Ok(())
}

pub(crate) fn name_of(path: &Path) -> io::Result<String> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.map(str::to_owned).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "its name is no text"))
}

/// SHA-256 in hex of the name of a bundle, and the paths, permissions and contents of all its files. An empty folder has none.
pub(crate) fn bundle_hash(name: &str, files: &[BundleFile]) -> io::Result<String> {
    let mut hash = Sha256::new();
    hash.update(name.as_bytes());
    for file in files {
        let contents = fs::read(&file.source)?;
        hash.update(file.path.as_bytes());
        hash.update([0, u8::from(file.is_executable)]);
        hash.update((contents.len() as u64).to_le_bytes());
        hash.update(&contents);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[derive(Debug)]
pub(crate) struct FileStore {
    folder: PathBuf,
}

impl FileStore {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The path of a bundle; `None` if it is missing or its contents no longer have this hash.
    pub fn find(&self, hash: &str, name: &str) -> Option<PathBuf> {
        let root = self.bundle_folder(hash).ok()?.join(relative_path(name).ok()?);
        let is_right = bundle_files(&root).and_then(|files| bundle_hash(name, &files)).is_ok_and(|found| found == hash);
        is_right.then_some(root).inspect(|_| drop(self.bundle_folder(hash).and_then(|place| mark_used(&place))))
    }

    /// Writes a part of a file of a bundle that is not whole yet. One outside the bundle is refused.
    pub fn write(&self, hash: &str, part: &FilePart) -> io::Result<()> {
        let file = self.unfinished_folder(hash)?.join(relative_path(&part.path)?);
        fs::create_dir_all(file.parent().unwrap_or(&self.folder))?;
        let mode = if part.is_executable { 0o700 } else { 0o600 };
        let mut options = File::options();
        options.create(true).mode(mode).append(!part.is_first).write(true).truncate(part.is_first);
        options.open(file)?.write_all(&part.contents.0)
    }

    /// Moves a complete bundle to its place and returns its path, unless its contents are not what `hash` says.
    pub fn finish(&self, hash: &str, name: &str) -> io::Result<PathBuf> {
        let (unfinished, place) = (self.unfinished_folder(hash)?, self.bundle_folder(hash)?);
        // Of an empty folder no file was sent.
        if !unfinished.exists() {
            fs::create_dir_all(unfinished.join(relative_path(name)?))?;
        }
        // A bundle that is there already is damaged, or another agent has just stored it.
        let _ = fs::remove_dir_all(&place);
        fs::rename(&unfinished, &place).inspect_err(|_| drop(fs::remove_dir_all(&unfinished)))?;
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "its contents are not those that were sent");
        self.find(hash, name).ok_or_else(damaged)
    }

    fn bundle_folder(&self, hash: &str) -> io::Result<PathBuf> {
        let is_hash = hash.len() == HASH_LENGTH && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let wrong = || io::Error::new(io::ErrorKind::InvalidInput, "it has no hash");
        is_hash.then(|| self.folder.join(format!("files-{hash}"))).ok_or_else(wrong)
    }

    fn unfinished_folder(&self, hash: &str) -> io::Result<PathBuf> {
        let place = self.bundle_folder(hash)?;
        Ok(place.with_extension(std::process::id().to_string()))
    }
}

/// Checks that a path does not leave its folder.
fn relative_path(path: &str) -> io::Result<&Path> {
    let path = Path::new(path);
    let stays = path.components().all(|part| matches!(part, Component::Normal(_))) && path.file_name().is_some();
    let wrong = || io::Error::new(io::ErrorKind::InvalidInput, "its path leads out of its folder");
    stays.then_some(path).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Bytes;

    fn folder_of_classes() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("classes/pkg")).unwrap();
        fs::write(root.path().join("classes/pkg/A.class"), "a").unwrap();
        fs::write(root.path().join("classes/run.sh"), "#!/bin/sh").unwrap();
        fs::set_permissions(root.path().join("classes/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        root
    }

    fn part(path: &str) -> FilePart {
        FilePart { path: path.to_owned(), is_executable: false, is_first: true, contents: Bytes(b"x".to_vec()) }
    }

    fn send(store: &FileStore, root: &Path) -> PathBuf {
        let (files, name) = (bundle_files(root).unwrap(), name_of(root).unwrap());
        let hash = bundle_hash(&name, &files).unwrap();
        for file in &files {
            let contents = fs::read(&file.source).unwrap();
            for (at, byte) in contents.iter().enumerate() {
                let (is_executable, contents) = (file.is_executable, Bytes(vec![*byte]));
                let part = FilePart { is_executable, is_first: at == 0, contents, ..part(&file.path) };
                store.write(&hash, &part).unwrap();
            }
        }
        store.finish(&hash, &name).unwrap()
    }

    #[test]
    fn a_folder_is_kept_as_it_was_under_its_hash() {
        let (here, there) = (folder_of_classes(), tempfile::tempdir().unwrap());
        let store = FileStore::new(there.path().to_owned());
        let root = here.path().join("classes");
        let hash = bundle_hash("classes", &bundle_files(&root).unwrap()).unwrap();
        assert_eq!(store.find(&hash, "classes"), None);
        let kept = send(&store, &root);
        assert_eq!(kept, there.path().join(format!("files-{hash}/classes")));
        assert_eq!(fs::read_to_string(kept.join("pkg/A.class")).unwrap(), "a");
        assert_eq!(fs::metadata(kept.join("run.sh")).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(store.find(&hash, "classes"), Some(kept.clone()));
        fs::write(kept.join("pkg/A.class"), "b").unwrap();
        assert_eq!(store.find(&hash, "classes"), None, "one that was changed is sent again");
        assert_eq!(send(&store, &root), kept);
        assert_eq!(fs::read_dir(there.path()).unwrap().count(), 1, "nothing else stays");
    }

    #[test]
    fn empty_folders_of_a_class_path_arrive_beside_one_another() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = FileStore::new(there.path().to_owned());
        let kept = ["classes", "resources"].map(|name| {
            fs::create_dir(here.path().join(name)).unwrap();
            send(&store, &here.path().join(name))
        });
        assert!(kept.iter().all(|folder| folder.is_dir()), "{kept:?}");
    }

    #[test]
    fn nothing_is_written_outside_the_folder() {
        let there = tempfile::tempdir().unwrap();
        let store = FileStore::new(there.path().join("store"));
        let hash = "ab".repeat(32);
        for path in ["../a", "/etc/a", "", "a/../../b"] {
            assert!(store.write(&hash, &part(path)).is_err(), "{path:?}");
        }
        for hash in ["", "..", "../../x", &"z".repeat(64)] {
            assert!(store.write(hash, &part("a")).is_err(), "{hash:?}");
        }
        assert_eq!(fs::read_dir(there.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_did_not_arrive_whole_is_not_kept() {
        let there = tempfile::tempdir().unwrap();
        let store = FileStore::new(there.path().to_owned());
        let hash = "ab".repeat(32);
        store.write(&hash, &part("a")).unwrap();
        assert!(store.finish(&hash, "a").unwrap_err().to_string().contains("not those that were sent"));
        assert_eq!(store.find(&hash, "a"), None);
    }
}
