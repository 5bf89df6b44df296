//! The files of the programs that a run starts. A run that is resumed must start the same ones.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tare_sut::server::CLASS_PATH_OPTIONS;

use crate::server_host::split_all_jars;

/// What the names of scripts and of compiled code end in. Other files of a command line may be data, which servers write.
const ENDINGS: [&str; 13] =
    [".jar", ".class", ".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".sh", ".php", ".pl", ".dll", ".exs"];

/// The files of a command line that are programs, with size and time of change: programs, scripts, and what is on a class
/// path. Relative paths count from `directory`.
pub(crate) fn program_files(command: &[String], directory: Option<&Path>) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let follows_class_path = |at: usize| at > 0 && CLASS_PATH_OPTIONS.contains(&command[at - 1].as_str());
    for (at, word) in command.iter().enumerate() {
        for path in word.split(':').filter(|path| !path.is_empty()) {
            let path = if follows_class_path(at) { split_all_jars(path).0 } else { path };
            let path = directory.map_or_else(|| PathBuf::from(path), |directory| directory.join(path));
            let is_program = at == 0 || ENDINGS.iter().any(|ending| word.ends_with(ending)) || is_executable(&path);
            if is_program || follows_class_path(at) {
                note(&path, follows_class_path(at), &mut files);
            }
        }
    }
    files
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
}

/// Notes a file; of a class path also what is in its folders.
fn note(path: &Path, with_folders: bool, files: &mut BTreeMap<String, String>) {
    let Ok(found) = path.metadata() else { return };
    if found.is_file() {
        files.insert(path.display().to_string(), state(&found));
    } else if with_folders && let Ok(entries) = path.read_dir() {
        entries.flatten().for_each(|entry| note(&entry.path(), true, files));
    }
}

/// `4096 bytes of 1795370000.5`: size, and time of change in seconds since 1970 UTC.
fn state(file: &Metadata) -> String {
    format!("{} bytes of {}.{:09}", file.len(), file.mtime(), file.mtime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_scripts_and_class_paths_are_noted_and_data_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str| {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        };
        ["serve.sh", "lib/a.jar", "classes/pkg/A.class", "rows.csv"].into_iter().for_each(write);
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let files = |text: &str| {
            let names = program_files(&words(text), Some(folder.path())).into_keys();
            names.map(|name| name.rsplit('/').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(files("sh serve.sh {port} rows.csv"), ["serve.sh"]);
        for option in CLASS_PATH_OPTIONS {
            assert_eq!(files(&format!("java {option} lib/a.jar:classes Main")), ["A.class", "a.jar"], "{option}");
        }
        assert_eq!(files("java -cp lib/* Main"), ["a.jar"]);
        let before = program_files(&words("sh serve.sh"), Some(folder.path()));
        std::fs::write(folder.path().join("serve.sh"), "longer").unwrap();
        assert_ne!(program_files(&words("sh serve.sh"), Some(folder.path())), before);
    }
}
