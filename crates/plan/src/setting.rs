//! A setting as people read it: what it is, where its value came from, and what it means.

use serde::{Deserialize, Serialize};

use crate::suite::suite_key;

/// One setting, for people: `tare run --dry-run` and the report list them all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Table it belongs to: `load`, `stop`, …
    pub section: String,
    /// Key in a suite file, and flag without its dashes.
    pub key: String,
    /// Value as text.
    pub value: String,
    /// Where it came from.
    pub source: Source,
    /// What it means, in a few words.
    pub meaning: String,
}

/// Where a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// tare's own.
    Default,
    /// The suite file.
    Suite,
    /// The command line.
    Flag,
}

impl Source {
    /// `default`, `suite`, `flag`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Suite => "suite",
            Self::Flag => "flag",
        }
    }
}

/// Where the value of a setting was written: `--long`, or table and key, as in `my.toml: [run] users`. A default is changed by the flag.
pub(crate) fn origin_of(settings: &[Setting], suite_file: &str, key: &str, long: &str) -> String {
    let source = settings.iter().find(|setting| setting.key == key).map(|setting| setting.source);
    match source {
        Some(Source::Suite) if suite_file.is_empty() => suite_key(key),
        Some(Source::Suite) => format!("{suite_file}: {}", suite_key(key)),
        _ => format!("--{long}"),
    }
}
