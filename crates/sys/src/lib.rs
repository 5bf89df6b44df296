//! The kernel and the clock. This is the only crate with `unsafe` code. A comment at each block says why it is sound.
#![allow(unsafe_code)]

pub mod affinity;
pub mod child;
pub mod clock;
pub mod epoll;
pub mod limits;
pub mod memory_file;
mod outbox;
pub mod patient_reader;
pub mod payload;
pub mod poll;
pub mod procfs;
pub mod scheduling;
pub mod signal;
pub mod socket;
pub mod stamps;
pub mod uring;
pub mod wakefulness;
