//! A run that was interrupted goes on in its record, from the end of its last whole step.

use tare_record::checkpoint::{Checkpoint, EntryCounts};
use tare_record::store::InterruptedRun;
use tare_record::{EndStatus, RunWriter, open_run_record};

use super::{common, write};

/// A run with two slices before its checkpoint and three after it.
fn write_interrupted_run(root: &std::path::Path) -> RunWriter {
    let mut writer = write(root, "r", 2);
    let entries = EntryCounts { slices: 2, forks: 1, warmups: 1, cross_checks: 1, events: 1, profiles: 0 };
    writer.save_checkpoint(&Checkpoint::default()).unwrap();
    writer.save_checkpoint(&Checkpoint { at_ns: 70, entries, ..Checkpoint::default() }).unwrap();
    (2..5).for_each(|round| writer.append_slice(&common::slice(round)).unwrap());
    writer.append_fork(&common::fork()).unwrap();
    writer
}

fn resume_error(file: &std::path::Path) -> String {
    InterruptedRun::open(file).unwrap_err().to_string()
}

#[test]
fn a_run_goes_on_after_its_checkpoint_and_the_rest_is_kept_in_a_copy() {
    for is_killed in [true, false] {
        let root = tempfile::tempdir().unwrap();
        let writer = write_interrupted_run(root.path());
        let file = writer.record_file().to_path_buf();
        if is_killed {
            drop(writer)
        } else {
            writer.finish(EndStatus::Interrupted, 99).unwrap()
        }

        let run = InterruptedRun::open(&file).unwrap();
        assert_eq!((run.record.slices.len(), run.checkpoint.at_ns), (5, 70));
        let mut reopened = run.reopen().unwrap();
        assert_eq!((reopened.record.slices.len(), reopened.record.forks.len(), reopened.record.end), (2, 1, None));
        let copy = reopened.copy.unwrap();
        assert_eq!(copy.file_name().unwrap(), "record-cut-1.sqlite");
        assert_eq!(open_run_record(&copy).unwrap().slices.len(), 5, "nothing is lost");

        reopened.writer.append_slice(&common::slice(9)).unwrap();
        reopened.writer.finish(EndStatus::Complete, 120).unwrap();
        let record = open_run_record(&file).unwrap();
        let rounds: Vec<u32> = record.slices.iter().map(|slice| slice.key.round).collect();
        assert_eq!((rounds, record.end), (vec![0, 1, 9], Some((EndStatus::Complete, 120))));
        assert!(resume_error(&file).contains("it has ended, and nothing is left to measure"));
    }
}

#[test]
fn a_run_between_two_steps_needs_no_copy() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = write(root.path(), "r", 1);
    let file = writer.record_file().to_path_buf();
    let entries = open_run_record(&file).unwrap().entry_counts();
    writer.save_checkpoint(&Checkpoint { entries, ..Checkpoint::default() }).unwrap();
    drop(writer);
    assert_eq!(InterruptedRun::open(&file).unwrap().reopen().unwrap().copy, None);
}

#[test]
fn a_record_that_cannot_be_resumed_has_a_reason_and_stays_unchanged() {
    let root = tempfile::tempdir().unwrap();
    let writer = write_interrupted_run(root.path());
    let file = writer.record_file().to_path_buf();
    assert!(resume_error(&file).contains("it is still being measured"), "{}", resume_error(&file));
    drop(writer);
    let run = InterruptedRun::open(&file).unwrap();
    assert!(resume_error(&file).contains("it is still being measured"), "one at a time");
    drop(run);
    assert_eq!(open_run_record(&file).unwrap().slices.len(), 5);
    let none = write(root.path(), "without", 1);
    let file = none.record_file().to_path_buf();
    drop(none);
    assert!(resume_error(&file).contains("it stopped before its first start"), "{}", resume_error(&file));
}
