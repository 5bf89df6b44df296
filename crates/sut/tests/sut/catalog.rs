//! The catalog of the project: `servers/families.txt`, the list for `servers/build` and sbt, has what tare reads in it,
//! `suites/http2.toml` asks the servers for what it says that they speak, and those of Play build their routes once.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

use tare_plan::plan::HttpVersion;
use tare_plan::suite::Suite;
use tare_sut::catalog::Catalog;

#[test]
fn the_list_of_families_is_that_of_the_catalog() {
    let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../servers");
    let catalog = Catalog::load(&servers).unwrap();
    let mut expected = String::new();
    for (name, family) in &catalog.file.families {
        let toolchain = family.toolchain.as_deref().unwrap_or("sbt");
        expected.push_str(&format!("{name} {} {toolchain}\n", family.default_version));
    }
    let list = servers.join("families.txt");
    if env::var_os("UPDATE").is_some() {
        fs::write(&list, &expected).unwrap();
    }
    let listed = fs::read_to_string(&list).unwrap();
    assert_eq!(listed, expected, "UPDATE=1 cargo test -p tare-sut list_of_families");
}

#[test]
fn the_suite_of_http2_asks_every_family_in_all_that_it_speaks() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let catalog = Catalog::load(&project.join("servers")).unwrap();
    let text = fs::read_to_string(project.join("suites/http2.toml")).unwrap();
    let suite = Suite::parse("suites/http2.toml", &text).unwrap();
    let asked: BTreeSet<(&str, &str)> = suite
        .servers
        .values()
        .map(|server| {
            let (family, _) = catalog.family_of(server.like.as_deref().unwrap()).unwrap();
            (family, server.protocol.unwrap_or(HttpVersion::Http1).name())
        })
        .collect();
    let mut spoken = BTreeSet::new();
    for (name, family) in &catalog.file.families {
        let protocols = family.servers.iter().flat_map(|server| server.protocols(family));
        spoken.extend(protocols.map(|protocol| (name.as_str(), protocol.name())));
    }
    assert_eq!(asked, spoken);
}

/// Play asks its components for the router at each request, so that a `def` builds all routes each time.
#[test]
fn servers_of_play_build_their_routes_once() {
    let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../servers");
    for file in [
        "play/src/main/scala/tare/play/Vanilla.scala",
        "play-netty/src/main/scala/tare/play/netty/Vanilla.scala",
        "play-tapir/src/main/scala/tare/play/Tapir.scala",
    ] {
        let text = fs::read_to_string(servers.join(file)).unwrap();
        assert!(text.contains("override lazy val router"), "{file}");
    }
}
