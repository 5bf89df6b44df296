//! Why a report could not be written.

use std::path::PathBuf;

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The disk refuses.
    #[error("cannot write {} ({cause}): {}", .file.display(), remedy(.cause))]
    Write {
        /// The file or folder.
        file: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A profile could not be put into a form for another tool.
    #[error(transparent)]
    Profile(#[from] tare_profile::ProfileError),
    /// Two records have nothing in common.
    #[error(transparent)]
    NothingInCommon(#[from] tare_analysis::differences::NothingInCommon),
    /// A file of another tool that cannot be read.
    #[error("cannot import {}: {cause}. Known are {known}", .file.display())]
    NotImportable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        cause: String,
        /// The forms that can be read.
        known: String,
    },
    /// The summary is no JSON, which is a mistake in tare.
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
