//! Evidence: what was measured, as versioned types on disk. Raw values only; whatever follows from them is the report's.

pub mod environment;
pub mod sample;
