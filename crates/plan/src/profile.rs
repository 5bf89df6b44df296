//! Profiling: separate starts in which a sampler observes the servers. Their data never mix with scored slices.

use serde::{Deserialize, Serialize};
use tare_units::Span;

/// What a sampler counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileEvent {
    /// CPU time.
    Cpu,
    /// Bytes allocated on the heap of a JVM.
    Alloc,
    /// Time, also while a thread waits.
    Wall,
    /// Time waited for the locks of a JVM.
    Lock,
}

impl ProfileEvent {
    /// The name in files, flags and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Alloc => "alloc",
            Self::Wall => "wall",
            Self::Lock => "lock",
        }
    }
}

impl std::str::FromStr for ProfileEvent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Cpu, Self::Alloc, Self::Wall, Self::Lock];
        all.into_iter()
            .find(|event| event.name() == text)
            .ok_or_else(|| format!("\"{text}\" is no event; write cpu, alloc, wall or lock"))
    }
}

/// `[profile]` of a suite, and the flags of `tare profile`: each may be absent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProfileOptions {
    /// What is sampled, one after another.
    pub events: Option<Vec<ProfileEvent>>,
    /// Profiled starts of each server.
    pub forks: Option<u32>,
    /// How long each event is sampled in each of them.
    pub span: Option<Span>,
    /// Frames whose share is reported, as a regular expression.
    pub focus: Option<String>,
}

/// What is profiled and how long: a part of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// What is sampled, one after another.
    pub events: Vec<ProfileEvent>,
    /// Profiled starts of each server.
    pub forks: u32,
    /// How long each event is sampled in each of them.
    pub span: Span,
    /// Frames whose share is reported, as a regular expression; none in particular when empty.
    pub focus: String,
}
