//! The catalog of the project: `servers/families.txt`, the list for `servers/build` and sbt, has what tare reads in it.

use std::path::Path;
use std::{env, fs};

use tare_sut::catalog::Catalog;

#[test]
fn the_list_of_families_is_that_of_the_catalog() {
    let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../servers");
    let catalog = Catalog::load(&servers).unwrap();
    let mut expected = String::new();
    for (name, family) in &catalog.catalog_file().families {
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
