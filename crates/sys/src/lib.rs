//! The kernel and the clock. This is the only crate with `unsafe` code. A comment at each block says why it is sound.
#![allow(unsafe_code)]

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("tare runs on Linux, and compiles for macOS");

pub mod affinity;
pub mod child;
pub mod clock;
pub mod limits;
pub mod memory_file;
mod outbox;
pub mod payload;
pub mod platform;
pub mod poll;
pub mod procfs;
pub mod readiness;
pub mod scheduling;
pub mod signal;
pub mod socket;
pub mod stamps;
pub mod threads;
pub mod timeout_reader;
#[cfg(target_os = "linux")]
pub mod uring;
#[cfg(target_os = "macos")]
#[path = "uring/absent.rs"]
pub mod uring;
pub mod wakefulness;
