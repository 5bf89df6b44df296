//! The kernel's own stamps of received bytes, to compare those of a poller with.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use crate::clock::Nanos;

#[cfg(target_os = "linux")]
pub(crate) use self::linux::StampLog;
#[cfg(target_os = "macos")]
pub(crate) use self::macos::NoStamps as StampLog;

/// When the kernel received some bytes, and when the poller noticed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StampPair {
    /// The kernel's stamp of the last byte.
    pub kernel: Nanos,
    /// The poller's stamp, as in the event.
    pub poller: Nanos,
}
