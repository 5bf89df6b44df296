//! A disk that becomes full: one clear error, and everything written before stays readable.
//!
//! The test runs itself once more inside a mount namespace of its own, where `/mnt` is a small disk.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use tare_record::{RecordError, RunWriter, list_runs, open_run_record};

use crate::common;

const INSIDE: &str = "TARE_TEST_SMALL_DISK";

#[test]
fn a_full_disk_is_one_clear_error_and_loses_nothing() {
    if let Some(disk) = std::env::var_os(INSIDE) {
        return fill(Path::new(&disk));
    }
    let possible = Command::new("unshare").args(["-Urm", "mount", "-t", "tmpfs", "tare-test", "/mnt"]).output();
    if !possible.as_ref().is_ok_and(|o| o.status.success()) {
        return skip(&format!("this user may not mount a small disk here ({possible:?})"));
    }
    for size in ["8k", "32k", "64k", "96k", "124k", "140k", "156k", "164k", "256k"] {
        let script = format!(
            "mount -t tmpfs -o size={size} tare-test /mnt && exec \"$0\" --exact \
             full_disk::a_full_disk_is_one_clear_error_and_loses_nothing --nocapture"
        );
        let this = std::env::current_exe().unwrap();
        let mut child = Command::new("unshare");
        let run = child.args(["-Urm", "sh", "-c", &script]).arg(this).env(INSIDE, "/mnt").output().unwrap();
        let output = [run.stdout, run.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert!(run.status.success(), "{size}: {output:?}");
    }
}

/// Says on standard error, past the test harness, why the test did not run. `scripts/test` counts these lines.
fn skip(reason: &str) {
    std::io::stderr().write_all(format!("skipped: {reason}\n").as_bytes()).unwrap();
}

fn fill(disk: &Path) {
    let mut writer = match RunWriter::create(disk, &common::header("r")) {
        Ok(writer) => writer,
        Err(error) => {
            assert_is_clear(&error);
            assert!(list_runs(disk).unwrap().is_empty(), "nothing is left of a record that never began");
            let left: Vec<_> =
                std::fs::read_dir(disk.join("runs/r")).unwrap().flatten().map(|e| e.file_name()).collect();
            return assert!(left.is_empty(), "{left:?}");
        }
    };
    let mut written = 0;
    let error = loop {
        match writer.append_slice(&common::slice(written)) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
    };
    assert_is_clear(&error);
    assert_eq!(open_run_record(writer.record_file()).unwrap().slices.len(), written as usize);
    std::fs::write(disk.join("rest"), vec![0; 300_000]).unwrap_err();
    assert_is_clear(&RunWriter::create(disk, &common::header("another")).unwrap_err());
}

fn assert_is_clear(error: &RecordError) {
    assert!(matches!(error, RecordError::DiskFull { .. }), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("the disk that holds /mnt") && text.contains("is full: free space there"), "{text}");
}
