//! The invariants of the workspace, each a test that names the file and the rule it breaks.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which crates of ours each crate may depend on: the arrows of ARCHITECTURE.md.
const ALLOWED_DEPENDENCIES: [(&str, &[&str]); 18] = [
    ("units", &[]),
    ("stats", &[]),
    ("wire", &[]),
    ("sys", &["units"]),
    ("sample", &["stats", "units"]),
    ("agent", &["sample", "stats"]),
    ("plan", &["sample", "stats", "units", "wire"]),
    ("record", &["plan", "sample", "stats", "units"]),
    ("reference", &["sys", "wire"]),
    ("load", &["wire", "sys", "sample", "stats"]),
    ("sut", &["sys", "wire", "plan", "record"]),
    ("run", &["agent", "load", "sut", "record", "plan", "profile", "stats", "sys", "wire", "units"]),
    ("profile", &["stats"]),
    ("analysis", &["record", "plan", "stats", "profile", "units"]),
    ("report", &["analysis", "record", "plan", "stats", "profile", "units"]),
    ("tare", &["run", "analysis", "report", "record", "plan", "sut", "sys", "reference", "stats", "load", "units"]),
    ("hostile", &["agent", "wire", "load", "plan", "profile", "record", "stats", "sut", "sys"]),
    ("tidy", &[]),
];

/// What a pure crate does not touch: the clock, files, sockets, processes, the environment.
const IMPURE: [&str; 8] =
    ["std::fs", "std::net", "std::process", "std::env", "Instant::", "SystemTime::", "File::", "tare_sys"];

/// Crates whose top-level modules import one another in one direction only.
const WITHOUT_IMPORT_CIRCLES: [&str; 7] = ["load", "plan", "run", "stats", "tare", "analysis", "report"];

/// The most lines of a file.
const LONGEST: usize = 400;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(dir) else { return found };
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "node_modules", "dist", ".git", ".tare"].contains(&name.as_str()) {
            found.extend(files(&path, ending));
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Every Rust source file, with the name of its crate's folder.
fn sources() -> Vec<(String, PathBuf, String)> {
    let crates = root().join("crates");
    let named = |path: PathBuf| {
        let name = path.strip_prefix(&crates).unwrap().components().next().unwrap();
        let name = name.as_os_str().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        (name, path, text)
    };
    files(&crates, ".rs").into_iter().map(named).collect()
}

/// The lines of a file that are neither comments nor tests: a test module stands at the end of its file.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().take_while(|line| !line.trim_start().starts_with("#[cfg(test)]"));
    lines.enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")).map(|(index, line)| (index + 1, line))
}

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

/// The modules of the crate that a line of code names as `crate::module`.
fn imported_modules(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next())
}

#[test]
fn modules_import_one_another_in_one_direction_only() {
    let mut imports: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for (name, path, text) in sources() {
        let Ok(inside) = path.strip_prefix(root().join("crates").join(&name).join("src")) else { continue };
        let is_test = path.file_name().is_some_and(|file| file.to_string_lossy().starts_with("tests"));
        if !WITHOUT_IMPORT_CIRCLES.contains(&name.as_str()) || is_test || inside.ends_with("lib.rs") {
            continue;
        }
        let module = inside.iter().next().unwrap().to_string_lossy().trim_end_matches(".rs").to_owned();
        let others = code_lines(&text).flat_map(|(_, line)| imported_modules(line)).filter(|other| *other != module);
        imports.entry((name, module.clone())).or_default().extend(others.map(str::to_owned));
    }
    let mut wrong = Vec::new();
    for (name, module) in imports.keys() {
        let mut reached = BTreeSet::new();
        let mut ahead = vec![module.clone()];
        while let Some(next) = ahead.pop() {
            let others = imports.get(&(name.clone(), next)).into_iter().flatten();
            ahead.extend(others.filter(|other| reached.insert((*other).clone())).cloned());
        }
        if reached.contains(module) {
            wrong.push(format!("{name}::{module} imports a module that imports it"));
        }
    }
    assert_none("import circles", &wrong);
}

#[test]
fn pure_crates_touch_no_clock_file_or_socket() {
    let mut wrong = Vec::new();
    for (name, path, text) in sources() {
        if !["units", "stats", "wire", "sample", "agent", "plan", "profile"].contains(&name.as_str())
            || !path.to_string_lossy().contains("/src/")
        {
            continue;
        }
        for (line, content) in code_lines(&text) {
            wrong.extend(
                IMPURE
                    .iter()
                    .filter(|word| content.contains(**word))
                    .map(|word| format!("{}:{line}: {word}", path.display())),
            );
        }
    }
    assert_none("units, stats, wire, sample, plan and profile are pure", &wrong);
}

/// Whether `word` stands in `line` as a whole word.
fn mentions(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|piece| piece == word)
}

/// Files of `stats` without callers elsewhere. The fit to the exponential distribution judges the generator in
/// `load`'s tests and in the truth bench: a run has no gaps between sends to judge.
const WITHOUT_CALLERS: [&str; 1] = ["exponential.rs"];

#[test]
fn every_public_function_of_stats_has_a_caller() {
    let sources = sources();
    let is_test = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy();
        !path.to_string_lossy().contains("/src/") || name.starts_with("tests") || path.ends_with("tests/mod.rs")
    };
    let called = |name: &str| {
        let definition = format!("fn {name}");
        let mut lines = sources.iter().filter(|(_, path, _)| !is_test(path)).flat_map(|(_, _, text)| code_lines(text));
        lines.any(|(_, line)| {
            !line.trim_start().starts_with("use ")
                && !line.trim_start().starts_with("pub use ")
                && !line.contains(&definition)
                && mentions(line, name)
        })
    };
    let mut wrong = Vec::new();
    for (name, path, text) in &sources {
        let file = path.file_name().unwrap().to_string_lossy();
        if name != "stats" || is_test(path) || WITHOUT_CALLERS.contains(&file.as_ref()) {
            continue;
        }
        let public = code_lines(text).filter_map(|(line, content)| {
            let rest = content
                .trim_start()
                .strip_prefix("pub fn ")
                .or_else(|| content.trim_start().strip_prefix("pub const fn "))?;
            Some((line, rest.split(['(', '<']).next()?))
        });
        wrong.extend(
            public
                .filter(|(_, function)| !called(function))
                .map(|(line, function)| format!("{}:{line}: {function}", path.display())),
        );
    }
    assert_none("public functions of stats that nothing but tests and benches calls", &wrong);
}

#[test]
fn unsafe_code_lives_in_sys_alone() {
    let wrong: Vec<String> = sources()
        .into_iter()
        .filter(|(name, _, _)| name != "sys" && name != "tidy")
        .flat_map(|(_, path, text)| {
            let places: Vec<String> = code_lines(&text)
                .filter(|(_, line)| line.contains("unsafe ") || line.contains("allow(unsafe_code)"))
                .map(|(line, _)| format!("{}:{line}", path.display()))
                .collect();
            places
        })
        .collect();
    assert_none("unsafe outside crates/sys", &wrong);
}

#[test]
fn threads_are_started_where_the_system_may_refuse_them() {
    let panics = |line: &str| line.contains("thread::spawn(") || line.contains("scope.spawn(");
    let is_test = |path: &Path| {
        path.components().any(|part| ["tests", "tests.rs", "examples"].map(AsRef::as_ref).contains(&part.as_os_str()))
    };
    let wrong: Vec<String> = sources()
        .into_iter()
        .filter(|(name, path, _)| name != "tidy" && !is_test(path))
        .flat_map(|(_, path, text)| {
            let lines = code_lines(&text).filter(|(_, line)| panics(line));
            lines.map(|(line, _)| format!("{}:{line}", path.display())).collect::<Vec<_>>()
        })
        .collect();
    assert_none("a spawn that panics at the limit of processes; use tare_sys::threads or thread::Builder", &wrong);
}

#[test]
fn no_server_has_a_special_case() {
    let families = ["http4s", "Tapir", "netty", "vertx", "pekko", "nima", "finagle", "axum", "fastify"];
    let mut wrong = Vec::new();
    for (name, path, text) in sources() {
        // The command line's examples and the tests may name servers; what measures may not.
        if ["tare", "tidy", "plan"].contains(&name.as_str())
            || !path.to_string_lossy().contains("/src/")
            || path.ends_with("tests.rs")
        {
            continue;
        }
        for (line, content) in code_lines(&text) {
            wrong.extend(
                families.iter().filter(|f| content.contains(**f)).map(|f| format!("{}:{line}: {f}", path.display())),
            );
        }
    }
    assert_none("a server under test is a manifest entry plus a program", &wrong);
}

#[test]
fn every_file_has_a_header_and_is_short_enough() {
    let mut wrong = Vec::new();
    for (_, path, text) in sources() {
        if !text.starts_with("//!") {
            wrong.push(format!("{} does not begin with //!", path.display()));
        }
        let lines = text.lines().count();
        if lines > LONGEST {
            wrong.push(format!("{} has {lines} lines: divide it", path.display()));
        }
    }
    assert_none("files", &wrong);
}

#[test]
fn every_metric_is_explained() {
    let document = fs::read_to_string(root().join("docs/METRICS.md")).unwrap();
    let rows: BTreeSet<&str> =
        document.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let wrong: Vec<String> = tare_report::metrics::all()
        .map(|metric| metric.name.into_owned())
        .filter(|name| !rows.contains(name.as_str()))
        .collect();
    assert_none("metrics without a row in docs/METRICS.md", &wrong);
}

#[test]
fn documents_link_to_files_that_exist() {
    let mut wrong = Vec::new();
    for path in files(&root(), ".md") {
        let text = fs::read_to_string(&path).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next()) {
            let elsewhere = target.is_empty() || target.contains("://") || target.starts_with("mailto:");
            if !elsewhere && !path.parent().unwrap().join(target).exists() {
                wrong.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert_none("links", &wrong);
}
