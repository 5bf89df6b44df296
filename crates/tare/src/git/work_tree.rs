//! Work trees of baselines: kept for build tools, which find there what they built, and never removed while in use.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use rustix::fs::{FlockOperation, flock};
use tare_sys::clock;

use super::{Checkout, git, run_git};

/// The folder of all work trees in a cache.
const FOLDER: &str = "baselines";
/// Work trees of earlier baselines that are kept for the next check of them.
const KEPT: usize = 5;

/// How often, and how many times, a work tree that another process makes is looked at again: for ten minutes.
const LOOK: Duration = Duration::from_millis(200);
const MOST_LOOKS: u32 = 3_000;

/// A work tree that this process uses. No other removes it before this is dropped.
#[derive(Debug)]
pub struct WorkTree {
    pub folder: PathBuf,
    /// Its lock is shared by all who use the tree.
    lock: File,
}

impl Drop for WorkTree {
    fn drop(&mut self) {
        // A child that has not executed its program yet has the file open, too. Without the lock, nobody waits for it.
        let _ = flock(&self.lock, FlockOperation::Unlock);
    }
}

impl WorkTree {
    /// The work tree that contains this path, as it is: a run that goes on uses what an earlier process built there.
    /// `None` for a path in no work tree of a baseline. One that was removed meanwhile is an error.
    pub fn containing(path: &Path) -> anyhow::Result<Option<Self>> {
        let is_tree = |folder: &&Path| {
            let above = folder.parent().and_then(Path::parent);
            above.is_some_and(|above| above.ends_with(FOLDER)) && lock_file(folder).is_file()
        };
        let Some(folder) = path.ancestors().find(is_tree) else { return Ok(None) };
        let lock = open_lock(folder)?;
        // Who has it alone makes the tree, or removes it.
        flock(&lock, FlockOperation::LockShared).with_context(|| format!("cannot lock {}", folder.display()))?;
        anyhow::ensure!(
            folder.join(".git").exists(),
            "the work tree {} of the baseline was removed, with what was built there; measure again",
            folder.display()
        );
        note_use(&lock);
        Ok(Some(Self { folder: folder.to_owned(), lock }))
    }
}

/// The file beside a work tree that is locked by who uses it, and written when it is used.
fn lock_file(folder: &Path) -> PathBuf {
    folder.with_extension("lock")
}

fn open_lock(folder: &Path) -> anyhow::Result<File> {
    let path = lock_file(folder);
    let opened = File::options().create(true).truncate(false).write(true).open(&path);
    opened.with_context(|| format!("cannot open {}", path.display()))
}

/// Sets the time of the last use of a work tree. If it cannot be set, the tree counts as older than it is.
fn note_use(lock: &File) {
    let _ = lock.set_modified(SystemTime::UNIX_EPOCH + Duration::from_nanos(clock::wall_unix_ns()));
}

impl Checkout {
    /// A work tree of this commit in a folder of its own below `cache`.
    pub fn worktree(&self, commit: &str, cache: &Path) -> anyhow::Result<WorkTree> {
        let folder = self.worktree_folder(commit, cache);
        if let Some(parent) = folder.parent() {
            std::fs::create_dir_all(parent).with_context(|| format!("cannot make the folder {}", parent.display()))?;
        }
        let lock = open_lock(&folder)?;
        for _ in 0..MOST_LOOKS {
            if flock(&lock, FlockOperation::NonBlockingLockShared).is_ok() && is_restored(&folder, commit) {
                note_use(&lock);
                return Ok(WorkTree { folder, lock });
            }
            // The shared lock becomes an exclusive one, or is lost: then the loop takes it again.
            if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
                std::thread::sleep(LOOK);
            } else if !is_restored(&folder, commit) && self.adopt(&folder, commit).is_none() {
                self.make_worktree(&folder, commit)?;
                let place = folder.display();
                anyhow::ensure!(is_restored(&folder, commit), "git does not know its own work tree {place}");
            }
        }
        anyhow::bail!("another process is using {} and does not finish; end it, or wait for it", folder.display())
    }

    fn make_worktree(&self, folder: &Path, commit: &str) -> anyhow::Result<()> {
        folder.parent().iter().for_each(|parent| self.forget_old_worktrees(parent, folder));
        // What is left of an attempt that was interrupted, and what git still knows of it.
        let _ = std::fs::remove_dir_all(folder);
        let _ = git(&self.top, &["worktree", "prune"]);
        let place = folder.to_string_lossy();
        let output = git(&self.top, &["worktree", "add", "--force", "--detach", &place, commit])?;
        if output.status.success() {
            return Ok(());
        }
        // The next attempt would take half a work tree for a whole one.
        let _ = std::fs::remove_dir_all(folder);
        let said = String::from_utf8_lossy(&output.stderr);
        anyhow::bail!("git cannot make a work tree of {commit} in {place}: {}", said.trim())
    }

    /// Makes a work tree from the cache of a CI job, whose clone is new, known to git again. Files that are as in the
    /// commit keep their times, so that build tools find there what they built. `None` if that does not work.
    fn adopt(&self, folder: &Path, commit: &str) -> Option<()> {
        let link = folder.join(".git");
        if !link.is_file() {
            return None;
        }
        let new = folder.with_extension("new");
        let _ = std::fs::remove_dir_all(&new);
        run_git(&self.top, &["worktree", "prune"])?;
        let add = ["worktree", "add", "--force", "--detach", "--no-checkout", &new.to_string_lossy(), commit];
        run_git(&self.top, &add)?;
        std::fs::rename(new.join(".git"), link).ok()?;
        std::fs::remove_dir_all(&new).ok()?;
        run_git(&self.top, &["worktree", "repair", &folder.to_string_lossy()])?;
        run_git(folder, &["reset", "--quiet"])?;
        is_restored(folder, commit).then_some(())
    }

    /// Where the work tree of a commit lies: repositories of one name are told apart by a hash of their path.
    pub fn worktree_folder(&self, commit: &str, cache: &Path) -> PathBuf {
        let name = self.top.file_name().unwrap_or_default().to_string_lossy();
        let mut hasher = DefaultHasher::new();
        self.top.hash(&mut hasher);
        let short: String = commit.chars().take(12).collect();
        cache.join(FOLDER).join(format!("{name}-{:016x}", hasher.finish())).join(short)
    }

    /// Removes the work trees that were used longest ago, so that at most [`KEPT`] remain with a new one. Those in use stay.
    fn forget_old_worktrees(&self, parent: &Path, new: &Path) {
        let Ok(entries) = std::fs::read_dir(parent) else { return };
        let folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut aged: Vec<(SystemTime, PathBuf)> =
            folders.filter(|path| path.is_dir() && path != new).map(|path| (last_use(&path), path)).collect();
        aged.sort();
        let surplus = aged.len().saturating_sub(KEPT - 1);
        let locked = aged.into_iter().filter_map(|(_, folder)| {
            let lock = open_lock(&folder).ok()?;
            flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok().then_some((folder, lock))
        });
        for (folder, _lock) in locked.take(surplus) {
            // Its lock stays: another process may wait for it.
            let _ = git(&self.top, &["worktree", "remove", "--force", &folder.to_string_lossy()]);
            // git does not know one from the cache of a CI job. A tree that cannot be removed takes room, and no more.
            let _ = std::fs::remove_dir_all(&folder);
        }
    }
}

/// When a work tree was used last: its lock says so.
fn last_use(folder: &Path) -> SystemTime {
    let modified = lock_file(folder).metadata().and_then(|found| found.modified());
    modified.unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Whether a folder is a work tree at this commit that git knows. Files of the commit that a build changed, or that an
/// interrupted checkout left out, are put back first; other files stay.
fn is_restored(folder: &Path, commit: &str) -> bool {
    // Without a link of its own, git would take the repository around the folder for it.
    let is_tree = folder.join(".git").is_file() && run_git(folder, &["rev-parse", "HEAD"]).as_deref() == Some(commit);
    let changed = || run_git(folder, &["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"]);
    let is_as_committed = || changed().is_some_and(|changed| changed.is_empty());
    is_tree && (is_as_committed() || run_git(folder, &["reset", "--quiet", "--hard"]).is_some())
}

#[cfg(test)]
mod tests;
