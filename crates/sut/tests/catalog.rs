//! The catalog of the project: `servers/build` and sbt read the same families from it as tare does.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::fs;
use std::path::Path;
use std::process::Command;

use regex::Regex;
use tare_sut::catalog::Catalog;

#[test]
fn the_build_script_reads_the_catalog_as_tare_does() {
    let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../servers");
    let printed = Command::new(servers.join("build")).arg("--families").output().unwrap();
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    let printed = String::from_utf8(printed.stdout).unwrap();
    let mut families: Vec<&str> = printed.lines().collect();
    families.sort_unstable();
    let catalog = Catalog::load(&servers).unwrap();
    let mut expected: Vec<String> = Vec::new();
    for (name, family) in &catalog.catalog_file().families {
        expected.push(format!("{name} {} {}", family.default_version, family.toolchain.as_deref().unwrap_or("sbt")));
    }
    expected.sort_unstable();
    assert_eq!(families, expected);
}

/// The value of `private val NAME = """PATTERN""".r` in Scala source.
fn scala_regex(source: &str, name: &str) -> Regex {
    let declaration = Regex::new(&format!(r#"val {name}\s*=\s*"""(.+?)"""\.r"#)).unwrap();
    let pattern = &declaration.captures(source).unwrap_or_else(|| panic!("no pattern {name}"))[1];
    Regex::new(&format!("^(?:{pattern})$")).unwrap()
}

/// sbt without targets, as an IDE starts it, takes its default targets from lines of the catalog.
#[test]
fn sbt_reads_the_default_targets_from_the_catalog_as_tare_does() {
    let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../servers");
    let source = fs::read_to_string(servers.join("project/Target.scala")).unwrap();
    let [header, toolchain, default] = ["Header", "Toolchain", "Default"].map(|name| scala_regex(&source, name));
    let (mut family, mut found) = (None, Vec::new());
    for line in fs::read_to_string(servers.join("catalog.toml")).unwrap().lines() {
        if let Some(parts) = header.captures(line) {
            family = Some(parts[1].to_owned());
        } else if toolchain.captures(line).is_some_and(|parts| &parts[1] != "sbt") {
            family = None;
        } else if let Some((family, parts)) = family.as_ref().zip(default.captures(line)) {
            found.push(format!("{family}@{}", &parts[1]));
        }
    }
    found.sort_unstable();
    let catalog = Catalog::load(&servers).unwrap();
    let families = catalog.catalog_file().families.iter();
    let by_sbt = families.filter(|(_, family)| family.toolchain.as_deref().unwrap_or("sbt") == "sbt");
    let mut expected: Vec<String> = by_sbt.map(|(name, family)| format!("{name}@{}", family.default_version)).collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
}
