//! In which order the groups of a plan are measured.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which group gets the next fork.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupOrder {
    /// The one with the fewest forks: all groups share the budget evenly.
    #[default]
    Even,
    /// The first of the plan without a verdict. Groups with a verdict wait for those without one.
    Listed,
}

impl GroupOrder {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Even, Self::Listed];

    /// As written in flags, suites and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Listed => "listed",
        }
    }
}

impl FromStr for GroupOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|order| order.name() == text);
        found.ok_or_else(|| format!("\"{text}\" is not an order of groups; write even or listed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_and_written_alike() {
        for order in GroupOrder::ALL {
            assert_eq!(order.name().parse(), Ok(order));
            assert_eq!(serde_json::to_string(&order).unwrap(), format!("\"{}\"", order.name()));
        }
        assert!("random".parse::<GroupOrder>().unwrap_err().contains("write even or listed"));
    }
}
