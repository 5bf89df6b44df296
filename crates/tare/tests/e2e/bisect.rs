//! `tare bisect` over releases of known cost: the release with the planted change is found, whatever else cannot be built.

use std::process::{Output, Stdio};

use crate::check::{Repository, project_with_catalog};
use crate::common::{all_of, is_disturbed, signal, skip, stderr, stdout, wait_for, write_program};
use crate::faults::count_recorded_slices;

const SEARCH: [&str; 9] = ["bisect", "-s", "own.Layer", "--versions", "1,2,3,4", "-m", "Get", "--budget", "60s"];
const SHORT: [&str; 10] =
    ["--users", "8", "--warmup", "200ms", "--slice", "100ms", "--discard", "20ms", "--saturating", "6"];

/// Searches the releases 1 to 4 with short runs. Of these, 3 and 4 cost twice as much, and 2 cannot be built.
fn bisect(repository: &Repository, args: &[&str]) -> Output {
    repository.tare(&[&SEARCH[..], &SHORT, args].concat())
}

fn project_with_releases() -> Repository {
    let repository = project_with_catalog();
    repository.write("servers/cost.3", "100\n");
    repository.write("servers/cost.4", "100\n");
    repository.write("servers/broken.own@2", "");
    repository
}

/// Whether a search did not finish because other programs disturbed it.
fn is_undecided(repository: &Repository, output: &Output) -> bool {
    let is_undecided = output.status.code() == Some(4) && is_disturbed(&repository.bench.summary());
    if is_undecided {
        skip("other programs kept this search from a verdict");
    }
    is_undecided
}

#[test]
fn the_release_with_the_change_is_found_beside_one_that_cannot_be_built() {
    let repository = project_with_releases();
    let output = bisect(&repository, &["--good", "1", "--bad", "4", "--at-least-change", "20"]);
    if is_undecided(&repository, &output) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", all_of(&output));
    let told = stdout(&output);
    assert!(told.contains("4 releases: 1, 2, 3, 4"), "{told}");
    assert!(told.contains("4 has the change: +") && told.contains("3 has the change: +"), "{told}");
    assert!(told.contains("2 is not known: it cannot be built"), "{told}");
    assert!(told.contains("The change came after 1, with 3 at the latest. Not known: 2."), "{told}");
    assert!(told.contains("own.Layer has no server beneath it in the catalog"), "{told}");
    let built = std::fs::read_to_string(repository.bench.path().join("servers/built")).unwrap();
    let times = |version: &str| built.lines().filter(|line| line.ends_with(version)).count();
    assert_eq!(["1", "3", "4"].map(times), [1; 3], "each release is built once: {built}");
}

#[test]
fn a_release_stays_found_where_the_server_beneath_cannot_be_built() {
    let repository = project_with_releases();
    let catalog = std::fs::read_to_string(repository.bench.path().join("servers/catalog.toml")).unwrap();
    let beneath = "baseline = \"base.Bare\"\n[families.base]\ntitle = \"Base\"\ndefault_version = \"1\"\n\
                   versions = [\"1\", \"4\"]\n[[families.base.servers]]\n\
                   name = \"base.Bare\"\nroutes = 1\nkind = \"vanilla\"\n";
    repository.write("servers/catalog.toml", &format!("{catalog}{beneath}"));
    repository.write("servers/broken.base@4", "");
    let args = ["bisect", "-s", "own.Layer", "--versions", "1,4", "--good", "1", "--bad", "4", "-m", "Get"];
    let output = repository.tare(&[&args[..], &SHORT, &["--budget", "60s", "--at-least-change", "20"]].concat());
    if is_undecided(&repository, &output) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", all_of(&output));
    let told = stdout(&output);
    assert!(told.contains("The change came with 4: 1 does not have it."), "{told}");
    assert!(told.contains("Whose it is, is not known: base.Bare cannot be built."), "{told}");
    assert!(stderr(&output).contains("base@4 does not compile"), "{}", stderr(&output));
}

#[test]
fn releases_of_equal_cost_have_no_change() {
    let repository = project_with_releases();
    let output = bisect(&repository, &["--good", "3", "--bad", "4", "--at-least-change", "60"]);
    if is_undecided(&repository, &output) {
        return;
    }
    assert_eq!(output.status.code(), Some(4), "{}", all_of(&output));
    assert!(stdout(&output).contains("No change: 4 costs "), "{}", all_of(&output));
}

#[test]
fn a_search_that_is_stopped_leaves_no_server_and_says_how_to_go_on() {
    for (end, status) in [("-INT", Some(130)), ("-KILL", None)] {
        let repository = project_with_releases();
        let args = [&SEARCH[..], &SHORT, &["--good", "1", "--bad", "4", "--at-least-change", "20"]].concat();
        let child = repository.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        assert!(wait_for(|| count_recorded_slices(&repository.bench) > 4), "it measures");
        signal(end, child.id());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), status, "{}", all_of(&output));
        assert_eq!(stdout(&output).contains("Interrupted. The answers above stand."), end == "-INT");
        repository.bench.assert_nothing_left();
    }
}

#[test]
fn a_search_that_is_stopped_while_a_release_is_built_says_how_to_go_on() {
    let repository = project_with_releases();
    write_program(&repository.bench.path().join("servers/build"), "#!/bin/sh\nexec sleep 49\n");
    let args = [&SEARCH[..], &SHORT, &["--good", "1", "--bad", "4"]].concat();
    let child = repository.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(wait_for(|| repository.bench.processes_of_test().iter().any(|one| one.contains(": sleep 49"))));
    signal("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", all_of(&output));
    assert!(stdout(&output).contains("Interrupted. The answers above stand."), "{}", all_of(&output));
    repository.bench.assert_nothing_left();
}
