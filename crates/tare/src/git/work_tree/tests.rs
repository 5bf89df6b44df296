//! Work trees in a repository made for the test.

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
fn hooks_of_the_repository_have_no_say_in_a_work_tree() {
    let fixture = TestRepository::new();
    let commit = fixture.commit();
    let hook = fixture.top.join(".git/hooks/post-checkout");
    std::fs::write(&hook, "#!/bin/sh\necho no >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fixture.checkout().worktree(&commit, &fixture.cache).unwrap();
}

#[test]
fn half_a_work_tree_is_removed() {
    let fixture = TestRepository::new();
    fixture.run(&["config", "filter.own.smudge", "exit 1"]);
    fixture.run(&["config", "filter.own.clean", "cat"]);
    fixture.run(&["config", "filter.own.required", "true"]);
    std::fs::write(fixture.top.join(".gitattributes"), "a filter=own\n").unwrap();
    std::fs::write(fixture.top.join("a"), "text").unwrap();
    let commit = fixture.commit();
    let make = || fixture.checkout().worktree(&commit, &fixture.cache).unwrap_err().to_string();
    for _ in 0..2 {
        assert!(make().starts_with("git cannot make a work tree of "), "{}", make());
        assert!(!fixture.checkout().worktree_folder(&commit, &fixture.cache).exists());
    }
}

#[test]
fn a_repository_without_a_commit_is_said() {
    let fixture = TestRepository::new();
    let error = fixture.checkout().commit("HEAD", "--baseline").unwrap_err().to_string();
    assert!(error.starts_with("--baseline: ") && error.contains(" has no commit yet; commit, or give"), "{error}");
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
    fixture.run(&["checkout", "-q", "--detach"]);
    fixture.run(&["branch", "-q", "-D", "trunk"]);
    let unknown = fixture.checkout().commit("other", "--baseline").unwrap_err().to_string();
    assert!(unknown.contains("; there are: every commit (a shallow"), "{unknown}");
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
