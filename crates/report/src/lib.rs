//! Record to summary to output. Depends on no crate that measures, so that old records render on any machine.

pub mod summary;
