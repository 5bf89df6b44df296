//! Records of older versions of tare, one file each: every field is read, or has the value for "unknown".

use std::path::PathBuf;

use tare_record::{EndStatus, MessageTally, SliceSample};
use tare_record::{PackedHistogram, StoredSlice, open_run_record};

use super::common;

/// Hash of the plan in their headers.
const PLAN_HASH: &str = "9100834c2843c11ad5c3b5ac63f6e4169adaaff3ce1f59cc6670b8adb5d4d2c0";

/// Files made by the `CREATE TABLE` statements of their version, with the values of [`common`].
fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/store/old").join(name)
}

/// Version 6 kept every field.
fn version_6(round: u32) -> StoredSlice {
    common::slice(round).pack()
}

/// The files of older versions have no times of failed requests, and those versions did not count all answers of a slice.
fn version_4(round: u32) -> StoredSlice {
    let slice = version_6(round);
    let load = SliceSample { completed_in_slice: 0, failed_time: PackedHistogram::default(), ..slice.load };
    StoredSlice { load, ..slice }
}

/// The first records of version 3 had hiccups, and neither stamp lag, TLS nor messages.
fn early_version_3(round: u32) -> StoredSlice {
    let slice = version_3(round);
    let load = SliceSample {
        generator_spin_ns: 0,
        tls_handshakes: 0,
        tls_resumed: 0,
        messages: MessageTally::default(),
        stamp_lag: PackedHistogram::default(),
        jitter: PackedHistogram::default(),
        ..slice.load
    };
    StoredSlice { load, ..slice }
}

fn version_3(round: u32) -> StoredSlice {
    let mut slice = version_4(round);
    slice.server.others_share = None;
    slice
}

fn version_2(round: u32) -> StoredSlice {
    let mut slice = early_version_3(round);
    slice.server.hiccups = None;
    slice
}

fn version_1(round: u32) -> StoredSlice {
    let mut slice = version_2(round);
    slice.server.runtime = None;
    slice
}

#[test]
fn records_of_every_older_version_are_read_with_every_field_that_they_have() {
    let versions = [
        ("version_1.sqlite", version_1 as fn(u32) -> StoredSlice, false),
        ("version_2.sqlite", version_2, false),
        ("version_3_early.sqlite", early_version_3, false),
        ("version_3.sqlite", version_3, true),
        ("version_4.sqlite", version_4, true),
        // Version 5 changed the header only.
        ("version_5.sqlite", version_4, true),
        // Version 7 added the checksums, and version 8 separates zeros of a runtime from unknown counters.
        ("version_6.sqlite", version_6, true),
        ("version_7.sqlite", version_6, true),
    ];
    for (name, expected, has_cross_checks) in versions {
        let record = open_run_record(&file(name)).unwrap();
        assert_eq!(record.slices, [expected(0), expected(1)], "{name}");
        // Settings that were added later get the value that keeps the plan's meaning, so only written ones are
        // compared.
        let header = &record.header;
        assert_eq!((header.id.as_str(), header.plan_hash.as_str()), ("old", PLAN_HASH), "{name}");
        assert_eq!((header.plan.seed, header.plan.load.users, header.plan.slices.saturating), (7, 8, 4), "{name}");
        assert_eq!((record.forks, record.warmups), (vec![common::fork()], vec![common::warmup()]), "{name}");
        assert_eq!(record.events, [common::event()], "{name}");
        assert_eq!(record.cross_checks.len(), usize::from(has_cross_checks), "{name}");
        assert_eq!(record.end, Some((EndStatus::Complete, 99)), "{name}");
    }
}

#[test]
fn a_damaged_row_of_an_older_record_is_lost_alone() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.sqlite");
    std::fs::copy(file("version_4.sqlite"), &copy).unwrap();
    let connection = rusqlite::Connection::open(&copy).unwrap();
    connection.execute_batch("UPDATE slice SET errors_json = '{\"weather\": 1}' WHERE seq = 1").unwrap();
    let record = open_run_record(&copy).unwrap();
    assert_eq!(record.slices, [version_4(1)]);
    assert!(record.events.last().unwrap().text.contains("1 of 2 slice entries"), "{:?}", record.events);
}
