//! Servers under test: how they are built, started, verified, observed and stopped. `tare-load` makes the load, and
//! `tare-run` has the loop over forks and slices.

pub mod build;
pub mod catalog;
pub mod contract;
pub mod error;
pub mod jdk;
pub mod launch;
pub mod probe;
pub mod sampler;
pub mod server;
mod tool;

pub use error::SutError;
