//! Record to summary to output. Depends on no crate that measures, so that old records render on any machine.
//!
//! [`summarize()`] computes everything once; each format is a module that only writes down what the [`Summary`] holds.

pub mod attribution;
pub mod ci;
pub mod clean;
mod clocks;
pub mod compare;
pub mod csv;
pub mod currency;
pub mod earlier;
pub mod error;
pub mod forecast;
pub mod format;
pub mod gatling;
pub mod hgrm;
pub mod history;
pub mod html;
pub mod import;
pub mod json;
pub mod load;
pub mod markdown;
pub mod memory;
pub mod metrics;
pub mod palette;
pub mod profile;
pub mod stop;
pub mod summarize;
pub mod summary;
pub mod text;
mod time;
pub mod verdicts;
pub mod write;
pub mod wrk;

pub use currency::Currency;
pub use error::ReportError;
pub use profile::{summarize_with, write_profiles};
pub use summarize::summarize;
pub use summary::Summary;
pub use time::rfc3339;
pub use write::write_all;
