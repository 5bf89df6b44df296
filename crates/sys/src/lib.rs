//! The kernel and the clock. This is the only crate with `unsafe` code. A comment at each block says why it is sound.
#![allow(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!("tare runs on Linux");

pub mod affinity;
pub mod child;
pub mod clock;
pub mod limits;
pub mod memory_file;
pub mod poll;
pub mod procfs;
pub mod readiness;
pub mod signal;
pub mod socket;
pub mod threads;
pub mod timeout_reader;
pub mod wakefulness;
