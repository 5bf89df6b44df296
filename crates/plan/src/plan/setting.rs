//! A setting as people read it: what it is, where its value came from, and what it means.

use serde::{Deserialize, Serialize};
use tare_units::named_values;

/// One setting, for people: `tare run --dry-run` and the report list them all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Table it belongs to: `load`, `stop`, …
    pub section: String,
    /// Key in a suite file, and flag without its dashes.
    pub key: String,
    pub value: String,
    pub source: Source,
    pub meaning: String,
}

named_values! {
    pub enum Source: "where a value came from" {
        /// tare's own.
        Default = "default",
        Suite = "suite",
        Flag = "flag",
    }
}

impl Setting {
    pub fn new(section: &str, key: &str, value: String, source: Source, meaning: &str) -> Self {
        let [section, key, meaning] = [section, key, meaning].map(str::to_owned);
        Self { section, key, value, source, meaning }
    }
}
