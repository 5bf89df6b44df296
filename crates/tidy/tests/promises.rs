//! docs/site/src/promises.md: each promise names a test, and that test exists.

use std::fs;

use crate::source::root;

/// The rows of promises: the cells of each table row that has a test, or should have one.
fn promises(page: &str) -> Vec<(&str, &str)> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    rows.filter(|(_, test)| *test != "test").collect()
}

/// The file and the name of a test, from `` `file` `name` ``.
fn named_test(cell: &str) -> Option<(&str, &str)> {
    let (file, name) = cell.strip_prefix('`')?.strip_suffix('`')?.split_once("` `")?;
    Some((file, name))
}

/// Whether a file defines that test: a function in Rust, a text in TypeScript.
fn defines(file: &str, name: &str) -> bool {
    let Ok(text) = fs::read_to_string(root().join(file)) else { return false };
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    if file.ends_with(".ts") {
        return lines.iter().any(|line| line.starts_with(&format!("test('{name}'")));
    }
    let head = format!("fn {name}(");
    let is_test = |line: &&str| line.starts_with("#[") || line.starts_with("//") || line.is_empty();
    let found = lines.iter().position(|line| line.starts_with(&head));
    let before = |at: usize| lines[..at].iter().rev().take_while(|line| is_test(line)).any(|line| *line == "#[test]");
    found.is_some_and(before)
}

#[test]
fn every_promise_names_a_test_that_exists() {
    let page = fs::read_to_string(root().join("docs/site/src/promises.md")).unwrap();
    let promises = promises(&page);
    assert!(promises.len() >= 25, "the tables have another form: {} promises were found", promises.len());
    let is_kept = |cell: &str| named_test(cell).is_some_and(|(file, name)| defines(file, name));
    let broken: Vec<String> =
        promises.iter().filter(|(_, cell)| !is_kept(cell)).map(|(promise, cell)| format!("{promise} {cell}")).collect();
    assert!(broken.is_empty(), "promises without a test:\n  {}", broken.join("\n  "));
}

#[test]
fn a_row_is_read_as_a_promise_and_its_test() {
    let page = "| tare promises | test |\n|---|---|\n| It ends. | `crates/tidy/tests/promises.rs` `defines` |\n";
    let promises = promises(page);
    assert_eq!(promises, [("It ends.", "`crates/tidy/tests/promises.rs` `defines`")]);
    let (file, name) = named_test(promises[0].1).unwrap();
    assert!(!defines(file, name), "a helper is no test");
    assert!(defines(file, "a_row_is_read_as_a_promise_and_its_test"));
    assert_eq!(named_test("see the code"), None);
}
