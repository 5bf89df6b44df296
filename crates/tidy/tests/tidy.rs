//! The invariants of the workspace, each a test that names the file and the rule it breaks.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod callers;
mod links;
mod messages;
mod modules;
mod promises;
mod source;
mod vocabulary;

use std::collections::BTreeMap;
use std::fs;

use source::{Source, Token, closing, files, root, sources};

/// Which crates of ours each crate may depend on: the arrows of ARCHITECTURE.md.
const ALLOWED_DEPENDENCIES: [(&str, &[&str]); 18] = [
    ("units", &[]),
    ("stats", &[]),
    ("wire", &[]),
    ("sys", &["units"]),
    ("sample", &["stats", "units"]),
    ("plan", &["sample", "stats", "units", "wire"]),
    ("record", &["plan", "sample", "stats", "units"]),
    ("reference", &["sys", "wire"]),
    ("load", &["wire", "sys", "sample", "stats", "units"]),
    ("sut", &["sys", "wire", "plan", "record", "units"]),
    ("run", &["load", "sut", "record", "plan", "stats", "sys", "units"]),
    ("remote", &["run", "load", "sut", "record", "plan", "profile", "sample", "stats", "sys", "units"]),
    ("profile", &["stats"]),
    ("analysis", &["record", "plan", "stats", "profile", "units"]),
    ("report", &["analysis", "record", "plan", "stats", "profile", "units"]),
    (
        "tare",
        &["remote", "run", "analysis", "report", "record", "plan", "sut", "sys", "reference", "stats", "load", "units"],
    ),
    ("hostile", &["remote", "wire", "load", "plan", "profile", "record", "stats", "sut", "sys"]),
    ("tidy", &[]),
];

/// What a pure crate does not touch: the clock, files, sockets, processes, the environment.
const IMPURE: [&str; 8] =
    ["std::fs", "std::net", "std::process", "std::env", "Instant", "SystemTime", "File", "tare_sys"];

/// The most lines of a file.
const LONGEST: usize = 400;

fn assert_none(rule: &str, wrong: &[String]) {
    assert!(wrong.is_empty(), "{rule}:\n  {}", wrong.join("\n  "));
}

#[test]
fn crates_depend_only_on_what_the_architecture_allows() {
    #[derive(serde::Deserialize)]
    struct Manifest {
        #[serde(default)]
        dependencies: BTreeMap<String, toml::Value>,
    }
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED_DEPENDENCIES.into_iter().collect();
    let mut wrong = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let manifest: Manifest = toml::from_str(&fs::read_to_string(path.join("Cargo.toml")).unwrap()).unwrap();
        let Some(allowed) = allowed.get(name.as_str()) else {
            wrong.push(format!("crates/{name} has no place in the architecture"));
            continue;
        };
        let ours = manifest.dependencies.keys().filter_map(|dependency| dependency.strip_prefix("tare-"));
        wrong.extend(ours.filter(|to| !allowed.contains(to)).map(|to| format!("{name} → {to} is not allowed")));
    }
    assert_none("crate edges", &wrong);
}

#[test]
fn pure_crates_touch_no_clock_file_or_socket() {
    let is_pure = |source: &&Source| {
        ["units", "stats", "wire", "sample", "plan", "profile"].contains(&source.crate_name.as_str())
            || source.path.to_string_lossy().contains("remote/src/fleet/")
    };
    let of_source = |source: &'static Source| {
        let found =
            IMPURE.iter().flat_map(|path| source.lines_with_path(path).into_iter().map(move |line| (path, line)));
        found.map(|(path, line)| format!("{}: {path}", source.place(line)))
    };
    let wrong: Vec<String> = sources().iter().filter(is_pure).flat_map(of_source).collect();
    assert_none("units, stats, wire, sample, plan, profile and remote::fleet are pure", &wrong);
}

#[test]
fn unsafe_code_lives_in_sys_alone() {
    let elsewhere = sources().iter().filter(|source| source.crate_name != "sys");
    let is_unsafe = |token: &&Token| ["unsafe", "unsafe_code"].contains(&token.text.as_str());
    let places = |source: &'static Source| source.tokens.iter().filter(is_unsafe).map(|token| source.place(token.line));
    assert_none("unsafe outside crates/sys", &elsewhere.flat_map(places).collect::<Vec<_>>());
}

#[test]
fn threads_are_started_where_the_system_may_refuse_them() {
    let places = |source: &'static Source| {
        let lines = source.lines_with("thread::spawn").into_iter().chain(source.lines_with("scope.spawn"));
        lines.map(|line| source.place(line))
    };
    let wrong: Vec<String> = sources().iter().flat_map(places).collect();
    assert_none("a spawn that panics at the limit of processes; use tare_sys::threads or thread::Builder", &wrong);
}

#[test]
fn no_server_has_a_special_case() {
    const FAMILIES: [&str; 9] = ["http4s", "Tapir", "netty", "vertx", "pekko", "nima", "finagle", "axum", "fastify"];
    // The examples of the command line name servers, and so do the defaults of a suite; what measures may not.
    let measures = sources().iter().filter(|source| !["tare", "plan"].contains(&source.crate_name.as_str()));
    let names_server = |token: &&Token| FAMILIES.iter().any(|family| token.text.contains(family));
    let places = |source: &'static Source| {
        source.code.iter().filter(names_server).map(|token| format!("{}: {}", source.place(token.line), token.text))
    };
    assert_none(
        "a server under test is a manifest entry plus a program",
        &measures.flat_map(places).collect::<Vec<_>>(),
    );
}

#[test]
fn no_package_of_others_lies_between_the_files() {
    const ENDINGS: [&str; 9] = [".whl", ".jar", ".class", ".deb", ".gz", ".tgz", ".zip", ".so", ".o"];
    let places = files(&root(), &ENDINGS).into_iter().map(|path| path.display().to_string());
    assert_none("a package or a build: delete it, or give it a folder that Git ignores", &places.collect::<Vec<_>>());
}

#[test]
fn every_file_has_a_header_and_is_short_enough() {
    let mut wrong = Vec::new();
    for source in sources() {
        if !source.text.starts_with("//!") {
            wrong.push(format!("{} does not begin with //!", source.path.display()));
        }
        let lines = source.text.lines().count();
        if lines > LONGEST {
            wrong.push(format!("{} has {lines} lines: divide it", source.path.display()));
        }
    }
    assert_none("files", &wrong);
}

/// Whether the function that is marked as a test at `at` returns unless a variable is set: then it is a program that another
/// test starts, and counts as passed without having tested anything.
fn is_helper(tokens: &[Token], at: usize) -> bool {
    let Some(open) = (at..tokens.len()).find(|index| tokens[*index].text == "{") else { return false };
    let (head, body) = (&tokens[at..open], &tokens[open..closing(tokens, open)]);
    let has = |range: &[Token], words: &[&str]| {
        range.windows(words.len()).any(|part| part.iter().map(|token| token.text.as_str()).eq(words.iter().copied()))
    };
    let reads_variable = ["var", "var_os"].iter().any(|read| has(body, &["env", "::", read]));
    !has(head, &["ignore"]) && reads_variable && has(body, &["else", "{", "return"])
}

#[test]
fn a_helper_is_no_test() {
    let mark = source::tokens("#[test]").unwrap();
    let is_mark = |at: &&[Token]| at.iter().map(|token| &token.text).eq(mark.iter().map(|token| &token.text));
    let mut wrong = Vec::new();
    for source in sources() {
        let marks = source.tokens.windows(mark.len()).enumerate().filter(|(_, window)| is_mark(window));
        let helpers = marks.filter(|(at, _)| is_helper(&source.tokens, *at));
        wrong.extend(helpers.map(|(at, _)| source.place(source.tokens[at].line)));
    }
    assert_none("a program that another test starts: mark it #[ignore = \"another test starts it\"]", &wrong);
    let (helper, ignored) =
        ("#[test] fn a() { let Ok(b) = env::var(C) else { return }; }", "#[test] #[ignore] fn a() {}");
    let of = |text: &str| is_helper(&source::tokens(text).unwrap(), 0);
    assert_eq!([of(helper), of(&helper.replace("fn", "#[ignore] fn")), of(ignored)], [true, false, false]);
}
