//! Answers to forms. Computes nothing: each form is a module that writes down what [`tare_analysis`] answered.

pub mod ci;
pub mod clean;
pub mod csv;
pub mod differences;
pub mod error;
pub mod gatling;
pub mod history;
pub mod html;
pub mod import;
pub mod json;
pub mod load;
pub mod markdown;
pub mod palette;
pub mod profiles;
pub mod text;
pub mod write;
pub mod wrk;

pub use error::ReportError;
pub use profiles::write_profiles;
pub use write::write_all;
