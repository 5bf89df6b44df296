//! A git checkout, read and extended by the program `git`.

mod classes;
mod work_tree;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::Context;
use tare_plan::PlanError;
use tare_plan::names::nearest_name;
use tare_sys::child::GIT_HOOK_VARIABLES;
use tare_units::enumerate;

pub use work_tree::WorkTree;

/// How a work tree differs from its last commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    None,
    /// It has files that git does not know, and no other change.
    NewFiles,
    /// Files of the commit differ.
    Some,
}

#[derive(Debug)]
pub struct Checkout {
    pub top: PathBuf,
}

impl Checkout {
    /// The checkout that contains `folder`; `None` outside of any. A checkout that git refuses is an error.
    pub fn containing(folder: &Path) -> anyhow::Result<Option<Self>> {
        let output = git(folder, &["rev-parse", "--show-toplevel"])?;
        if output.status.success() {
            let top = PathBuf::from(text(&output));
            return Ok(Some(Self { top: top.canonicalize().unwrap_or(top) }));
        }
        // Such as a repository of another user, with git's own remedy.
        let said = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(said.contains("not a git repository"), "git cannot read {}: {}", folder.display(), said.trim());
        Ok(None)
    }

    /// The commit that a revision names. A branch may be there only as one of `origin`, as after the checkout of a CI job.
    /// `named_by` is the flag, or file and key.
    pub fn commit(&self, revision: &str, named_by: &str) -> anyhow::Result<String> {
        for name in [revision, &format!("refs/remotes/origin/{revision}")] {
            let wanted = format!("{name}^{{commit}}");
            let found = run_git(&self.top, &["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]);
            if let Some(commit) = found {
                return Ok(commit);
            }
        }
        let names = run_git(&self.top, &["for-each-ref", "--format=%(refname:short)"]).unwrap_or_default();
        if names.is_empty() && run_git(&self.top, &["rev-parse", "--verify", "--quiet", "HEAD"]).is_none() {
            let top = self.top.display();
            let message = format!("{top} has no commit yet; commit, or give a folder or a command as --baseline");
            return Err(PlanError::value(named_by, message).into());
        }
        let near = nearest_name(revision, names.lines());
        let known: Vec<String> = names.lines().map(str::to_owned).collect();
        let and = if known.is_empty() { "" } else { ", and " };
        Err(PlanError::NoMatch {
            origin: named_by.to_owned(),
            kind: "git revision",
            pattern: revision.to_owned(),
            suggestion: near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?")),
            known: format!("{}{and}every commit (a shallow clone has few: git fetch --unshallow)", enumerate(&known)),
        }
        .into())
    }

    /// Where another commit parted from the work tree's; `None` if the work tree has all of it, or in a shallow clone.
    pub fn parting_from(&self, commit: &str) -> Option<String> {
        run_git(&self.top, &["merge-base", "HEAD", commit]).filter(|base| base != commit)
    }

    /// How the work tree differs from its last commit. Records of tare are no change.
    pub fn changes(&self) -> Changes {
        let paths = [":/", ":(top,exclude,glob)**/.tare", ":(top,exclude,glob)**/.tare/**"];
        let args: Vec<&str> = ["status", "--porcelain", "--"].into_iter().chain(paths).collect();
        let status = run_git(&self.top, &args).unwrap_or_default();
        if status.is_empty() {
            Changes::None
        } else if status.lines().all(|line| line.starts_with("??")) {
            Changes::NewFiles
        } else {
            Changes::Some
        }
    }

    /// The classes of a JVM in files that differ from a commit; `None` where they do not tell what changed.
    pub fn classes_changed_since(&self, commit: &str) -> Option<BTreeSet<String>> {
        // Whole files, so that all of their classes are in sight.
        let difference = run_git(
            &self.top,
            &["diff", "--no-ext-diff", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "-U1000000", commit],
        )?;
        let new_files = run_git(&self.top, &["ls-files", "--others", "--exclude-standard"])?;
        classes::classes_of_difference(&difference, &new_files)
    }

    /// The full name of a revision, such as `refs/heads/main`, or else its commit; `None` if there is no such revision.
    pub fn full_name(&self, revision: &str) -> Option<String> {
        let commit = self.commit(revision, "").ok()?;
        // git repeats the option before the name.
        let names = run_git(&self.top, &["rev-parse", "--symbolic-full-name", "--end-of-options", revision]);
        let names = names.unwrap_or_default();
        Some(names.lines().find(|name| name.starts_with("refs/")).map_or(commit, str::to_owned))
    }

    /// The branch that others are compared with: the one that the remote `origin` names, else `main`, `master` or the
    /// current one, which has no commit in a new repository.
    pub fn default_branch(&self) -> Option<String> {
        let named = |args: &[&str]| run_git(&self.top, args).filter(|name| !name.is_empty());
        let of_origin = named(&["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
        let local = of_origin.as_deref().and_then(|name| name.strip_prefix("origin/")).map(str::to_owned);
        let current = named(&["symbolic-ref", "--quiet", "--short", "HEAD"]);
        let usual = ["main", "master"].map(|name| Some(name.to_owned()));
        let candidates = [local, of_origin].into_iter().chain(usual).chain([current.clone()]).flatten();
        // Before the first commit no branch has one.
        candidates.into_iter().find(|name| self.commit(name, "").is_ok()).or(current)
    }
}

/// What a command of git printed, without the end of the line; `None` if it failed.
pub fn run_git(folder: &Path, args: &[&str]) -> Option<String> {
    git(folder, args).ok().filter(|output| output.status.success()).map(|output| text(&output))
}

pub fn git(folder: &Path, args: &[&str]) -> anyhow::Result<Output> {
    let mut command = Command::new("git");
    // Nobody answers a question for a password.
    command.env("GIT_TERMINAL_PROMPT", "0");
    // Its words are in errors, and "not a git repository" decides something.
    command.env("LC_ALL", "C");
    // Hooks are meant for the user's own checkout, and one that fails would leave half a work tree.
    command.args(["-c", "core.hooksPath=/dev/null", "-C"]).arg(folder).args(args);
    for variable in GIT_HOOK_VARIABLES {
        command.env_remove(variable);
    }
    command.output().context("cannot run git; install it, or give a folder or a command as --baseline")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
