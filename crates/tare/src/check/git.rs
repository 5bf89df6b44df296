//! A git checkout, read and extended by the program `git`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::Context;
use tare_plan::PlanError;
use tare_plan::names::nearest_name;

/// Worktrees of earlier baselines that are kept for the next check of them.
const KEPT: usize = 5;

/// A work tree of a git repository.
#[derive(Debug)]
pub struct Checkout {
    top: PathBuf,
}

impl Checkout {
    /// The checkout that contains `folder`; `None` outside of any.
    ///
    /// # Errors
    /// `git` cannot be run.
    pub fn containing(folder: &Path) -> anyhow::Result<Option<Self>> {
        let output = git(folder, &["rev-parse", "--show-toplevel"])?;
        let top = output.status.success().then(|| PathBuf::from(text(&output)));
        Ok(top.map(|top| Self { top: top.canonicalize().unwrap_or(top) }))
    }

    /// Its top folder.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The commit that a revision names.
    ///
    /// # Errors
    /// There is no such revision: the error names the nearest branches and tags.
    pub fn commit(&self, revision: &str) -> anyhow::Result<String> {
        let wanted = format!("{revision}^{{commit}}");
        let output = git(&self.top, &["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted])?;
        if output.status.success() {
            return Ok(text(&output));
        }
        let output = git(&self.top, &["for-each-ref", "--format=%(refname:short)"])?;
        let names = text(&output);
        let near = nearest_name(revision, names.lines());
        Err(PlanError::NoMatch {
            origin: "--baseline".to_owned(),
            kind: "git revision",
            pattern: revision.to_owned(),
            suggestion: near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?")),
            known: format!("{}, and every commit (a shallow clone has few: git fetch --unshallow)", first_of(&names)),
        }
        .into())
    }

    /// Whether the work tree differs from its last commit. Records of tare are no change.
    pub fn is_dirty(&self) -> bool {
        let paths = [":/", ":(top,exclude,glob)**/.tare", ":(top,exclude,glob)**/.tare/**"];
        let args: Vec<&str> = ["status", "--porcelain", "--"].into_iter().chain(paths).collect();
        git(&self.top, &args).is_ok_and(|output| !text(&output).is_empty())
    }

    /// The full name of a revision, such as `refs/heads/main`, or else its commit; `None` if there is no such revision.
    pub fn full_name(&self, revision: &str) -> Option<String> {
        let commit = self.commit(revision).ok()?;
        let output = run_git(&self.top, &["rev-parse", "--symbolic-full-name", "--end-of-options", revision]);
        // git repeats the option before the name.
        let names = output.map_or_else(String::new, |output| text(&output));
        Some(names.lines().find(|name| name.starts_with("refs/")).map_or(commit, str::to_owned))
    }

    /// The branch that others are compared with: the one that the remote `origin` names, else `main`, `master` or the
    /// current one; `None` where there is no commit.
    pub fn default_branch(&self) -> Option<String> {
        let named =
            |args: &[&str]| run_git(&self.top, args).map(|output| text(&output)).filter(|name| !name.is_empty());
        let of_origin = named(&["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
        let local = of_origin.as_deref().and_then(|name| name.strip_prefix("origin/")).map(str::to_owned);
        let current = named(&["symbolic-ref", "--quiet", "--short", "HEAD"]);
        let usual = ["main", "master"].map(|name| Some(name.to_owned()));
        let candidates = [local, of_origin].into_iter().chain(usual).chain([current]).flatten();
        candidates.into_iter().find(|name| self.commit(name).is_ok())
    }

    /// A work tree of this commit in a folder of its own below `cache`. It is kept, so that build tools find there what
    /// they built before.
    ///
    /// # Errors
    /// When git cannot make it.
    pub fn worktree(&self, commit: &str, cache: &Path) -> anyhow::Result<PathBuf> {
        let folder = self.worktree_folder(commit, cache);
        if !is_at(&folder, commit) && self.adopt(&folder, commit).is_none() {
            self.make_worktree(&folder, commit)?;
        }
        Ok(folder)
    }

    fn make_worktree(&self, folder: &Path, commit: &str) -> anyhow::Result<()> {
        if let Some(parent) = folder.parent() {
            std::fs::create_dir_all(parent).with_context(|| format!("cannot make the folder {}", parent.display()))?;
            self.forget_old_worktrees(parent);
        }
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

    /// Makes a work tree known to git again, such as one from the cache of a CI job, whose clone is new. Files that are as in
    /// the commit keep their times, so that build tools find there what they built. `None` if that does not work.
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
        run_git(folder, &["checkout", "--quiet", "--force", "--", "."])?;
        is_at(folder, commit).then_some(())
    }

    /// Where the work tree of a commit lies: repositories of one name are told apart by a hash of their path.
    pub fn worktree_folder(&self, commit: &str, cache: &Path) -> PathBuf {
        let name = self.top.file_name().unwrap_or_default().to_string_lossy();
        let mut hasher = DefaultHasher::new();
        self.top.hash(&mut hasher);
        let short: String = commit.chars().take(12).collect();
        cache.join("baselines").join(format!("{name}-{:016x}", hasher.finish())).join(short)
    }

    /// Removes the oldest work trees, so that at most [`KEPT`] remain beside a new one.
    fn forget_old_worktrees(&self, parent: &Path) {
        let Ok(entries) = std::fs::read_dir(parent) else { return };
        let mut aged: Vec<(std::time::SystemTime, PathBuf)> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                Some((entry.metadata().ok()?.modified().ok()?, entry.path()))
            })
            .collect();
        aged.sort();
        let surplus = aged.len().saturating_sub(KEPT - 1);
        for (_, folder) in aged.into_iter().take(surplus) {
            // A work tree that cannot be removed takes room, and no more.
            let _ = git(&self.top, &["worktree", "remove", "--force", &folder.to_string_lossy()]);
        }
    }
}

/// Whether a folder is a work tree at this commit that git knows.
fn is_at(folder: &Path, commit: &str) -> bool {
    folder.exists()
        && git(folder, &["rev-parse", "HEAD"]).is_ok_and(|head| head.status.success() && text(&head) == commit)
}

/// The first names of a list.
fn first_of(names: &str) -> String {
    const FEW: usize = 8;
    let mut few: Vec<&str> = names.lines().take(FEW).collect();
    if names.lines().count() > FEW {
        few.push("…");
    }
    few.join(", ")
}

/// What a command of git gave; `None` if it failed.
pub(super) fn run_git(folder: &Path, args: &[&str]) -> Option<Output> {
    git(folder, args).ok().filter(|output| output.status.success())
}

/// Runs git in a folder.
///
/// # Errors
/// `git` cannot be run.
pub(super) fn git(folder: &Path, args: &[&str]) -> anyhow::Result<Output> {
    let mut command = Command::new("git");
    // Nobody answers a question for a password.
    command.env("GIT_TERMINAL_PROMPT", "0").arg("-C").arg(folder).args(args);
    // A git hook sets these, and they would name another repository than that of the folder.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(variable);
    }
    command.output().context("cannot run git; install it, or give a folder or a command as --baseline")
}

/// What it printed, without the end of the line.
pub(super) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_tree_that_git_forgot_keeps_what_was_built_there() {
        let folder = tempfile::tempdir().unwrap();
        let (top, cache) = (folder.path().join("own"), folder.path().join("cache"));
        std::fs::create_dir(&top).unwrap();
        let run_git = |args: &[&str]| {
            let identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
            let output = git(&top, &[&identity, args].concat()).unwrap();
            assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        };
        run_git(&["init", "-q", "-b", "trunk"]);
        std::fs::write(top.join("a"), "as committed").unwrap();
        std::fs::write(top.join("b"), "as committed").unwrap();
        run_git(&["add", "."]);
        run_git(&["commit", "-q", "-m", "a step"]);
        let checkout = Checkout::containing(&top).unwrap().unwrap();
        assert_eq!(checkout.default_branch().as_deref(), Some("trunk"));
        assert_eq!(checkout.full_name("trunk").as_deref(), Some("refs/heads/trunk"));
        let commit = checkout.commit("HEAD").unwrap();
        let tree = checkout.worktree(&commit, &cache).unwrap();
        let changed = || std::fs::metadata(tree.join("a")).unwrap().modified().unwrap();
        let before = changed();
        std::fs::write(tree.join("built"), "by a build tool").unwrap();
        std::fs::write(tree.join("b"), "damaged").unwrap();

        std::fs::remove_dir_all(top.join(".git/worktrees")).unwrap();
        assert_eq!(checkout.worktree(&commit, &cache).unwrap(), tree);
        assert!(is_at(&tree, &commit));
        assert!(tree.join("built").exists() && changed() == before, "the build tool finds its work done");
        assert_eq!(std::fs::read_to_string(tree.join("b")).unwrap(), "as committed");
    }
}
