//! The store keeps its entries when the program, the file or the disk fails; and judgements on a slice.

// Helpers of tests count as tests, which clippy does not know.
#![allow(clippy::unwrap_used)]

mod common;
mod curve;
mod damaged;
mod full_disk;
mod kinds;
mod resumed;

use std::fs;
use std::path::Path;

use tare_plan::plan::Mode;
use tare_record::cross_check::CrossCheckOutcome;
use tare_record::profile::ProfileRecord;
use tare_record::store::{copy_record, unreadable_after};
use tare_record::{EndStatus, EventKind, EventRecord, LatencyPlan};
use tare_record::{RecordError, RunWriter, allot_run_dir, find_run, list_runs, open_run_record};

fn write(root: &Path, id: &str, slices: u32) -> RunWriter {
    let mut writer = RunWriter::create(root, &common::header(id)).unwrap();
    writer.append_fork(&common::fork()).unwrap();
    writer.append_warmup(&common::warmup()).unwrap();
    (0..slices).for_each(|round| writer.append_slice(&common::slice(round)).unwrap());
    writer.append_cross_check(&common::cross_check()).unwrap();
    writer.append_event(&common::event()).unwrap();
    writer
}

#[test]
fn what_is_read_is_what_was_written() {
    let root = tempfile::tempdir().unwrap();
    let writer = write(root.path(), "2026-11-20-1", 3);
    let file = writer.record_file().to_path_buf();
    writer.finish(EndStatus::Complete, 99).unwrap();
    let record = open_run_record(&file).unwrap();
    assert_eq!(record.header, common::header("2026-11-20-1"));
    assert_eq!((record.forks, record.warmups), (vec![common::fork()], vec![common::warmup()]));
    assert_eq!(record.cross_checks, [common::cross_check()]);
    assert_eq!((record.events, record.end), (vec![common::event()], Some((EndStatus::Complete, 99))));
    assert_eq!(record.slices.len(), 3);
    assert_eq!(record.slices[2], common::slice(2));
}

#[test]
fn a_record_that_was_begun_without_the_parts_of_latency_is_read_as_it_was() {
    let root = tempfile::tempdir().unwrap();
    let writer = write(root.path(), "earlier", 1);
    let file = writer.record_file().to_path_buf();
    writer.finish(EndStatus::Complete, 99).unwrap();
    let earlier = rusqlite::Connection::open(&file).unwrap();
    for column in ["met_stop", "met_stall", "met_none"] {
        earlier.execute_batch(&format!("ALTER TABLE slice DROP COLUMN {column}")).unwrap();
    }
    drop(earlier);
    let mut expected = common::slice(0);
    expected.server.parts = None;
    assert_eq!(open_run_record(&file).unwrap().slices, [expected]);
}

#[test]
fn profiles_are_kept_whole_in_a_record_of_their_own() {
    let root = tempfile::tempdir().unwrap();
    let mut header = common::header("p");
    header.plan.mode = Mode::Profiled;
    let mut writer = RunWriter::create(root.path(), &header).unwrap();
    writer.append_profile(&common::profile()).unwrap();
    let record = open_run_record(writer.record_file()).unwrap();
    assert_eq!(record.profiles, vec![common::profile()]);
    assert_eq!(record.profiles[0].stacks.unpack().unwrap(), "a;b 5\n");
}

#[test]
fn a_number_that_is_infinite_loses_no_record() {
    const INFINITE: f64 = f64::INFINITY;
    let root = tempfile::tempdir().unwrap();
    let mut header = common::header("p");
    header.plan.mode = Mode::Profiled;
    let mut writer = RunWriter::create(root.path(), &header).unwrap();
    let windows = LatencyPlan {
        first_fork: 1,
        windows: 2,
        window_s: INFINITE,
        rate_per_s: INFINITE,
        server: "http4s.Tapir".to_owned(),
        collects_every_s: None,
        needed_s: INFINITE,
    };
    let events = [
        EventKind::LatencyPlanned(windows),
        EventKind::BusyCore { cpu: 0, busy_share: INFINITE },
        EventKind::CpuPressure { waiting_share: INFINITE },
        EventKind::StolenTime { cpu: None, stolen_share: INFINITE },
    ]
    .map(EventRecord::new);
    events.iter().for_each(|event| writer.append_event(event).unwrap());
    let mut check = common::cross_check();
    let CrossCheckOutcome::Measured(figures) = &mut check.outcome else { panic!("it has figures") };
    figures.mean_ns = INFINITE;
    writer.append_cross_check(&check).unwrap();
    let profile = ProfileRecord { offered_per_s: INFINITE, ..common::profile() };
    writer.append_profile(&profile).unwrap();
    let record = open_run_record(writer.record_file()).unwrap();
    assert_eq!(record.events, events);
    assert_eq!((record.cross_checks, record.profiles), (vec![check], vec![profile]));
}

#[test]
fn a_record_of_scored_slices_takes_no_profile() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = write(root.path(), "r", 1);
    assert!(matches!(writer.append_profile(&common::profile()), Err(RecordError::Scored { .. })));
    assert!(open_run_record(writer.record_file()).unwrap().profiles.is_empty());
}

#[test]
fn a_finished_record_is_a_single_file() {
    let root = tempfile::tempdir().unwrap();
    let writer = write(root.path(), "r", 1);
    let folder = writer.record_file().parent().unwrap().to_path_buf();
    writer.finish(EndStatus::Interrupted, 1).unwrap();
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
}

#[test]
fn a_record_that_ends_while_it_is_open_elsewhere_is_whole_without_its_log() {
    let root = tempfile::tempdir().unwrap();
    let writer = write(root.path(), "r", 3);
    let (file, copy) = (writer.record_file().to_path_buf(), root.path().join("copy.sqlite"));
    let reader = rusqlite::Connection::open(&file).unwrap();
    let events = || reader.query_row("SELECT count(*) FROM event", [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(events(), 1);
    writer.finish(EndStatus::Complete, 99).unwrap();
    assert_eq!(events(), 1);
    fs::copy(&file, &copy).unwrap();
    let record = open_run_record(&copy).unwrap();
    assert_eq!((record.slices.len(), record.end), (3, Some((EndStatus::Complete, 99))));
}

#[test]
fn a_run_that_is_being_written_can_be_read() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = write(root.path(), "r", 2);
    let record = open_run_record(writer.record_file()).unwrap();
    assert_eq!((record.slices.len(), record.end), (2, None));
    writer.append_slice(&common::slice(2)).unwrap();
    assert_eq!(open_run_record(writer.record_file()).unwrap().slices.len(), 3);
}

#[test]
fn a_killed_writer_leaves_all_that_it_wrote() {
    let root = tempfile::tempdir().unwrap();
    let writer = write(root.path(), "r", 5);
    // `kill -9` leaves the database and its log as they are: nothing is closed or merged. So copy both.
    let copy = root.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for name in ["record.sqlite", "record.sqlite-wal"] {
        fs::copy(writer.record_file().with_file_name(name), copy.join(name)).unwrap();
    }
    let record = open_run_record(&copy.join("record.sqlite")).unwrap();
    assert_eq!((record.slices.len(), record.end), (5, None));
}

#[test]
fn a_copy_of_a_run_that_has_not_ended_has_all_of_it_in_a_single_file() {
    let (root, copies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (writer, copy) = (write(root.path(), "r", 5), copies.path().join("copy.sqlite"));
    copy_record(writer.record_file(), &copy).unwrap();
    assert_eq!(open_run_record(&copy).unwrap().slices.len(), 5);
    let error = copy_record(writer.record_file(), &copy).unwrap_err().to_string();
    assert!(error.contains("copy.sqlite"), "{error}");
    let notes = root.path().join("notes.txt");
    fs::write(&notes, "a".repeat(5_000)).unwrap();
    let error = copy_record(&notes, &copies.path().join("of-notes")).unwrap_err();
    assert!(matches!(&error, RecordError::NotARecord(file) if *file == notes), "{error}");
    let left: Vec<_> = fs::read_dir(copies.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["copy.sqlite"], "what fails leaves nothing");
}

#[test]
fn a_file_of_another_kind_is_named_as_such() {
    let root = tempfile::tempdir().unwrap();
    let text = root.path().join("notes.txt");
    fs::write(&text, "a".repeat(5_000)).unwrap();
    assert!(matches!(open_run_record(&text), Err(RecordError::NotARecord { .. })));
    let empty = root.path().join("empty");
    fs::write(&empty, "").unwrap();
    assert!(matches!(open_run_record(&empty), Err(RecordError::NotARecord { .. })));
    let other = root.path().join("other.sqlite");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    assert!(matches!(open_run_record(&other), Err(RecordError::NotARecord { .. })));
    assert!(matches!(open_run_record(&root.path().join("nothing")), Err(RecordError::Other { .. })));
}

#[test]
fn a_record_of_another_schema_names_both_schemas_and_the_tare_that_reads_it() {
    let root = tempfile::tempdir().unwrap();
    let writer = write(root.path(), "r", 1);
    let file = writer.record_file().to_path_buf();
    writer.finish(EndStatus::Complete, 1).unwrap();
    for schema in [7, 99] {
        rusqlite::Connection::open(&file).unwrap().pragma_update(None, "user_version", schema).unwrap();
        let error = open_run_record(&file).unwrap_err().to_string();
        let expected = format!(
            "{} has record schema {schema}, and this tare reads schema 8: use the tare that wrote it (tare 0.1.0), or \
             measure again",
            file.display()
        );
        assert_eq!(error, expected);
    }
}

/// Until 28 November 2026, each row had a checksum, and tables counted the rows ever written.
#[test]
fn a_record_whose_rows_have_checksums_is_read_without_them() {
    let root = tempfile::tempdir().unwrap();
    let writer = write(root.path(), "r", 3);
    let file = writer.record_file().to_path_buf();
    writer.finish(EndStatus::Complete, 99).unwrap();
    let connection = rusqlite::Connection::open(&file).unwrap();
    for table in ["run", "fork", "warmup", "event", "agent", "cross_check", "profile", "slice"] {
        let add = format!("ALTER TABLE {table} ADD COLUMN checksum INTEGER NOT NULL DEFAULT 7");
        connection.execute_batch(&add).unwrap();
    }
    drop(connection);
    let record = open_run_record(&file).unwrap();
    assert_eq!((record.forks, record.warmups), (vec![common::fork()], vec![common::warmup()]));
    assert_eq!((record.slices.len(), &record.slices[2]), (3, &common::slice(2)));
    assert_eq!(record.end, Some((EndStatus::Complete, 99)));
}

#[test]
fn a_locked_record_is_an_error_of_its_own() {
    let root = tempfile::tempdir().unwrap();
    let writer = write(root.path(), "r", 1);
    let file = writer.record_file().to_path_buf();
    writer.finish(EndStatus::Complete, 1).unwrap();
    let holder = rusqlite::Connection::open(&file).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(matches!(open_run_record(&file), Err(RecordError::Locked { .. })));
}

#[test]
fn a_record_is_never_written_over() {
    let root = tempfile::tempdir().unwrap();
    drop(write(root.path(), "r", 1));
    assert!(matches!(RunWriter::create(root.path(), &common::header("r")), Err(RecordError::Exists { .. })));
}

#[test]
fn a_root_that_cannot_be_a_folder_is_an_error_that_names_it() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    let error = RunWriter::create(&file, &common::header("r")).unwrap_err().to_string();
    assert!(error.contains("file/runs/r") && error.contains("--dir"), "{error}");
}

#[test]
fn ids_count_up_within_a_day_also_past_nine() {
    let root = tempfile::tempdir().unwrap();
    for n in 1..=11 {
        assert_eq!(allot_run_dir(root.path(), "2026-11-20").unwrap(), format!("2026-11-20-{n}"));
    }
    assert_eq!(allot_run_dir(root.path(), "2026-11-21").unwrap(), "2026-11-21-1");
}

#[test]
fn ids_allotted_at_the_same_time_differ() {
    let root = tempfile::tempdir().unwrap();
    let allot = || (0..20).map(|_| allot_run_dir(root.path(), "d").unwrap()).collect::<Vec<_>>();
    let mut ids: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(allot)).collect();
        threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
    });
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 80);
}

#[test]
fn runs_are_found_by_latest_by_id_and_by_path() {
    let root = tempfile::tempdir().unwrap();
    for id in ["2026-11-20-9", "2026-11-20-10", "2026-11-19-3"] {
        write(root.path(), id, 1).finish(EndStatus::Complete, 1).unwrap();
    }
    allot_run_dir(root.path(), "2026-11-22").unwrap();
    drop(write(root.path(), "2026-11-22-2", 1));
    write(root.path(), "2026-11-22-3", 1).finish(EndStatus::Failed, 1).unwrap();
    let latest = find_run(root.path(), "latest").unwrap();
    assert!(latest.ends_with("2026-11-20-10/record.sqlite"), "the last that finished");
    assert!(find_run(root.path(), "2026-11-19-3").unwrap().ends_with("2026-11-19-3/record.sqlite"));
    assert_eq!(find_run(root.path(), latest.to_str().unwrap()).unwrap(), latest);
    assert_eq!(find_run(root.path(), latest.parent().unwrap().to_str().unwrap()).unwrap(), latest);
    let error = find_run(root.path(), "2027").unwrap_err().to_string();
    assert!(error.contains("the newest are 2026-11-22-3, 2026-11-22-2, 2026-11-20-10"), "{error}");
    let unfinished = tempfile::tempdir().unwrap();
    drop(write(unfinished.path(), "2026-11-22-2", 1));
    assert!(
        find_run(unfinished.path(), "latest").unwrap().ends_with("2026-11-22-2/record.sqlite"),
        "there is no other"
    );
    let nothing = find_run(&root.path().join("none"), "latest").unwrap_err().to_string();
    assert!(nothing.contains("tare run"), "{nothing}");
}

#[test]
fn newer_runs_that_cannot_be_read_are_named_with_their_reason() {
    let root = tempfile::tempdir().unwrap();
    for id in ["2026-11-20-9", "2026-11-20-10", "2026-11-20-11", "2026-11-20-12"] {
        write(root.path(), id, 1).finish(EndStatus::Complete, 1).unwrap();
    }
    drop(write(root.path(), "2026-11-20-13", 1));
    let file = |id: &str| root.path().join("runs").join(id).join("record.sqlite");
    fs::write(file("2026-11-20-9"), "x".repeat(999)).unwrap();
    rusqlite::Connection::open(file("2026-11-20-11")).unwrap().pragma_update(None, "user_version", 99).unwrap();
    fs::write(file("2026-11-20-12"), "x".repeat(999)).unwrap();
    let latest = find_run(root.path(), "latest").unwrap();
    assert_eq!(latest, file("2026-11-20-10"));
    let left_out = unreadable_after(root.path(), &latest).unwrap();
    let [(newest, RecordError::NotARecord(_)), (other, RecordError::OtherSchema { found: 99, .. })] = &left_out[..]
    else {
        panic!("{left_out:?}")
    };
    assert_eq!((newest.as_str(), other.as_str()), ("2026-11-20-12", "2026-11-20-11"));
    assert!(unreadable_after(root.path(), &file("2026-11-20-13")).unwrap().is_empty());
}

#[test]
fn the_list_shows_runs_in_order_and_unreadable_ones_with_their_reason() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "2026-11-20-10", 1).finish(EndStatus::BudgetSpent, 1).unwrap();
    drop(write(root.path(), "2026-11-20-9", 1));
    fs::create_dir_all(root.path().join("runs/2026-11-21-1")).unwrap();
    fs::write(root.path().join("runs/2026-11-21-1/record.sqlite"), "x".repeat(999)).unwrap();
    let runs = list_runs(root.path()).unwrap();
    let ids: Vec<&str> = runs.iter().map(|r| r.id.as_str()).collect();
    assert_eq!(ids, ["2026-11-20-9", "2026-11-20-10", "2026-11-21-1"]);
    assert_eq!(runs[0].brief.as_ref().unwrap().length_ns, None);
    assert_eq!(runs[0].brief.as_ref().unwrap().end, None);
    assert_eq!(runs[1].brief.as_ref().unwrap().end, Some(EndStatus::BudgetSpent));
    assert!(matches!(runs[2].brief, Err(RecordError::NotARecord { .. })));
    assert!(list_runs(&root.path().join("none")).unwrap().is_empty());
}

#[test]
fn a_record_reads_from_the_moment_that_its_file_is_there() {
    let root = tempfile::tempdir().unwrap();
    let file = |number: usize| root.path().join(format!("{number}.sqlite"));
    // A new record leaves other files alone.
    std::fs::write(root.path().join("0.sqlite.new"), "notes").unwrap();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            for number in 0..20 {
                while !file(number).exists() {
                    std::hint::spin_loop();
                }
                for _ in 0..20 {
                    assert_eq!(open_run_record(&file(number)).unwrap().header.id, "r");
                }
            }
        });
        for number in 0..20 {
            drop(RunWriter::create_file(&file(number), &common::header("r")).unwrap());
        }
        reader.join().unwrap();
    });
    let mut left: Vec<_> = std::fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.retain(|name| !(0..20).any(|number| name.to_string_lossy().starts_with(&format!("{number}.sqlite"))));
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(std::fs::read(root.path().join("0.sqlite.new")).unwrap(), b"notes");
    let exists = RunWriter::create_file(&file(0), &common::header("other")).unwrap_err();
    assert!(matches!(exists, RecordError::Exists { .. }), "{exists}");
    assert_eq!(open_run_record(&file(0)).unwrap().header.id, "r");
}
