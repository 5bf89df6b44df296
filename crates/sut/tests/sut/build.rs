//! Builds servers, with a replacement for `servers/build` that writes the same files.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tare_sut::SutError;
use tare_sut::build::build_by_shell;
use tare_sut::catalog::{Built, Catalog, Target};

const CATALOG: &str = "schema = 1\n[jvm]\noptions = []\n[families.f]\ntitle = \"F\"\ndefault_version = \"1\"\n\
    min_java = 8\nservers = []\n";

/// The sources of every target hash to `hash1`. Version 404 is unavailable, 500 does not compile, 999 hangs.
const BUILD: &str = r#"#!/bin/sh
if [ "$1" = --fingerprint ]; then shift; for t; do echo "$t hash1"; done; exit; fi
status=0
for t; do
  echo "building $t with JAVA_HOME=$JAVA_HOME"
  case $t in
    *@404) echo '{"reason": "x:y:404 cannot be resolved", "artifact": "x:y:404"}' >target/manifests/$t.unavailable.json; status=1 ;;
    *@500) echo "error: it does not compile"; status=1 ;;
    *@999) sleep 1000 ;;
    *) cat >target/manifests/$t.json <<END
{"schema": 1, "family": "f", "version": "${t#*@}", "sources_sha256": "hash1", "java_release": 17, "resolved": {},
 "classpath": [], "servers": []}
END
  esac
done
exit $status
"#;

struct Folder {
    _directory: tempfile::TempDir,
    catalog: Catalog,
}

fn folder() -> Folder {
    let directory = tempfile::tempdir().unwrap();
    let at = |path: &str| directory.path().join(path);
    fs::create_dir_all(at("target/manifests")).unwrap();
    fs::write(at("catalog.toml"), CATALOG).unwrap();
    // From another process: a child that another test starts meanwhile would keep a file open that this one writes, and
    // what is open for writing cannot be executed (ETXTBSY).
    let write = ["-c", "printf %s \"$1\" >\"$0\" && chmod 755 \"$0\""];
    assert!(Command::new("sh").args(write).arg(at("build")).arg(BUILD).status().unwrap().success());
    Folder { catalog: Catalog::load(directory.path()).unwrap(), _directory: directory }
}

fn targets(versions: &[&str]) -> Vec<Target> {
    versions.iter().map(|version| Target { family: "f".into(), version: (*version).into() }).collect()
}

fn not_cancelled() -> AtomicBool {
    AtomicBool::new(false)
}

#[test]
fn stale_targets_are_built_once_and_each_output_line_is_reported() {
    let folder = folder();
    let wanted = targets(&["1", "2"]);
    let mut said = Vec::new();
    let home = Path::new("/some/jdk");
    let left = folder
        .catalog
        .build_targets(&wanted, Some(home), &not_cancelled(), &mut |_, line| said.push(line.to_owned()))
        .unwrap();
    assert!(left.is_empty());
    assert_eq!(said, ["building f@1 with JAVA_HOME=/some/jdk", "building f@2 with JAVA_HOME=/some/jdk"]);
    assert!(matches!(folder.catalog.build_result(&wanted[0]).unwrap(), Built::Manifest(_)));
    folder
        .catalog
        .build_targets(&wanted, None, &not_cancelled(), &mut |_, line| panic!("built again: {line}"))
        .unwrap();
}

#[test]
fn another_hash_and_a_missing_file_make_a_target_stale() {
    let folder = folder();
    let wanted = targets(&["1", "2", "3"]);
    folder.catalog.build_targets(&wanted, None, &not_cancelled(), &mut |_, _| ()).unwrap();
    for (target, from, to) in
        [("f@1", "hash1", "hash0"), ("f@3", "\"classpath\": []", "\"classpath\": [\"/gone.jar\"]")]
    {
        let path = folder.catalog.root.join(format!("target/manifests/{target}.json"));
        fs::write(&path, fs::read_to_string(&path).unwrap().replace(from, to)).unwrap();
    }
    assert_eq!(folder.catalog.stale_targets(&wanted, &not_cancelled()).unwrap(), targets(&["1", "3"]));
}

#[test]
fn what_cannot_be_had_does_not_stop_the_others() {
    let folder = folder();
    let left = folder.catalog.build_targets(&targets(&["404", "1"]), None, &not_cancelled(), &mut |_, _| ()).unwrap();
    assert_eq!((left[0].0.version.as_str(), left[0].1.artifact.as_str(), left.len()), ("404", "x:y:404", 1));
    assert!(matches!(folder.catalog.build_result(&targets(&["1"])[0]).unwrap(), Built::Manifest(_)));
}

#[test]
fn a_build_that_fails_shows_what_it_said() {
    let error =
        folder().catalog.build_targets(&targets(&["404", "500"]), None, &not_cancelled(), &mut |_, _| ()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, SutError::Build { .. }) && text.contains("error: it does not compile"), "{text}");
    assert!(text.contains("f@500") && text.contains("exit code 1"), "{text}");
}

#[test]
fn a_failed_build_shows_its_first_errors_and_its_end() {
    let command = r"seq 50; printf '\033[1;31mnpm error\033[m code EUSAGE\033[0m\n'; echo cause; seq 51 90; exit 1";
    let failure = build_by_shell("own", command, None, &not_cancelled(), &mut |_, _| ()).unwrap_err().to_string();
    let lines: Vec<&str> = failure.lines().collect();
    assert_eq!(lines[0], format!("building own failed (exit code 1); first errors and end of what `{command}` said:"));
    assert_eq!(lines[1..4], ["npm error code EUSAGE", "cause", "51"]);
    assert_eq!(lines[10..13], ["58", "…", "71"]);
    assert_eq!(lines.last(), Some(&"90"));
}

#[test]
fn a_build_can_be_cancelled() {
    let cancelled = not_cancelled();
    let asked = &cancelled;
    let mut cancel = |_: Duration, _: &str| asked.store(true, Ordering::Relaxed);
    let error = folder().catalog.build_targets(&targets(&["999"]), None, &cancelled, &mut cancel).unwrap_err();
    assert!(matches!(error, SutError::Cancelled { .. }), "{error}");
}

#[test]
fn a_build_lasts_as_long_as_its_command_and_not_as_its_output() {
    let folder = tempfile::tempdir().unwrap();
    let built = |command: &str| {
        let mut said = Vec::new();
        let mut on_line = |_: Duration, line: &str| said.push(line.to_owned());
        build_by_shell("own", command, Some(folder.path()), &not_cancelled(), &mut on_line).unwrap();
        said
    };
    assert!(built("exec >log 2>&1; sleep 0.2; echo built").is_empty());
    assert_eq!(fs::read_to_string(folder.path().join("log")).unwrap(), "built\n");
    assert_eq!(built("sleep 1000 & echo built; echo as asked"), ["built", "as asked"], "one that stays, as a daemon");
}
