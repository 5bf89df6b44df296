//! Files without a name on macOS: temporary files that are removed before anything is written to them.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);

pub(super) fn open() -> io::Result<File> {
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("tare-{}-{count}-{}", std::process::id(), crate::clock::now().0);
    let path = std::env::temp_dir().join(name);
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Opening this path duplicates the descriptor, with its position. So it is put back to the begin.
pub(super) fn path(mut file: &File) -> PathBuf {
    // An ordinary file can always be rewound.
    let _ = file.rewind();
    PathBuf::from(format!("/dev/fd/{}", file.as_raw_fd()))
}
