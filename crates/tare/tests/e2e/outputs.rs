//! Outputs that cannot be written: they are tried before the load. If one fails later, no other output is lost.

use std::fs::{self, File};
use std::io::Read;
use std::process::{Command, Stdio};

use tare_record::{RunHeader, RunWriter, find_run, open_run_record};

use crate::common::{Bench, QUICK, Reference, SmallDisk, all_of, json, server, signal, stderr, stdout, wait_for};

const FLAGS: [&str; 5] = ["--json", "--csv", "--html", "--hgrm", "--hlog"];

#[test]
fn a_file_that_cannot_be_made_is_refused_before_the_load() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    fs::create_dir(bench.path().join("folder")).unwrap();
    for flag in FLAGS {
        for file in ["no/such/folder/a", "folder"] {
            let output = bench.run(&["load", &server.url("/path0/4"), "-d", "60s", flag, file]);
            let error = stderr(&output);
            assert_eq!((output.status.code(), stdout(&output)), (Some(1), String::new()), "{error}");
            assert!(error.contains(&format!("no load was made, because {flag} {file} cannot be written")), "{error}");
        }
    }
}

#[test]
fn two_forms_never_share_a_file() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    for (flags, says) in [
        (&["--json", "-", "--csv", "-"][..], "--json and --csv both write to standard output"),
        (&["--wrk", "--json", "-"], "--json and --wrk both write to standard output"),
        (&["--html", "a", "--hlog", "a"], "--html and --hlog both write to a;"),
        (&["--json", "a", "--db", "a"], "--db and --json both write to a;"),
        (&["--json", "./a", "--db", "a"], "--db and --json both write to a;"),
        (&["--db", "-"], "--db needs a file"),
    ] {
        let output = bench.run(&[&["load", &server.url("/path0/4"), "-d", "60s"], flags].concat());
        let error = stderr(&output);
        assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()), "{flags:?}: {error}");
        assert!(error.contains(says), "{flags:?}: {error}");
        assert_eq!(fs::read_dir(bench.path()).unwrap().count(), 0, "{flags:?}");
    }
}

#[test]
fn two_forms_never_share_a_file_by_a_link() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    fs::write(bench.path().join("b"), "").unwrap();
    std::os::unix::fs::symlink("b", bench.path().join("linked")).unwrap();
    fs::create_dir(bench.path().join("d")).unwrap();
    for json in ["linked", "d/../b"] {
        let output = bench.run(&["load", &server.url("/path0/4"), "-d", "60s", "--json", json, "--csv", "b"]);
        let error = stderr(&output);
        assert!(output.status.code() == Some(2) && error.contains("--json and --csv both write to "), "{error}");
    }
}

#[test]
fn a_folder_for_a_report_is_never_ignored() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    assert!(bench.run(&["load", &server.url("/path0/4"), "-n", "50", "--db", "a.db"]).status.success());
    for (flags, code, says) in [
        (&["--out", "made"][..], 2, "--out made: a load has no folder of files"),
        (&["--json", "--out", "made"], 2, "cannot be used with"),
    ] {
        let output = bench.run(&[&["report", "a.db"], flags].concat());
        assert_eq!((output.status.code(), stdout(&output)), (Some(code), String::new()), "{}", stderr(&output));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
}

#[test]
fn trying_a_file_leaves_no_trace() {
    let bench = Bench::new();
    fs::write(bench.path().join("old.csv"), "old").unwrap();
    let server = Reference::start(&[]);
    let wrong = "no/such/folder/a";
    let load = ["load", &server.url("/"), "--json", "new.json", "--csv", "old.csv", "--hlog", wrong];
    assert_eq!(bench.run(&load).status.code(), Some(1));
    assert!(!bench.path().join("new.json").exists());
    assert_eq!(fs::read_to_string(bench.path().join("old.csv")).unwrap(), "old");
}

#[test]
fn a_file_that_fails_after_the_load_costs_no_other_output() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    for (flag, other) in FLAGS.into_iter().zip(["--csv", "--html", "--hgrm", "--hlog", "--json"]) {
        let name = other.trim_start_matches('-');
        let load = ["load", &server.url("/path0/4"), "-n", "50", flag, "/dev/full", other, name];
        let output = bench.run(&load);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(
            stderr(&output).contains(&format!("cannot write {flag} /dev/full: No space left")),
            "{}",
            stderr(&output)
        );
        assert!(stdout(&output).contains("50 answered as expected"), "the summary is shown: {}", stdout(&output));
        assert!(fs::metadata(bench.path().join(name)).unwrap().len() > 100, "{other} is written");
    }
}

#[test]
fn a_full_disk_is_found_before_the_load() {
    let bench = Bench::new();
    let Some(_disk) = SmallDisk::mount(&bench, "small", 16) else { return };
    let server = Reference::start(&[]);
    fs::write(bench.path().join("small/rest"), vec![0; 16 << 10]).unwrap();
    let output = bench.run(&["load", &server.url("/path0/4"), "-d", "60s", "--json", "small/a.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("--json small/a.json cannot be written"), "{}", stderr(&output));
    assert!(!bench.path().join("small/a.json").exists());
}

#[test]
fn a_record_whose_disk_fills_in_the_middle_costs_no_other_output() {
    let bench = Bench::new();
    let Some(_disk) = SmallDisk::mount(&bench, "small", 512) else { return };
    let server = Reference::start(&[]);
    let load = ["load", &server.url("/path0/4"), "-c", "2", "-d", "2s", "--interval", "10ms", "--json", "a.json"];
    let output = bench.run(&[&load[..], &["--db", "small/a.sqlite"]].concat());
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("is full: free space there") && error.contains("only the beginning of the load"), "{error}");
    assert!(stdout(&output).contains("closed loop"), "the summary is shown");
    let whole = json(&fs::read_to_string(bench.path().join("a.json")).unwrap());
    let read = bench.run(&["report", "small/a.sqlite", "--json"]);
    let begun = json(&stdout(&read));
    let ok = |summary: &serde_json::Value| summary["requests"]["ok"].as_u64().unwrap();
    assert!(ok(&begun) > 0 && ok(&begun) < ok(&whole), "{} of {}", ok(&begun), ok(&whole));
}

#[test]
fn standard_output_that_cannot_be_written_is_an_error() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let url = server.url("/path0/4");
    let load = ["load", &url, "-n", "50"];
    for args in [
        &[&load[..], &["--json", "-", "--csv", "a.csv"]].concat()[..],
        &load,
        &["example"],
        &["load", "--help"],
        &["--version"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = bench.tare(args).stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("cannot write to standard output: No space left"), "{}", stderr(&output));
    }
    assert!(bench.path().join("a.csv").exists(), "the other file is written");
}

#[test]
fn a_reader_of_standard_output_that_has_gone_is_no_error() {
    let bench = Bench::new();
    for args in [&["example"][..], &["load", "--help"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = bench.tare(args).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()), "{args:?}");
    }
}

#[test]
fn a_reader_of_standard_error_that_has_gone_costs_no_result() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let url = server.url("/path0/4");
    let mut command = bench.tare(&["load", &url, "-n", "50", "--json", "a.json", "--csv", "a.csv"]);
    let output = command.stderr(writer).stdout(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(stdout(&output).contains("50 answered as expected"), "{}", stdout(&output));
    assert!(bench.path().join("a.json").exists() && bench.path().join("a.csv").exists());
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = bench.tare(&["load", "ftp://x/"]).stderr(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "an error keeps its code");
}

#[test]
fn a_bundle_has_record_and_logs_without_the_secrets_that_the_record_names() {
    let bench = Bench::new();
    let secrets = ["hunter2secret", "zzzyyyxxx111", "pass99word", "ghp_user7", "argument77"];
    // A secret may be written like a word or a number of the record.
    let headers = "headers = { Authorization = \"Bearer zzzyyyxxx111\", X-Mode = \"load\", X-Year = \"1000\" }";
    let suite = QUICK.replace("/path0/4\"", &format!("/path0/4\", {headers}"));
    let urls = "DB_URL = \"postgres://me:pass99word@db/x\", REPOSITORY = \"https://ghp_user7@host/x\"";
    let env = format!("env = {{ DB_PASSWORD = \"hunter2secret\", AUTH_MODE = \"none\", {urls} }}\n");
    let logging = server("bare", None, &[]).replace(
        "command = [",
        &format!(
            "{env}command = [\"sh\", \"-c\", \"echo to $DB_URL; API_TOKEN=argument77 exec \\\"$0\\\" \\\"$@\\\"\", "
        ),
    );
    let output = bench.run_suite(&[suite, logging].concat(), &["--forks", "1"]);
    assert!(output.status.success(), "{}", all_of(&output));
    let logs = bench.path().join(".tare/runs");
    let log = fs::read_dir(logs).unwrap().next().unwrap().unwrap().path().join("logs");
    let logged =
        fs::read_dir(log).unwrap().any(|file| fs::read_to_string(file.unwrap().path()).unwrap().contains("pass99word"));
    assert!(logged, "the server logs a secret");

    let output = bench.run(&["report", "--bundle", "bug.zip"]);
    assert!(
        stdout(&output).contains("wrote bug.zip: ") && stdout(&output).contains(" secrets masked"),
        "{}",
        stderr(&output)
    );
    let run = fs::read_dir(bench.path().join(".tare/runs")).unwrap().next().unwrap().unwrap().path();
    let onto_itself = bench.run(&["report", "--bundle", run.join("record.sqlite").to_str().unwrap()]);
    assert!(stderr(&onto_itself).contains("is the record itself"), "{}", stderr(&onto_itself));
    let mut bundle = zip::ZipArchive::new(File::open(bench.path().join("bug.zip")).unwrap()).unwrap();
    let mut names = Vec::new();
    for at in 0..bundle.len() {
        let mut file = bundle.by_index(at).unwrap();
        let mut content = Vec::new();
        file.read_to_end(&mut content).unwrap();
        for secret in secrets {
            assert!(
                !content.windows(secret.len()).any(|part| part == secret.as_bytes()),
                "{secret} in {}",
                file.name()
            );
        }
        names.push(file.name().to_owned());
        if file.name() == "record.sqlite" {
            fs::write(bench.path().join("from-bundle.sqlite"), content).unwrap();
        }
    }
    assert!(
        names.iter().any(|name| name.starts_with("logs/")) && names.contains(&"summary.json".to_owned()),
        "{names:?}"
    );
    let here = bench.tare(&["report", "--bundle", "here.zip", "record.sqlite"]).current_dir(&run).output().unwrap();
    assert!(here.status.success(), "{}", all_of(&here));
    let here = zip::ZipArchive::new(File::open(run.join("here.zip")).unwrap()).unwrap();
    assert_eq!(here.len(), names.len(), "from within the folder of the run");
    let figures = |run: &str| {
        let mut cells = json(&stdout(&bench.run(&["report", run, "--json"])))["cells"].clone();
        for cell in cells.as_array_mut().unwrap() {
            cell["command"].take();
        }
        cells
    };
    assert_eq!(figures("from-bundle.sqlite"), figures("latest"), "the record in the bundle has every figure");
}

#[test]
fn a_bundle_of_a_run_that_has_not_ended_has_all_that_was_measured() {
    let bench = Bench::new();
    let output = bench.run_suite(&[QUICK, &server("bare", None, &[])].concat(), &["--forks", "1"]);
    assert!(output.status.success(), "{}", all_of(&output));
    let dir = bench.path().join(".tare");
    let whole = open_run_record(&find_run(&dir, "latest").unwrap()).unwrap();
    let mut writer = RunWriter::create(&dir, &RunHeader { id: "going-on".to_owned(), ..whole.header }).unwrap();
    whole.slices.iter().for_each(|slice| writer.append_slice(slice).unwrap());

    let output = bench.run(&["report", "going-on", "--bundle", "bug.zip"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let mut bundle = zip::ZipArchive::new(File::open(bench.path().join("bug.zip")).unwrap()).unwrap();
    let bundled = bench.path().join("bundled.sqlite");
    std::io::copy(&mut bundle.by_name("record.sqlite").unwrap(), &mut File::create(&bundled).unwrap()).unwrap();
    assert_eq!(open_run_record(&bundled).unwrap().slices.len(), whole.slices.len());
}

#[test]
fn a_bundle_that_cannot_be_made_leaves_the_one_from_before() {
    let bench = Bench::new();
    let output = bench.run_suite(&[QUICK, &server("bare", None, &[])].concat(), &["--forks", "1"]);
    assert!(output.status.success(), "{}", all_of(&output));
    let run = fs::read_dir(bench.path().join(".tare/runs")).unwrap().next().unwrap().unwrap().path();
    fs::create_dir_all(run.join("logs/unreadable.log")).unwrap();
    fs::write(bench.path().join("bug.zip"), "from before").unwrap();
    let output = bench.run(&["report", "--bundle", "bug.zip"]);
    assert!(!output.status.success() && stderr(&output).contains("unreadable.log"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(bench.path().join("bug.zip")).unwrap(), "from before");
    assert!(!bench.path().join("bug.zip.copy").exists());
}

#[test]
fn a_bundle_that_is_interrupted_leaves_no_copy_of_the_record() {
    let (server, bench) = (Reference::start(&[]), Bench::new());
    assert!(bench.run(&["load", &server.url("/path0/4"), "-n", "50", "--db", "a.db"]).status.success());
    let [pipe, copy] = ["pipe", "pipe.copy"].map(|name| bench.path().join(name));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut report = bench.tare(&["report", "a.db", "--bundle", "pipe"]);
    let mut packing = report.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert!(wait_for(|| copy.exists()));
    // Not SIGINT, which the programs of a shell's background ignore.
    signal("-TERM", packing.id());
    // Until now nobody read the pipe, so that the bundle could not be written.
    let reader = File::options().read(true).write(true).open(&pipe).unwrap();
    let status = packing.wait().unwrap();
    assert!(status.code().is_some() && !copy.exists(), "{status}");

    // With nobody at the pipe, only a second signal ends it. Those too early count as the first.
    drop(reader);
    let mut report = bench.tare(&["report", "a.db", "--bundle", "pipe"]);
    let mut packing = report.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert!(wait_for(|| copy.exists()));
    let has_ended = wait_for(|| {
        let ended = packing.try_wait().unwrap().is_some();
        if !ended {
            signal("-TERM", packing.id());
        }
        ended
    });
    assert!(has_ended && !copy.exists());
}

#[test]
fn the_logs_of_profiling_starts_lie_beside_those_of_scored_ones_and_nothing_is_built_for_them() {
    let bench = Bench::new();
    let build = "build = \"echo built >>builds\"\n";
    let profile = "\n[profile]\nevents = [\"cpu\"]\nforks = 1\nspan = \"200ms\"\n";
    bench.run_suite(&[QUICK, &server("bare", None, &[]), build, profile].concat(), &["--forks", "1"]);
    assert_eq!(fs::read_to_string(bench.path().join("builds")).unwrap(), "built\n");
    let run = fs::read_dir(bench.path().join(".tare/runs")).unwrap().next().unwrap().unwrap().path();
    let names = |folder: &str| {
        let names = fs::read_dir(run.join(folder)).unwrap().map(|file| file.unwrap().file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(names("profile/logs"), names("logs"), "they have the same names");
}
