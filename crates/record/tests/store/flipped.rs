//! A record with one flipped bit reads as it was, or says that it is damaged: no number changes in silence.

use std::fs;

use tare_record::{EndStatus, EventName, RunRecord, open_run_record};

use crate::write;

/// Flips so many bits, spread evenly over the file.
const FLIPS: usize = 400;

fn reports_damage(record: &RunRecord) -> bool {
    record.end.is_none() || record.events.iter().any(|event| event.kind.name() == EventName::RecordDamaged)
}

fn same(one: &RunRecord, other: &RunRecord) -> bool {
    one.header == other.header
        && one.slices == other.slices
        && (&one.forks, &one.warmups, &one.events) == (&other.forks, &other.warmups, &other.events)
        && (&one.cross_checks, one.end) == (&other.cross_checks, other.end)
}

#[test]
fn no_flipped_bit_changes_a_number_unnoticed() {
    let root = tempfile::tempdir().unwrap();
    let writer = write(root.path(), "r", 6);
    let file = writer.record_file().to_path_buf();
    writer.finish(EndStatus::Complete, 99).unwrap();
    let whole = open_run_record(&file).unwrap();
    let bytes = fs::read(&file).unwrap();
    let (mut refused, mut damaged) = (0, 0);
    for flip in 0..FLIPS {
        // An odd step, so that every bit of a byte has its turn.
        let bit = (flip * (bytes.len() * 8 / FLIPS)) + flip % 8;
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, &flipped).unwrap();
        match open_run_record(&file) {
            Err(_) => refused += 1,
            Ok(read) if reports_damage(&read) => damaged += 1,
            Ok(read) => assert!(same(&read, &whole), "bit {bit} of byte {} changes what is read", bit / 8),
        }
    }
    assert!(refused + damaged > FLIPS / 10, "{refused} refused, {damaged} damaged of {FLIPS}");
}

#[test]
fn a_number_that_was_changed_in_the_file_is_reported_as_lost() {
    let root = tempfile::tempdir().unwrap();
    let writer = write(root.path(), "r", 3);
    let file = writer.record_file().to_path_buf();
    writer.finish(EndStatus::Complete, 99).unwrap();
    let change = |sql: &str| rusqlite::Connection::open(&file).unwrap().execute_batch(sql).unwrap();
    change("UPDATE slice SET json = replace(json, '\"ok\":500', '\"ok\":900') WHERE seq = 2");
    let lost = |record: &RunRecord| record.events.last().unwrap().text.clone();
    let record = open_run_record(&file).unwrap();
    assert_eq!(record.slices.len(), 2);
    assert!(lost(&record).contains("1 of 3 slice entries"), "{}", lost(&record));
    change("DELETE FROM slice WHERE seq = 3");
    assert!(lost(&open_run_record(&file).unwrap()).contains("2 of 3 slice entries"));
    change("UPDATE run SET json = '[\"complete\",98]' WHERE key = 'end'");
    let record = open_run_record(&file).unwrap();
    assert!(record.end.is_none() && lost(&record).contains("how it ended"), "{}", lost(&record));
}

#[test]
fn counts_that_contradict_one_another_are_lost_also_without_a_checksum() {
    let root = tempfile::tempdir().unwrap();
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/store/old/version_6.sqlite");
    let file = root.path().join("record.sqlite");
    fs::copy(old, &file).unwrap();
    let change = "UPDATE slice SET json = replace(json, '\"failed\":2', '\"failed\":3') WHERE seq = 1";
    rusqlite::Connection::open(&file).unwrap().execute_batch(change).unwrap();
    let record = open_run_record(&file).unwrap();
    assert_eq!(record.slices.len(), 1);
    assert!(record.events.last().unwrap().text.contains("1 of 2 slice entries"));
}
