//! Why a report could not be written.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("cannot write {} ({cause}): {}", .file.display(), remedy(.cause))]
    Write { file: PathBuf, cause: std::io::Error },
    #[error(transparent)]
    Profile(#[from] tare_profile::ProfileError),
    #[error("cannot import {}: {cause}. Known are {known}", .file.display())]
    NotImportable { file: PathBuf, cause: String, known: String },
    #[error("the summary cannot be written as JSON ({0}): report this as a bug of tare, with the record")]
    Json(#[from] serde_json::Error),
}

fn remedy(cause: &std::io::Error) -> &'static str {
    match cause.kind() {
        std::io::ErrorKind::StorageFull => "free space on that disk or give another folder with --dir",
        std::io::ErrorKind::PermissionDenied => "change its owner or mode, or give another folder with --dir",
        _ => "give another folder with --dir",
    }
}
