//! The catalog of the project: `servers/build`, which also reads it for sbt, finds the same families as tare.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::path::Path;
use std::process::Command;

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
