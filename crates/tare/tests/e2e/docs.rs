//! The commands of the tutorial run in an empty folder and end in a verdict.

use std::path::Path;

use crate::common::{Bench, TARE, project, stderr, stdout};

/// The lines of the shell blocks of a document.
fn shell_lines(text: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).map(str::to_owned).collect()
}

#[test]
fn the_tutorial_ends_in_a_verdict() {
    let bench = Bench::new();
    let tutorial = std::fs::read_to_string(project().join("docs/site/src/first-verdict.md")).unwrap();
    let path = format!("{}:/usr/bin:/bin", Path::new(TARE).parent().unwrap().display());
    let mut told = String::new();
    for line in shell_lines(&tutorial) {
        let output = bench.shell(&line).env("PATH", &path).output().unwrap();
        assert!(output.status.success(), "{line}: {}{}", stdout(&output), stderr(&output));
        told += &stdout(&output);
    }
    assert!(told.contains("% more CPU per request than bare on Hello"), "{told}");
    assert!(told.contains("1 worse"), "the list of runs has the verdict: {told}");
    bench.assert_nothing_left();
}
