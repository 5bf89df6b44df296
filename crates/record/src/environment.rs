//! The environment of a measurement: facts about machine, kernel and JVM, as ordered text.

use serde::{Deserialize, Serialize};

/// Facts in sections, as captured at the start of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// `Machine`, `Kernel`, `JVM`, …
    pub sections: Vec<FactSection>,
}

/// A titled list of facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactSection {
    /// Title.
    pub title: String,
    /// Key and value.
    pub facts: Vec<(String, String)>,
}
