//! `tare check` on repositories of known cost: a planted cost is found, an equal build is not called regressed, and what
//! cannot be built or named says so.

use std::path::PathBuf;
use std::process::{Command, Output};

use crate::common::{Bench, QUICK, TARE, all_of, is_disturbed, skip, stderr, stdout, write_program};

/// A git repository with a server whose cost is in the file `cost`, in percent.
pub struct Repository {
    pub bench: Bench,
    cache: tempfile::TempDir,
}

/// The server and the limits.
const SERVER: &str = r#"
[servers.own]
command = ["sh", "serve.sh", "{port}"]
ready = '^tare: ready on .*:(?<port>\d+)$'
"#;

impl Repository {
    /// One commit, of a server without a planted cost; `more` is added to its table.
    pub fn new(more: &str) -> Self {
        let repository = Self { bench: Bench::new(), cache: tempfile::tempdir().unwrap() };
        repository.git(&["init", "-q", "-b", "main"]);
        repository.write("suite.toml", &[QUICK, SERVER, more].concat());
        repository.write(
            "serve.sh",
            &format!("exec {TARE} reference --port $1 --base-ns 300000 --spin-percent $(cat cost)\n"),
        );
        repository.write("cost", "0\n");
        repository.commit();
        repository
    }

    pub fn write(&self, file: &str, text: &str) {
        std::fs::write(self.bench.path().join(file), text).unwrap();
    }

    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=test", "-c", "user.email=test@localhost"]).args(args);
        let output = command.current_dir(self.bench.path()).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", stderr(&output));
        stdout(&output).trim().to_owned()
    }

    pub fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "a step"]);
    }

    /// `tare check suite.toml ARGS`.
    pub fn check(&self, args: &[&str]) -> Output {
        self.tare(&[&["check", "suite.toml"], args].concat())
    }

    /// `tare ARGS`.
    pub fn tare(&self, args: &[&str]) -> Output {
        let output = self.command(args).output().unwrap();
        self.bench.assert_nothing_left();
        output
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.bench.tare(args);
        command.env("XDG_CACHE_HOME", self.cache.path());
        command
    }

    /// The work trees of baselines, the first of them.
    fn worktree(&self) -> PathBuf {
        let list = self.git(&["worktree", "list", "--porcelain"]);
        let trees: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("worktree ")).collect();
        PathBuf::from(trees[1])
    }
}

#[test]
fn a_planted_cost_is_found_against_the_revision_before_it() {
    let repository = Repository::new("\n[check]\nfail_if = [\"cpu > +3%\"]\n");
    // Not committed: the work tree is what is measured.
    repository.write("cost", "20\n");
    let output = repository.check(&["--baseline", "HEAD", "--budget", "60s", "--saturating", "6"]);
    let summary = repository.bench.summary();
    if output.status.code() == Some(4) && is_disturbed(&summary) {
        return skip("other programs kept this check from a verdict");
    }
    assert_eq!(output.status.code(), Some(3), "{}", all_of(&output));
    assert!(stderr(&output).contains("changes that are not committed"), "{}", stderr(&output));
    let answer = summary["headline"]["text"].as_str().unwrap();
    assert!(answer.starts_with("Regressed: own uses "), "{answer}");
    assert!(answer.contains("more CPU per request than own@baseline on Get ["), "{answer}");
    assert!(answer.contains("]. The limit is cpu > +3%. It costs +"), "{answer}");
    assert_eq!(summary["check"]["outcome"], "regressed");
    assert_eq!(summary["check"]["limits"][0]["verdict"], "regressed");
    assert_eq!(summary["noise"][0]["server"], "own@baseline", "an A/A control guards the check");
    assert_eq!(std::fs::read_to_string(repository.worktree().join("cost")).unwrap(), "0\n");
}

#[test]
fn an_equal_build_is_not_regressed() {
    let repository = Repository::new("");
    repository.commit();
    let flags = ["--baseline", "HEAD~1", "--fail-if", "cpu > +10%", "--budget", "20s", "--undecided", "pass"];
    let output = repository.check(&flags);
    assert_eq!(output.status.code(), Some(0), "{}", all_of(&output));
    let verdict = repository.bench.summary()["check"]["outcome"].as_str().unwrap().to_owned();
    assert!(["holds", "undecided"].contains(&verdict.as_str()), "{verdict}");
    let history = repository.bench.run(&["history"]);
    assert!(stdout(&history).contains("no figures yet"), "{}", all_of(&history));
    assert!(stderr(&history).contains("1 run of tare check or tare bisect left out"), "{}", all_of(&history));
    assert_eq!(repository.git(&["status", "--porcelain"]), "", "git sees no record");
    let same =
        repository.check(&["--baseline", "HEAD", "--fail-if", "cpu > +10%", "--forks", "1", "--undecided", "pass"]);
    let told = "note      the work tree is at HEAD: both builds are the same";
    assert!(stdout(&same).contains(told), "{}", all_of(&same));
}

#[test]
fn a_build_that_answers_wrongly_or_ends_never_passes() {
    for fault in ["wrong-body", "status-500", "crash"] {
        let repository = Repository::new("");
        repository.write("cost", &format!("0 --fault {fault} --fault-after 0\n"));
        let flags = ["--fail-if", "cpu > +3%", "--forks", "2", "--saturating", "6", "--undecided", "pass"];
        let output = repository.check(&[&["--baseline", "HEAD"], &flags[..]].concat());
        assert_eq!(output.status.code(), Some(4), "{fault} is not green: {}", all_of(&output));
        assert!(stdout(&output).contains("Void: cpu > +3% of own on Get: "), "{fault}: {}", all_of(&output));
        let junit = stdout(&repository.bench.run(&["report", "--ci", "junit"]));
        assert!(junit.contains("<error") && !junit.contains("<skipped"), "{fault}: {junit}");
    }
}

#[test]
fn a_revision_that_does_not_build_leaves_the_check_undecided_and_shows_its_log() {
    let repository = Repository::new("build = \"sh build.sh\"\n");
    repository.write("build.sh", "echo own.c:7: it does not compile; exit 1\n");
    repository.commit();
    repository.git(&["checkout", "-q", "-b", "change", "HEAD~1"]);
    repository.write("build.sh", "echo fine\n");
    let flags = ["--baseline", "main", "--fail-if", "cpu > +3%", "--undecided", "pass"];
    let output = repository.check(&flags);
    assert_eq!(output.status.code(), Some(4), "not green: {}", all_of(&output));
    let told = stderr(&output);
    assert!(told.contains("undecided: building own@baseline failed (exit code 1)"), "{told}");
    assert!(told.contains("own.c:7: it does not compile"), "{told}");
    assert!(told.contains("note: main has changes that the work tree lacks, and they count too"), "{told}");
    assert!(!repository.bench.path().join(".tare/runs").exists(), "nothing was measured");
}

#[test]
fn a_folder_and_a_command_can_be_the_baseline() {
    let repository = Repository::new("");
    let other = tempfile::tempdir().unwrap();
    for file in ["serve.sh", "cost"] {
        std::fs::copy(repository.bench.path().join(file), other.path().join(file)).unwrap();
    }
    let plan_of = |baseline: &str| {
        let output = repository.check(&["--baseline", baseline, "--fail-if", "cpu > +3%", "--dry-run"]);
        assert_eq!(output.status.code(), Some(0), "{}", all_of(&output));
        stdout(&output)
    };
    let folder = other.path().canonicalize().unwrap().display().to_string();
    let plan = plan_of(&folder);
    assert!(plan.contains(&format!("Does own cost more than at {folder}?")), "{plan}");
    assert!(plan.contains("fail_if") && plan.contains("cpu > +3%"), "{plan}");
    let plan = plan_of("sh other.sh {port}");
    assert!(plan.contains("Does own cost more than at 'sh other.sh {port}'?"), "{plan}");
}

#[test]
fn the_baseline_of_a_suite_counts_from_its_folder() {
    let bench = Bench::new();
    for folder in ["versions/old", "versions/new", "old"] {
        std::fs::create_dir_all(bench.path().join(folder)).unwrap();
    }
    let limits = "\n[check]\nbaseline = \"../old\"\nfail_if = [\"cpu > +3%\"]\n";
    std::fs::write(bench.path().join("versions/new/suite.toml"), [QUICK, SERVER, limits].concat()).unwrap();
    let check = |place: &str, suite: &str, more: &[&str]| {
        let mut command = bench.tare(&[&["check", suite, "--dry-run"], more].concat());
        let output = command.current_dir(bench.path().join(place)).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", all_of(&output));
        stdout(&output)
    };
    let than = |folder: &str| format!("at {}?", bench.path().join(folder).canonicalize().unwrap().display());
    for (place, suite) in
        [(".", "versions/new/suite.toml"), ("versions/new", "suite.toml"), ("old", "../versions/new/suite.toml")]
    {
        let plan = check(place, suite, &[]);
        assert!(plan.contains(&than("versions/old")), "{place}: {plan}");
    }
    let plan = check("versions", "new/suite.toml", &["--baseline", "../old"]);
    assert!(plan.contains(&than("old")), "a flag counts from the working directory: {plan}");
}

#[test]
fn a_missing_submodule_leaves_the_check_undecided() {
    let repository = Repository::new("");
    repository.write(".gitmodules", "[submodule \"lib\"]\n\tpath = lib\n\turl = /nowhere/lib\n");
    repository.git(&["update-index", "--add", "--cacheinfo", "160000", &"a".repeat(40), "lib"]);
    repository.git(&["add", ".gitmodules"]);
    repository.git(&["commit", "-q", "-m", "a step"]);
    std::fs::remove_file(repository.bench.path().join(".gitmodules")).unwrap();
    let output = repository.check(&["--baseline", "main", "--fail-if", "cpu > +3%", "--undecided", "pass"]);
    assert_eq!(output.status.code(), Some(4), "{}", all_of(&output));
    let told = stderr(&output);
    assert!(told.contains("undecided: the submodule lib of the baseline cannot be fetched"), "{told}");
}

#[test]
fn a_limit_on_bytes_without_a_counter_is_noted_before_the_run() {
    let said = |more: &str| {
        let repository = Repository::new(more);
        let output = repository.check(&["--baseline", "HEAD", "--fail-if", "allocated > +1%", "--dry-run"]);
        assert_eq!(output.status.code(), Some(0), "{}", all_of(&output));
        stderr(&output)
    };
    let note = "note: allocated > +1% is decided only if own runs on a JVM";
    assert!(said("").contains(note) && !said("counters = \"own\"\n").contains(note), "{}", said(""));
}

/// A project whose catalog has one server, built by a script. Its cost is in the file `servers/cost`, or for one version in
/// `servers/cost.VERSION`. A target with a file `broken.TARGET` cannot be built. The file `built` names what was built.
pub fn project_with_catalog() -> Repository {
    let repository = Repository { bench: Bench::new(), cache: tempfile::tempdir().unwrap() };
    repository.git(&["init", "-q", "-b", "main"]);
    std::fs::create_dir(repository.bench.path().join("servers")).unwrap();
    repository.write(
        "servers/catalog.toml",
        "schema = 1\n[jvm]\noptions = []\n[families.own]\ntitle = \"Own\"\ndefault_version = \"1\"\n\
         versions = [\"1\"]\n[[families.own.servers]]\nname = \"own.Layer\"\nroutes = 1\nkind = \"layer\"\n",
    );
    let scenario = QUICK.split("[scenarios.Get]").nth(1).unwrap();
    repository.write("servers/contract.toml", &format!("schema = 1\n[scenarios.Get]{scenario}"));
    repository.write("servers/cost", "0\n");
    repository.write(
        "servers/serve.sh",
        &format!(
            "cost=$(dirname $0)/cost\n[ ! -e $cost.$VERSION ] || cost=$cost.$VERSION\n\
             exec {TARE} reference --port $2 --base-ns 300000 --spin-percent $(cat $cost)\n"
        ),
    );
    write_program(
        &repository.bench.path().join("servers/build"),
        "#!/bin/sh\n[ \"$1\" != --fingerprint ] || { echo \"$2 1\"; exit; }\n[ ! -e broken ] || { cat broken; exit 1; }\n\
         mkdir -p target/manifests\nfor server; do\necho $server >>built; version=${server#*@}\n\
         [ ! -e broken.$server ] || { echo $server does not compile; exit 1; }\n\
         echo \"{\\\"schema\\\": 1, \\\"family\\\": \\\"own\\\", \\\"version\\\": \\\"$version\\\", \\\"sources_sha256\\\": \\\"1\\\", \
         \\\"resolved\\\": {}, \\\"command\\\": [\\\"env\\\", \\\"VERSION=$version\\\", \\\"sh\\\", \\\"$PWD/serve.sh\\\"]}\" \
         >target/manifests/$server.json\ndone\n",
    );
    repository.write(".gitignore", "target\nbuilt\n");
    repository.write("suite.toml", QUICK.split("[scenarios.Get]").next().unwrap());
    repository.commit();
    repository
}

#[test]
fn a_server_of_the_catalog_is_compared_with_an_earlier_revision_of_the_project() {
    let repository = project_with_catalog();
    repository.write("servers/cost", "20\n");
    let limit = ["-s", "own.Layer", "--fail-if", "cpu > +3%"];
    let check = |args: &[&str]| repository.check(&[&limit, args].concat());
    let output = check(&["--baseline", "HEAD", "--forks", "1"]);
    assert_eq!(output.status.code(), Some(4), "one start decides nothing: {}", all_of(&output));
    let summary = repository.bench.summary();
    let variants: Vec<_> = summary["cells"].as_array().unwrap().iter().map(|cell| cell["variant"].as_str()).collect();
    assert_eq!(variants, ["own.Layer@baseline", "own.Layer", "own.Layer@baseline (again)"].map(Some));
    let built = |folder: PathBuf| folder.join("servers/target/manifests/own@1.json").exists();
    assert!(built(repository.worktree()) && built(repository.bench.path().to_owned()), "each is built in its folder");
    assert!(stderr(&output).contains("changes that are not committed"), "{}", stderr(&output));

    let output = check(&["--baseline", "v9"]);
    assert_eq!(output.status.code(), Some(2), "{}", all_of(&output));
    let told = stderr(&output);
    assert!(
        told.contains("no library version and no git revision matches \"v9\"; there are: the versions 1;"),
        "{told}"
    );

    repository.write("servers/broken", "Layer.scala:7: it does not compile\n");
    repository.commit();
    std::fs::remove_file(repository.bench.path().join("servers/broken")).unwrap();
    let output = check(&["--baseline", "HEAD"]);
    assert_eq!(output.status.code(), Some(4), "not green: {}", all_of(&output));
    let told = stderr(&output);
    assert!(told.contains("undecided: ") && told.contains("Layer.scala:7: it does not compile"), "{told}");
}

#[test]
fn one_release_is_compared_with_another_also_where_the_catalog_lists_neither() {
    let repository = project_with_catalog();
    let limit = ["-s", "own.Layer", "--fail-if", "cpu > +3%", "--dry-run"];
    let check = |args: &[&str]| repository.check(&[&limit, args].concat());
    let output = check(&["--baseline", "1.11.12", "--versions", "1.11.13"]);
    assert_eq!(output.status.code(), Some(0), "{}", all_of(&output));
    let plan = stdout(&output);
    assert!(plan.contains("own.Layer@1.11.12  version 1.11.12"), "{plan}");
    assert!(plan.contains("own.Layer@1.11.13  version 1.11.13"), "{plan}");
    let profile = repository.tare(&["profile", "own.Layer", "Get", "--versions", "1.11.13", "--dry-run"]);
    assert!(stdout(&profile).contains("version 1.11.13"), "{}", all_of(&profile));
    let verify = repository.tare(&["verify", "own.Layer", "--version", "1.11.13"]);
    assert!(stdout(&verify).contains("own.Layer 1.11.13"), "{}", all_of(&verify));
    for (args, says) in [
        (["--baseline", "1.11.12", "--versions", "1.11.12"], "--versions: 1.11.12 is the baseline"),
        (["--baseline", "1.11.12", "--versions", "newest"], "no version matches \"newest\""),
    ] {
        let output = check(&args);
        assert_eq!(output.status.code(), Some(2), "{}", all_of(&output));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
}

#[test]
fn what_cannot_be_checked_is_an_error_with_a_reason() {
    let repository = Repository::new("");
    for (args, says) in [
        (&["--baseline", "mian", "--fail-if", "cpu > +3%"][..], "did you mean \"main\"?"),
        (&["--baseline", "main"], "suite.toml: has no limits; write [check] fail_if"),
        (&["--fail-if", "cpu > +3%"], "suite.toml: names nothing to compare with; give --baseline main"),
        (&["--baseline", "main", "--fail-if", "cpu > 3"], "with a sign, such as +3%"),
        (&["--baseline", "main", "--fail-if", "cpu > +3%", "-s", "onw"], "did you mean \"own\"?"),
        (&["--baseline", "sh -c 'x {port}", "--fail-if", "cpu > +3%"], "has a quote that is not closed"),
        (&["--baseline", ".", "--fail-if", "cpu > +3%"], "is what is checked, so both builds would be the same"),
    ] {
        let output = repository.check(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", all_of(&output));
        assert!(stderr(&output).contains(says), "{args:?}: {}", stderr(&output));
    }
    let output = repository.check(&["--baseline", "../old checkout", "--fail-if", "cpu > +3%"]);
    assert_eq!(output.status.code(), Some(2), "{}", all_of(&output));
    let told = stderr(&output);
    assert!(told.contains("--baseline: there is no folder \"../old checkout\" and no program \"../old\""), "{told}");
    std::fs::create_dir(repository.bench.path().join("main")).unwrap();
    let output = repository.check(&["--baseline", "main", "--fail-if", "cpu > +3%"]);
    assert_eq!(output.status.code(), Some(2), "{}", all_of(&output));
    let told = stderr(&output);
    assert!(told.contains("write ./main for a folder, or refs/heads/main for the revision"), "{told}");
    for baseline in ["./main", "refs/heads/main"] {
        let output = repository.check(&["--baseline", baseline, "--fail-if", "cpu > +3%", "--dry-run"]);
        assert_eq!(output.status.code(), Some(0), "{}", all_of(&output));
    }
    std::fs::remove_dir(repository.bench.path().join("main")).unwrap();
    let absolute = SERVER
        .replace("serve.sh", &repository.bench.path().canonicalize().unwrap().join("serve.sh").display().to_string());
    repository.write("suite.toml", &[QUICK, &absolute].concat());
    let output = repository.check(&["--baseline", "main", "--fail-if", "cpu > +3%"]);
    assert!(stderr(&output).contains("is the same file for both builds"), "{}", stderr(&output));
    repository.write("suite.toml", &[QUICK, &SERVER.replace("\"sh\", \"serve.sh\"", "\"./serve.sh\"")].concat());
    let output = repository.check(&["--baseline", "./serve.sh", "--fail-if", "cpu > +3%"]);
    assert!(stderr(&output).contains("serve.sh is the baseline too"), "{}", stderr(&output));
    let top = repository.bench.path().canonicalize().unwrap();
    for (more, key) in [("build = \"make -C TOP\"", "build"), ("env = { PYTHONPATH = \"lib:TOP\" }", "env.PYTHONPATH")]
    {
        let more = more.replace("TOP", &top.display().to_string());
        repository.write("suite.toml", &[QUICK, SERVER, &more].concat());
        let output = repository.check(&["--baseline", "main", "--fail-if", "cpu > +3%"]);
        assert_eq!(output.status.code(), Some(2), "{}", all_of(&output));
        let told = stderr(&output);
        assert!(told.contains(&format!("[servers.own] {key}: \"")) && told.contains("is the same file"), "{told}");
    }
}

#[test]
fn outside_of_a_checkout_a_revision_is_refused() {
    let bench = Bench::new();
    bench.suite(&[QUICK, SERVER].concat());
    let mut command = bench.tare(&["check", "suite.toml", "--baseline", "main", "--fail-if", "cpu > +3%"]);
    let output = command.env("GIT_CEILING_DIRECTORIES", bench.path().parent().unwrap()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", all_of(&output));
    assert!(stderr(&output).contains("is in no git checkout"), "{}", stderr(&output));
}

#[test]
fn a_check_reads_the_repository_of_its_folder_also_in_a_hook_and_whatever_the_folder_is_called() {
    let repository = Repository::new("");
    let folder = repository.bench.path().join("über uns/mein projekt");
    std::fs::create_dir_all(&folder).unwrap();
    for file in ["suite.toml", "serve.sh", "cost"] {
        std::fs::copy(repository.bench.path().join(file), folder.join(file)).unwrap();
    }
    repository.commit();
    let args = ["check", "suite.toml", "--baseline", "HEAD", "--fail-if", "cpu > +3%", "--dry-run"];
    let mut command = repository.bench.tare(&args);
    // As git sets them for a hook, but of another repository.
    command.env("GIT_DIR", "/nowhere/.git").env("GIT_INDEX_FILE", "/nowhere/.git/index");
    let output = command.current_dir(&folder).env("XDG_CACHE_HOME", repository.cache.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", all_of(&output));
    assert!(stdout(&output).contains("own@baseline"), "{}", all_of(&output));
}
