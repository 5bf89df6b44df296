//! The submodules of a baseline's work tree, taken from the checkout that has them already.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::git::{git, run_git};

/// A submodule that a baseline needs is nowhere to be had.
#[derive(Debug, Error)]
#[error(
    "the submodule {path} of the baseline cannot be fetched; fetch it with git submodule update --init --recursive, \
     or make its server reachable; git says: {said}"
)]
pub struct MissingSubmodule {
    path: String,
    said: String,
}

/// Checks out the submodules of `folder`, a work tree of the same repository as the checkout `own`, with those inside them.
/// A submodule that `own` lists but has not checked out is not needed for its build, and is left out.
pub fn check_out_submodules(own: &Path, folder: &Path) -> anyhow::Result<()> {
    let listed = submodules_of(own);
    for submodule in submodules_of(folder) {
        let is_listed = listed.iter().any(|other| other.name == submodule.name);
        let own_place = own.join(&submodule.path);
        if is_listed && !own_place.join(".git").exists() {
            continue;
        }
        let commit = run_git(folder, &["rev-parse", "--verify", "--quiet", &format!("HEAD:{}", submodule.path)]);
        // Listed, but in no commit: git checks out nothing either.
        let Some(commit) = commit else { continue };
        submodule.check_out(folder, own, &commit)?;
        check_out_submodules(&own_place, &folder.join(&submodule.path))?;
    }
    Ok(())
}

/// A submodule, as `.gitmodules` lists it.
struct Submodule {
    name: String,
    path: String,
}

fn submodules_of(folder: &Path) -> Vec<Submodule> {
    let listed = run_git(folder, &["config", "--file", ".gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$"]);
    let listed = listed.unwrap_or_default();
    // A name may have blanks: its line ends it, and a zero byte the path.
    let submodules = listed.split('\0').filter_map(|entry| {
        let (key, path) = entry.split_once('\n')?;
        let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
        Some(Submodule { name: name.to_owned(), path: path.to_owned() })
    });
    submodules.collect()
}

impl Submodule {
    /// Checks it out in `folder`: from the repository that `own` has of it, or else from its address.
    fn check_out(&self, folder: &Path, own: &Path, commit: &str) -> anyhow::Result<()> {
        let place = folder.join(&self.path);
        // What git forgot, such as the submodule of a work tree from the cache of a CI job, cannot be updated.
        if place.join(".git").is_file() && run_git(&place, &["rev-parse", "--git-dir"]).is_none() {
            std::fs::remove_dir_all(&place)?;
        }
        let look = ["cat-file", "-e", &format!("{commit}^{{commit}}")];
        let repository = self.repository(own).filter(|repository| run_git(repository, &look).is_some());
        let address = repository.as_ref().map(|at| format!("submodule.{}.url={}", self.name, at.display()));
        let from_here = address.as_ref().map(|address| ["-c", address, "-c", "protocol.file.allow=always"]);
        let update: &[&str] = &["submodule", "update", "--quiet", "--init", "--force", "--checkout", "--", &self.path];
        let output = git(folder, &[from_here.as_ref().map_or(&[][..], |args| &args[..]), update].concat())?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(MissingSubmodule { path: self.path.clone(), said }.into())
    }

    /// Where the checkout `own` keeps the submodule's repository, also when it lists the submodule no more.
    fn repository(&self, own: &Path) -> Option<PathBuf> {
        let place = own.join(&self.path);
        let folder = if place.join(".git").exists() {
            run_git(&place, &["rev-parse", "--absolute-git-dir"])?
        } else {
            let kept = format!("modules/{}", self.name);
            run_git(own, &["rev-parse", "--path-format=absolute", "--git-path", &kept])?
        };
        Some(PathBuf::from(folder)).filter(|folder| folder.is_dir())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Checkout;

    /// A repository `own` with the submodule `lib`, which has the submodule `inner`. Their first homes are gone.
    struct NestedRepositories {
        folder: tempfile::TempDir,
    }

    impl NestedRepositories {
        fn new() -> Self {
            let fixture = Self { folder: tempfile::tempdir().unwrap() };
            for name in ["inner", "lib", "own"] {
                std::fs::create_dir(fixture.at(name)).unwrap();
                fixture.git(name, &["init", "-q", "-b", "main"]);
                std::fs::write(fixture.at(name).join(format!("{name}.txt")), name).unwrap();
                fixture.git(name, &["add", "."]);
                fixture.git(name, &["commit", "-q", "-m", "a step"]);
            }
            for (name, module) in [("lib", "inner"), ("own", "lib")] {
                let address = fixture.at(module).display().to_string();
                fixture.git(name, &["submodule", "--quiet", "add", &address, module]);
                fixture.git(name, &["commit", "-q", "-m", "a step"]);
            }
            fixture.git("own", &["submodule", "--quiet", "update", "--init", "--recursive"]);
            ["inner", "lib"].iter().for_each(|name| std::fs::remove_dir_all(fixture.at(name)).unwrap());
            fixture
        }

        fn at(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn git(&self, name: &str, args: &[&str]) {
            let set = ["user.name=test", "user.email=test@localhost", "protocol.file.allow=always"];
            let settings = set.iter().flat_map(|setting| ["-c", setting]).collect::<Vec<_>>();
            let output = git(&self.at(name), &[&settings[..], args].concat()).unwrap();
            assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        }

        fn worktree(&self) -> anyhow::Result<PathBuf> {
            let checkout = Checkout::containing(&self.at("own")).unwrap().unwrap();
            let tree = checkout.worktree(&checkout.commit("HEAD", "").unwrap(), &self.at("cache"))?;
            check_out_submodules(&checkout.top, &tree.folder)?;
            Ok(tree.folder.clone())
        }
    }

    #[test]
    fn submodules_come_from_the_checkout_that_has_them() {
        let fixture = NestedRepositories::new();
        let tree = fixture.worktree().unwrap();
        for file in ["own.txt", "lib/lib.txt", "lib/inner/inner.txt"] {
            assert!(tree.join(file).exists(), "{file}");
        }
        // As in a new clone of a CI job, which finds the work tree in its cache.
        std::fs::remove_dir_all(fixture.at("own/.git/worktrees")).unwrap();
        std::fs::remove_file(tree.join("lib/lib.txt")).unwrap();
        assert_eq!(fixture.worktree().unwrap(), tree);
        assert!(tree.join("lib/lib.txt").exists() && tree.join("lib/inner/inner.txt").exists());
    }

    #[test]
    fn a_submodule_with_blanks_in_its_name_comes_too() {
        let fixture = NestedRepositories::new();
        let address = fixture.at("own/lib").display().to_string();
        fixture.git("own", &["submodule", "--quiet", "add", &address, "the lib"]);
        fixture.git("own", &["commit", "-q", "-m", "a step"]);
        let tree = fixture.worktree().unwrap();
        assert!(tree.join("the lib/lib.txt").exists() && tree.join("lib/lib.txt").exists());
    }

    #[test]
    fn what_the_checkout_does_without_the_baseline_does_without() {
        let fixture = NestedRepositories::new();
        fixture.git("own", &["submodule", "--quiet", "deinit", "--force", "lib"]);
        let tree = fixture.worktree().unwrap();
        assert!(tree.join("own.txt").exists() && !tree.join("lib/lib.txt").exists());
    }

    #[test]
    fn a_submodule_that_is_nowhere_is_named() {
        let fixture = NestedRepositories::new();
        std::fs::remove_file(fixture.at("own/.gitmodules")).unwrap();
        std::fs::remove_dir_all(fixture.at("own/lib")).unwrap();
        std::fs::remove_dir_all(fixture.at("own/.git/modules")).unwrap();
        let error = fixture.worktree().unwrap_err();
        assert!(error.is::<MissingSubmodule>(), "{error}");
        assert!(error.to_string().starts_with("the submodule lib of the baseline cannot be fetched; "), "{error}");
    }
}
