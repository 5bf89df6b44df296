//! Other load tools, which may drive a cell after tare as a cross-check.

use serde::{Deserialize, Serialize};

/// Another load tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// wrk.
    Wrk,
    /// Gatling, in a JVM of its own.
    Gatling,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Wrk, Self::Gatling];

    /// As written in flags, suites and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wrk => "wrk",
            Self::Gatling => "gatling",
        }
    }
}

impl std::fmt::Display for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|engine| engine.name() == text);
        found.ok_or_else(|| format!("\"{text}\" is no load tool that tare can drive a cell with; write wrk or gatling"))
    }
}
