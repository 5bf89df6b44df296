//! A disk that fills up: one clear error, and everything that was written before stays readable.
//!
//! The test runs itself once more inside a mount namespace of its own, where `/mnt` is a disk of 256 KB.

use std::path::Path;
use std::process::Command;

use tare_record::{RecordError, RunWriter, open};

use crate::common;

const INSIDE: &str = "TARE_TEST_SMALL_DISK";

#[test]
fn a_full_disk_is_one_clear_error_and_loses_nothing() {
    if let Some(disk) = std::env::var_os(INSIDE) {
        return fill(Path::new(&disk));
    }
    let script = "mount -t tmpfs -o size=256k tare-test /mnt && exec \"$0\" --exact \
                  full_disk::a_full_disk_is_one_clear_error_and_loses_nothing --nocapture";
    let possible = Command::new("unshare").args(["-Urm", "mount", "-t", "tmpfs", "tare-test", "/mnt"]).output();
    if !possible.as_ref().is_ok_and(|o| o.status.success()) {
        println!("skipped: this user may not mount a small disk here ({possible:?})");
        return;
    }
    let this = std::env::current_exe().unwrap();
    let run =
        Command::new("unshare").args(["-Urm", "sh", "-c", script]).arg(this).env(INSIDE, "/mnt").output().unwrap();
    assert!(run.status.success(), "{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
}

fn fill(disk: &Path) {
    let mut writer = RunWriter::create(disk, &common::header("r")).unwrap();
    let mut written = 0;
    let error = loop {
        match writer.append_slice(&common::slice(written)) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, RecordError::DiskFull { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("/mnt/runs/r/record.sqlite is full: free space there"), "{text}");
    assert!(written > 0);
    assert_eq!(open(writer.path()).unwrap().slices.len(), written as usize);
    std::fs::write(disk.join("rest"), vec![0; 300_000]).unwrap_err();
    let error = RunWriter::create(disk, &common::header("another")).unwrap_err();
    assert!(matches!(error, RecordError::DiskFull { .. }), "{error}");
}
