//! Servers under test: how they are built, started, verified, watched and stopped.
//! Load is `tare-load`'s business, the loop over forks and slices `tare-run`'s.

pub mod build;
pub mod catalog;
pub mod contract;
pub mod error;
pub mod jdk;
pub mod launch;
pub mod probe;
pub mod sampler;
pub mod server;

pub use error::{LogTail, SutError};
