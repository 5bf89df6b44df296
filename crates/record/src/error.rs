//! Why a record could not be written or read. Each text names the file and a remedy.

use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("the disk that holds {} is full: free space there, or name another place (--dir, of a load --db)", .0.display())]
    DiskFull(PathBuf),
    /// A write failed for another reason than space: a quota, a file-size limit, a failing disk.
    #[error("cannot write {} ({cause}): check the disk, its quota and `ulimit -f`, or name another place (--dir, of a load --db)", .file.display())]
    Write { file: PathBuf, cause: String },
    #[error("no permission for {}: change its owner or mode, or give another folder with --dir", .0.display())]
    Permission(PathBuf),
    #[error("{} is locked by another program: close it there and try again", .0.display())]
    Locked(PathBuf),
    #[error("{} exists already, and a record is never written over: name another file", .0.display())]
    Exists(PathBuf),
    /// A profile does not belong into a record of scored slices.
    #[error("internal: {} holds scored slices, so that no profile may stand in it; please report this", .0.display())]
    Scored(PathBuf),
    #[error("{} is not a record of tare: give the id of a run (`tare report latest`), a path to a record.sqlite, or a file of `tare load --db`; `tare history import` reads JSON of a load and results of other tools", .0.display())]
    NotARecord(PathBuf),
    #[error("{} is the record of a load (`tare load`), and the record of a run is needed here", .0.display())]
    OtherKind(PathBuf),
    /// SQLite or tare cannot read the record as it was written.
    #[error("{} is damaged ({cause}): restore it from a copy, or measure again", .file.display())]
    Damaged { file: PathBuf, cause: String },
    #[error("{} has record schema {found}, and this tare reads schema {known}: use the tare that wrote it{writer}, or measure again", .file.display())]
    OtherSchema {
        file: PathBuf,
        found: i64,
        known: i64,
        /// The version of the program that wrote it, ` (tare 0.1.0)`; empty if unknown.
        writer: String,
    },
    #[error("{} cannot go on: {why}", .file.display())]
    NotResumable { file: PathBuf, why: String },
    #[error("there is no run \"{name}\" in {}; {hint}", .root.display())]
    NoSuchRun { name: String, root: PathBuf, hint: String },
    /// Any other error of the system or of SQLite.
    #[error("cannot use {} ({cause}): check that it is a folder or file you can read and write, or give another folder with --dir", .file.display())]
    Other { file: PathBuf, cause: String },
}

impl RecordError {
    pub(crate) fn io(file: &Path, error: &std::io::Error) -> Self {
        let file = file.to_path_buf();
        match error.kind() {
            std::io::ErrorKind::StorageFull => Self::DiskFull(file),
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => Self::Permission(file),
            _ => Self::Other { file, cause: error.to_string() },
        }
    }

    pub(crate) fn sqlite(file: &Path, error: &rusqlite::Error) -> Self {
        let (file, cause) = (file.to_path_buf(), error_text(error));
        let Some(failure) = error.sqlite_error() else { return Self::Damaged { file, cause } };
        match failure.code {
            ErrorCode::DiskFull => Self::DiskFull(file),
            ErrorCode::SystemIoFailure => match failure.extended_code {
                // On a tiny disk, the shared-memory file of a WAL database is the first that does not fit.
                ffi::SQLITE_IOERR_SHMSIZE => Self::DiskFull(file),
                // The file ends before the page that another page names.
                ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_READ => Self::Damaged { file, cause },
                _ => Self::Write { file, cause },
            },
            ErrorCode::PermissionDenied | ErrorCode::ReadOnly | ErrorCode::CannotOpen => Self::Permission(file),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Locked(file),
            ErrorCode::NotADatabase => Self::NotARecord(file),
            // A table or a column that is missing is an error without a code of its own.
            ErrorCode::DatabaseCorrupt | ErrorCode::Unknown => Self::Damaged { file, cause },
            _ => Self::Other { file, cause },
        }
    }
}

/// The message of our own reader, without SQLite's words around it.
fn error_text(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::FromSqlConversionFailure(_, _, inner) => inner.to_string(),
        rusqlite::Error::QueryReturnedNoRows => "its header was never written".to_owned(),
        other => other.to_string(),
    }
}
