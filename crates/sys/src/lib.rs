//! The kernel and the clock. The only crate of the workspace with `unsafe` code; each block argues why it is sound.
#![allow(unsafe_code)]

pub mod affinity;
pub mod child;
pub mod clock;
pub mod epoll;
pub mod limits;
mod outbox;
pub mod payload;
pub mod poll;
pub mod procfs;
pub mod scheduling;
pub mod signal;
pub mod socket;
pub mod stamps;
pub mod uring;
pub mod wakefulness;
