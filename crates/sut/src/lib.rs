//! Servers under test: how they are built, started, verified, watched and stopped.
//! Load is `tare-load`'s business, the loop over forks and slices `tare-run`'s.

pub mod contract;
pub mod error;
pub mod probe;
pub mod server;

pub use error::{LogTail, SutError};
