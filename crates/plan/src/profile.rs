//! Profiling: separate starts in which a sampler observes the servers. Their data never mix with scored slices.

use serde::{Deserialize, Serialize};
use tare_units::{Span, named_values};

named_values! {
    /// What a sampler counts.
    pub enum ProfileEvent: "an event" {
        Cpu = "cpu",
        /// Bytes allocated on the heap of a JVM.
        Alloc = "alloc",
        /// Time, also while a thread waits.
        Wall = "wall",
        /// Time waited for the locks of a JVM.
        Lock = "lock",
    }
}

/// `[profile]` of a suite, and the flags of `tare profile`: each may be absent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProfileOptions {
    /// What is sampled, one after another.
    pub events: Option<Vec<ProfileEvent>>,
    pub forks: Option<u32>,
    /// How long each event is sampled in each of them.
    pub span: Option<Span>,
    /// Frames whose share is reported, as a regular expression.
    pub focus: Option<String>,
}

/// What is profiled and how long: a part of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    pub events: Vec<ProfileEvent>,
    pub forks: u32,
    pub span: Span,
    /// Frames whose share is reported, as a regular expression; none in particular when empty.
    pub focus: String,
}
