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
        anyhow::ensure!(
            output.status.success(),
            "git cannot make a work tree of {commit} in {place}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        Ok(())
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
mod tests {
    use super::*;

    /// A repository with commits, and the folder for its work trees.
    struct TestRepository {
        folder: tempfile::TempDir,
        top: PathBuf,
        cache: PathBuf,
    }

    impl TestRepository {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let (top, cache) = (folder.path().join("own"), folder.path().join("cache"));
            std::fs::create_dir(&top).unwrap();
            let fixture = Self { folder, top, cache };
            fixture.run(&["init", "-q", "-b", "trunk"]);
            fixture
        }

        fn run(&self, args: &[&str]) {
            let identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
            let output = git(&self.top, &[&identity, args].concat()).unwrap();
            assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        }

        /// Commits everything; returns the commit.
        fn commit(&self) -> String {
            self.run(&["add", "."]);
            self.run(&["commit", "-q", "--allow-empty", "-m", "a step"]);
            self.checkout().commit("HEAD", "").unwrap()
        }

        fn checkout(&self) -> Checkout {
            Checkout::containing(&self.top).unwrap().unwrap()
        }
    }

    #[test]
    fn a_work_tree_in_use_or_used_lately_is_not_removed_for_a_new_one() {
        let fixture = TestRepository::new();
        let checkout = fixture.checkout();
        let commits: Vec<String> = (0..KEPT + 3).map(|_| fixture.commit()).collect();
        let make = |commit: &String| checkout.worktree(commit, &fixture.cache).unwrap();
        let exists = |at: usize| checkout.worktree_folder(&commits[at], &fixture.cache).join(".git").exists();
        // Those of 0 to 4 were used in this order, a minute apart and long ago; then that of 1 is used again. That of 2 is in use.
        let trees: Vec<WorkTree> = commits[..KEPT].iter().map(make).collect();
        for (minute, tree) in (1..).zip(&trees) {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(minute * 60);
            open_lock(&tree.folder).unwrap().set_modified(time).unwrap();
        }
        let in_use = trees.into_iter().nth(2).unwrap();
        drop(make(&commits[1]));
        for commit in &commits[KEPT..KEPT + 3] {
            drop(make(commit));
        }
        let left: Vec<usize> = (0..commits.len()).filter(|at| exists(*at)).collect();
        assert_eq!(left, [1, 2, 5, 6, 7], "0, 3 and 4 were used longest ago, 2 is in use");
        assert!(in_use.folder.join(".git").exists());
    }

    #[test]
    fn a_work_tree_is_free_as_soon_as_nobody_uses_it_whatever_a_child_has_open() {
        let fixture = TestRepository::new();
        let tree = fixture.checkout().worktree(&fixture.commit(), &fixture.cache).unwrap();
        let (folder, of_child) = (tree.folder.clone(), tree.lock.try_clone().unwrap());
        let is_free = || flock(open_lock(&folder).unwrap(), FlockOperation::NonBlockingLockExclusive).is_ok();
        assert!(!is_free());
        drop(tree);
        assert!(is_free());
        drop(of_child);
    }

    #[test]
    fn a_work_tree_of_a_run_that_goes_on_is_not_removed_for_a_new_one() {
        let fixture = TestRepository::new();
        let checkout = fixture.checkout();
        let commits: Vec<String> = (0..KEPT + 1).map(|_| fixture.commit()).collect();
        let make = |commit: &String| checkout.worktree(commit, &fixture.cache).unwrap().folder.clone();
        let trees: Vec<PathBuf> = commits[..KEPT].iter().map(make).collect();
        let held = WorkTree::containing(&trees[0].join("server")).unwrap().unwrap();
        assert_eq!(held.folder, trees[0]);
        open_lock(&trees[0]).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        make(&commits[KEPT]);
        assert!(trees[0].join(".git").exists(), "it was used longest ago, and is in use");

        std::fs::remove_dir_all(&trees[0]).unwrap();
        let removed = WorkTree::containing(&trees[0]).unwrap_err().to_string();
        assert!(removed.contains("was removed, with what was built there; measure again"), "{removed}");
        assert!(WorkTree::containing(&fixture.top).unwrap().is_none());
    }

    #[test]
    fn work_trees_of_an_earlier_clone_make_room_too() {
        let fixture = TestRepository::new();
        let trees = || {
            let tree = fixture.checkout().worktree(&fixture.commit(), &fixture.cache).unwrap().folder.clone();
            // As in a CI job, which keeps the cache, and whose next clone knows none of its trees.
            std::fs::remove_dir_all(fixture.top.join(".git/worktrees")).unwrap();
            let entries = std::fs::read_dir(tree.parent().unwrap()).unwrap();
            entries.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count()
        };
        let counts: Vec<usize> = (0..KEPT + 2).map(|_| trees()).collect();
        assert_eq!(counts, [1, 2, 3, 4, 5, 5, 5]);
    }

    #[test]
    fn a_checkout_that_git_refuses_is_an_error_in_its_own_words() {
        let fixture = TestRepository::new();
        std::fs::write(fixture.top.join(".git/config"), "[core").unwrap();
        let error = Checkout::containing(&fixture.top).unwrap_err().to_string();
        assert!(error.contains("bad config"), "{error}");
        assert!(Checkout::containing(fixture.folder.path()).unwrap().is_none(), "no checkout");
    }

    #[test]
    fn a_branch_that_only_origin_has_is_found_as_after_the_checkout_of_a_ci_job() {
        let fixture = TestRepository::new();
        let commit = fixture.commit();
        let url = fixture.top.display().to_string();
        let clone = TestRepository::new();
        clone.run(&["remote", "add", "origin", &url]);
        clone.run(&["fetch", "-q", "origin"]);
        assert_eq!(clone.checkout().commit("trunk", "").unwrap(), commit);
        assert_eq!(clone.checkout().commit("origin/trunk", "").unwrap(), commit);
        let unknown = clone.checkout().commit("other", "tare.toml: [check] baseline").unwrap_err().to_string();
        assert!(unknown.starts_with("tare.toml: [check] baseline: no git revision matches \"other\""), "{unknown}");
    }

    #[test]
    fn a_branch_that_went_on_is_told_from_one_that_the_work_tree_has() {
        let fixture = TestRepository::new();
        let (first, fork) = (fixture.commit(), fixture.commit());
        fixture.run(&["branch", "change"]);
        let ahead = fixture.commit();
        fixture.run(&["checkout", "-q", "change"]);
        let parting_from = |commit: &str| fixture.checkout().parting_from(commit);
        for _ in 0..2 {
            assert_eq!((parting_from(&first), parting_from(&fork)), (None, None));
            assert_eq!(parting_from(&ahead).as_ref(), Some(&fork));
            fixture.run(&["commit", "-q", "--allow-empty", "-m", "of the change alone"]);
        }
    }

    #[test]
    fn before_the_first_commit_the_branch_that_it_will_make_is_the_default() {
        let fixture = TestRepository::new();
        assert_eq!(fixture.checkout().default_branch().as_deref(), Some("trunk"));
    }

    #[test]
    fn a_work_tree_has_the_files_of_its_commit_whatever_was_done_to_them() {
        let fixture = TestRepository::new();
        ["a", "b"].iter().for_each(|name| std::fs::write(fixture.top.join(name), "as committed").unwrap());
        let commit = fixture.commit();
        let make = |cache: &Path| fixture.checkout().worktree(&commit, cache).unwrap().folder.clone();
        let tree = make(&fixture.cache);
        std::fs::write(tree.join("built"), "by a build tool").unwrap();
        std::fs::write(tree.join("a"), "by a build tool").unwrap();
        std::fs::remove_file(tree.join("b")).unwrap();
        assert_eq!(make(&fixture.cache), tree);
        let contents = |file: &Path| std::fs::read_to_string(file).unwrap();
        assert_eq!(["a", "b"].map(|name| contents(&tree.join(name))), ["as committed"; 2]);
        assert!(tree.join("built").exists());

        // What is left of a work tree, in a cache inside the checkout, is not the checkout.
        let inside = fixture.top.join("cache");
        std::fs::create_dir_all(fixture.checkout().worktree_folder(&commit, &inside)).unwrap();
        std::fs::write(fixture.top.join("a"), "of the user").unwrap();
        assert_eq!(contents(&make(&inside).join("a")), "as committed");
        assert_eq!(contents(&fixture.top.join("a")), "of the user");
    }

    #[test]
    fn a_work_tree_that_git_forgot_keeps_what_was_built_there() {
        let fixture = TestRepository::new();
        let (top, cache) = (&fixture.top, &fixture.cache);
        std::fs::write(top.join("a"), "as committed").unwrap();
        std::fs::write(top.join("b"), "as committed").unwrap();
        let commit = fixture.commit();
        let checkout = fixture.checkout();
        assert_eq!(checkout.default_branch().as_deref(), Some("trunk"));
        assert_eq!(checkout.full_name("trunk").as_deref(), Some("refs/heads/trunk"));
        let tree = checkout.worktree(&commit, cache).unwrap().folder.clone();
        let changed = || std::fs::metadata(tree.join("a")).unwrap().modified().unwrap();
        let before = changed();
        std::fs::write(tree.join("built"), "by a build tool").unwrap();
        std::fs::write(tree.join("b"), "damaged").unwrap();

        std::fs::remove_dir_all(top.join(".git/worktrees")).unwrap();
        assert_eq!(checkout.worktree(&commit, cache).unwrap().folder, tree);
        assert!(is_restored(&tree, &commit));
        assert!(tree.join("built").exists() && changed() == before, "the build tool finds its work done");
        assert_eq!(std::fs::read_to_string(tree.join("b")).unwrap(), "as committed");
    }
}
