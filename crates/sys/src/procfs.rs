//! Information of the kernel under `/proc` and `/sys`: pure parsers of text, and small functions that read the files. On
//! macOS the same comes from libproc and sysctl; what it does not have is an error or `None`. Callers decide what the
//! numbers mean for a server or a machine.

pub mod backlog;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "macos")]
mod libproc;
pub mod machine;
pub mod net;
pub mod process;
#[cfg(any(target_os = "macos", test))]
mod socket_info;
#[cfg(target_os = "macos")]
pub(crate) mod sysctl;

use std::io;
use std::path::PathBuf;

/// Why information under `/proc` or `/sys` is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcfsError {
    /// The file could not be read. For a process this usually means that it has ended.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The kernel wrote something unexpected.
    #[error("{} is not as expected: \"{}\"; please report it with your kernel's version", path.display(), text.escape_debug())]
    Format {
        /// The file.
        path: PathBuf,
        /// The beginning of the file.
        text: String,
    },
    /// This system does not provide it.
    #[error("{what} is not available on macOS")]
    Unavailable {
        /// What was asked for.
        what: &'static str,
    },
}
