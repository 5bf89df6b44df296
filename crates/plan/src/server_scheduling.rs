//! How the kernel schedules the threads of servers.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The kernel's scheduling policy of every server's threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerScheduling {
    /// The kernel's default: a thread that wakes up may preempt the one that runs.
    #[default]
    Normal,
    /// `SCHED_BATCH`: a thread that wakes up waits for its turn.
    Batch,
}

impl ServerScheduling {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Normal, Self::Batch];

    /// As written in flags, suites and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Batch => "batch",
        }
    }
}

impl FromStr for ServerScheduling {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|policy| policy.name() == text);
        found.ok_or_else(|| format!("\"{text}\" is not a scheduling policy; write normal or batch"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read_and_written_alike() {
        for policy in ServerScheduling::ALL {
            assert_eq!(policy.name().parse(), Ok(policy));
            assert_eq!(serde_json::to_string(&policy).unwrap(), format!("\"{}\"", policy.name()));
        }
        assert!("fifo".parse::<ServerScheduling>().unwrap_err().contains("write normal or batch"));
    }
}
