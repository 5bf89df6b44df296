//! The answers in `corpus/`, valid and broken, compared with a table of outcomes. `fuzz/` starts from them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::outcome::read;

/// Answers up to this length are split at every position, longer ones at fewer positions, evenly spread.
const CUT_EVERYWHERE_BYTES: usize = 4096;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// The table: by file, whether the request was HEAD, and the outcome.
fn outcomes() -> BTreeMap<String, (bool, String)> {
    let table = fs::read_to_string(folder().join("outcomes.txt")).unwrap();
    let rows = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| {
        let words: Vec<&str> = row.split_whitespace().collect();
        (words[0].to_owned(), (words[1] == "HEAD", words[2..].join(" ")))
    })
    .collect()
}

#[test]
fn every_answer_has_the_outcome_of_the_table_however_it_is_cut() {
    for (file, (is_head, expected)) in outcomes() {
        let raw = fs::read(folder().join(format!("{file}.answer"))).unwrap();
        let whole = read([&raw[..]], is_head);
        assert_eq!(whole.0, expected, "{file}");
        assert_eq!(read(raw.chunks(1), is_head), whole, "{file} in single bytes");
        let step = if raw.len() <= CUT_EVERYWHERE_BYTES { 1 } else { 997 };
        for cut in (0..=raw.len()).step_by(step) {
            let (first, second) = raw.split_at(cut);
            assert_eq!(read([first, second], is_head), whole, "{file} cut at {cut}");
        }
    }
}

#[test]
fn the_table_and_the_folder_hold_the_same_answers() {
    let named: BTreeSet<String> = outcomes().into_keys().collect();
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let found: BTreeSet<String> = files.filter_map(|file| file.strip_suffix(".answer").map(str::to_owned)).collect();
    assert_eq!(found, named);
}
