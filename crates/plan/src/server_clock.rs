//! Whose clock stamps what a server pushes.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Whose clock stamps what a server pushes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerClock {
    /// The generator's where the server is on the same machine, and else another, which is estimated.
    #[default]
    Auto,
    /// The generator's.
    Same,
    /// Another, whose offset is estimated before and after each slice.
    Estimate,
}

impl ServerClock {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Same, Self::Estimate];

    /// As written in flags, suites and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Same => "same",
            Self::Estimate => "estimate",
        }
    }
}

impl FromStr for ServerClock {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|clock| clock.name() == text);
        found.ok_or_else(|| format!("\"{text}\" does not say whose clock it is; write auto, same or estimate"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_again() {
        for clock in ServerClock::ALL {
            assert_eq!(clock.name().parse(), Ok(clock));
            assert_eq!(serde_json::to_string(&clock).unwrap(), format!("\"{}\"", clock.name()));
        }
        assert!("ntp".parse::<ServerClock>().unwrap_err().contains("write auto, same or estimate"));
    }
}
