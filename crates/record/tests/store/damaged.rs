//! A damaged record is refused in one sentence that says what to do. SQLite checks the structure of the file, and tare
//! what the entries say. Neither sees every changed digit: the last test states that limit.

use std::fs;
use std::path::PathBuf;

use tare_plan::plan::Mode;
use tare_record::{EndStatus, RecordError, RunRecord, RunWriter, open_run_record};
use tempfile::TempDir;

use crate::{common, write};

/// A finished record with so many slices. It lasts as long as the folder.
fn finished_record(slices: u32) -> (TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let writer = write(root.path(), "r", slices);
    let file = writer.record_file().to_path_buf();
    writer.finish(EndStatus::Complete, 99).unwrap();
    (root, file)
}

fn change(file: &std::path::Path, sql: &str) {
    rusqlite::Connection::open(file).unwrap().execute_batch(sql).unwrap();
}

/// The sentence of a record that is damaged.
fn damage(file: &std::path::Path) -> String {
    let error = open_run_record(file).unwrap_err();
    assert!(matches!(error, RecordError::Damaged { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("record.sqlite is damaged (") && !text.contains('\n'), "{text}");
    assert!(text.ends_with("): restore it from a copy, or measure again"), "{text}");
    text
}

fn entry_counts(record: &RunRecord) -> (tare_record::checkpoint::EntryCounts, Option<(EndStatus, u64)>) {
    (record.entry_counts(), record.end)
}

#[test]
fn a_record_that_was_cut_off_anywhere_is_refused() {
    let (_root, file) = finished_record(20);
    let bytes = fs::read(&file).unwrap();
    for length in (0..bytes.len()).step_by(1_531) {
        fs::write(&file, &bytes[..length]).unwrap();
        let error = open_run_record(&file).unwrap_err();
        assert!(matches!(error, RecordError::Damaged { .. } | RecordError::NotARecord { .. }), "{length}: {error}");
    }
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    damage(&file);
}

#[test]
fn bytes_of_something_else_in_the_middle_are_refused() {
    let (_root, file) = finished_record(200);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8_192].fill(0xA5);
    fs::write(&file, bytes).unwrap();
    damage(&file);
}

#[test]
fn entries_that_make_no_sense_are_named() {
    for (sql, says) in [
        (
            "UPDATE slice SET json = replace(json, '\"failed\":2', '\"failed\":3') WHERE seq = 2",
            "slice 2: 502 requests",
        ),
        ("UPDATE slice SET response = x'0102' WHERE seq = 3", "slice 3: "),
        ("UPDATE slice SET json = '{}' WHERE seq = 1", "slice 1: missing field `load`"),
        ("UPDATE event SET json = '{\"at_ns\": \"now\"}'", "event 1: invalid type: string"),
        ("UPDATE run SET json = '[\"finished\",98]' WHERE key = 'end'", "unknown variant `finished`"),
        ("UPDATE run SET json = '{}' WHERE key = 'header'", "missing field `kind`"),
        ("DELETE FROM run WHERE key = 'header'", "its header was never written"),
        ("DROP TABLE slice", "no such table: slice"),
    ] {
        let (_root, file) = finished_record(3);
        change(&file, sql);
        let text = damage(&file);
        assert!(text.contains(says), "{sql}: {text}");
    }
}

#[test]
fn a_profile_whose_stacks_are_damaged_is_named() {
    let root = tempfile::tempdir().unwrap();
    let mut header = common::header("p");
    header.plan.mode = Mode::Profiled;
    let mut writer = RunWriter::create(root.path(), &header).unwrap();
    let file = writer.record_file().to_path_buf();
    (0..2).for_each(|_| writer.append_profile(&common::profile()).unwrap());
    writer.finish(EndStatus::Complete, 99).unwrap();
    change(&file, "UPDATE profile SET stacks = x'ffff010203' WHERE seq = 2");
    let text = damage(&file);
    assert!(text.contains("profile 2: its stacks: "), "{text}");
}

#[test]
fn a_flipped_bit_is_refused_or_leaves_the_record_whole() {
    /// Flips so many bits, spread evenly over the file.
    const FLIPS: usize = 400;
    let (_root, file) = finished_record(6);
    let whole = open_run_record(&file).unwrap();
    let bytes = fs::read(&file).unwrap();
    let mut refused = 0;
    for flip in 0..FLIPS {
        // An odd step, so that every bit of a byte has its turn.
        let bit = (flip * (bytes.len() * 8 / FLIPS)) + flip % 8;
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, &flipped).unwrap();
        match open_run_record(&file) {
            Err(_) => refused += 1,
            Ok(read) => assert_eq!(entry_counts(&read), entry_counts(&whole), "bit {bit} of byte {}", bit / 8),
        }
    }
    assert!(refused > FLIPS / 10, "{refused} of {FLIPS} refused");
}

#[test]
fn a_digit_that_was_changed_to_another_one_is_not_noticed() {
    let (_root, file) = finished_record(1);
    change(&file, "UPDATE slice SET json = replace(json, '\"bytes_in\":65000', '\"bytes_in\":65001')");
    assert_eq!(open_run_record(&file).unwrap().slices[0].load.bytes_in, 65_001);
}
