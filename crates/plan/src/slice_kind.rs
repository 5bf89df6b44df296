//! What a slice is for: which load, and so which figure.

use serde::{Deserialize, Serialize};

/// One kind of slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SliceKind {
    /// Closed loop with all users: throughput.
    Saturating,
    /// The same constant rate for all: CPU per request.
    Fixed,
    /// Open Poisson at a stated rate: latency.
    Poisson,
    /// The server sends on its own clock, and all users listen: push latency.
    Push,
    /// A try of the search for the largest load that keeps a curve of latencies.
    Capacity,
}

impl SliceKind {
    /// The name in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Saturating => "saturating",
            Self::Fixed => "fixed",
            Self::Poisson => "poisson",
            Self::Push => "push",
            Self::Capacity => "capacity",
        }
    }

    /// The load in a sentence: `Poisson load`.
    pub fn load_name(self) -> &'static str {
        match self {
            Self::Saturating => "saturating load",
            Self::Fixed => "load at a constant rate",
            Self::Poisson => "Poisson load",
            Self::Push => "pushes",
            Self::Capacity => "a growing load",
        }
    }
}
