//! What users of this system should know before they rely on a figure.

/// A line about what is untested or missing on this system; `None` on Linux, where tare is tested.
#[cfg(target_os = "linux")]
pub const NOTICE: Option<&str> = None;

/// A line about what is untested or missing on this system; `None` on Linux, where tare is tested.
#[cfg(target_os = "macos")]
pub const NOTICE: Option<&str> = Some(
    "macOS is compiled but untested: threads are not pinned to cores, and there is no io_uring; see docs/site/src/install.md",
);
