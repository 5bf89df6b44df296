//! Removes what earlier agents left in the cache folder: old programs and bundles, and files of those that were killed.

use std::fs::{self, DirEntry, File};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tare_sys::clock::wall_unix_ns;
use tare_sys::procfs::process;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Programs and bundles are kept for this long after their last use.
const KEPT_UNUSED: Duration = Duration::from_secs(30 * DAY.as_secs());

pub(crate) fn mark_used(path: &Path) -> io::Result<()> {
    File::open(path)?.set_modified(now())
}

/// Removes what no agent of this machine needs from `folder`. What cannot be removed stays.
pub(crate) fn remove_leftovers(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_leftover(entry, now())) {
        let path = entry.path();
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
}

/// The time of the wall clock, which also stamps files.
fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_nanos(wall_unix_ns())
}

/// Names: `agent-HASH` is a program, `files-HASH` a bundle, either with `.PID` until it is whole, and `servers-PID` has the
/// logs of an agent's servers. The process may be of a machine that shares the folder, so its files are kept for a day.
fn is_leftover(entry: &DirEntry, now: SystemTime) -> bool {
    let name = entry.file_name();
    let Some((kind, rest)) = name.to_str().and_then(|name| name.split_once('-')) else { return false };
    let of_process = match kind {
        "servers" => Some(rest),
        "agent" | "files" => rest.split_once('.').map(|(_, process)| process),
        _ => return false,
    };
    let used = entry.metadata().and_then(|about| about.modified());
    let unused_for = |span: Duration| used.is_ok_and(|used| now.duration_since(used).is_ok_and(|unused| unused > span));
    match of_process {
        Some(pid) => pid.parse::<u32>().is_ok_and(|pid| !process::exists(pid)) && unused_for(DAY),
        None => unused_for(KEPT_UNUSED),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// No process has this number: it is above the largest one that Linux gives.
    const NOBODY: u32 = 5_000_000;

    #[test]
    fn only_what_is_old_or_belongs_to_no_process_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let alive = std::process::id();
        let long_ago = now() - KEPT_UNUSED - Duration::from_secs(1);
        let files = [
            ("agent-ab", true, true),
            ("agent-cd", false, false),
            (&format!("agent-ef.{NOBODY}"), true, true),
            (&format!("agent-01.{NOBODY}"), false, false),
            (&format!("agent-ef.{alive}"), true, false),
            ("files-ab/classes", true, true),
            ("files-cd/classes", false, false),
            (&format!("files-ef.{NOBODY}/classes"), true, true),
            (&format!("servers-{NOBODY}/a.log"), true, true),
            (&format!("servers-{alive}/a.log"), true, false),
            ("node_counters.cjs", true, false),
            ("baselines/main/Cargo.toml", true, false),
        ];
        let top = |path: &str| path.split('/').next().unwrap().to_owned();
        for (path, is_old, _) in files {
            let whole = folder.path().join(path);
            fs::create_dir_all(whole.parent().unwrap()).unwrap();
            fs::write(&whole, "x").unwrap();
            if is_old {
                File::open(folder.path().join(top(path))).unwrap().set_modified(long_ago).unwrap();
            }
        }
        remove_leftovers(folder.path());
        let left: BTreeSet<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let kept = files.into_iter().filter(|(_, _, is_removed)| !is_removed).map(|(path, ..)| top(path)).collect();
        assert_eq!(left, kept);
    }

    #[test]
    fn what_was_used_now_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let bundle = folder.path().join("files-ab");
        fs::create_dir(&bundle).unwrap();
        File::open(&bundle).unwrap().set_modified(UNIX_EPOCH).unwrap();
        mark_used(&bundle).unwrap();
        remove_leftovers(folder.path());
        assert!(bundle.exists());
    }

    #[test]
    fn a_folder_that_is_not_there_is_no_error() {
        remove_leftovers(Path::new("/no/such/folder"));
    }
}
