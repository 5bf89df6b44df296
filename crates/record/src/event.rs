//! Events: what happened to a server, the machine or tare itself. Code matches [`EventKind`]; the words are for readers.

use serde::{Deserialize, Serialize};

use crate::event_kind::EventKind;

/// How much an event matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventLevel {
    /// Good to know.
    Info,
    /// The figures are usable with care.
    Warning,
    /// Figures are missing or void.
    Error,
}

/// Something that happened: a server died, a check failed, the machine was busy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// Since the run began.
    pub at_ns: u64,
    /// What happened. [`EventKind::Other`] where an older tare wrote no kind, and for a kind of a later tare.
    #[serde(default)]
    pub kind: EventKind,
    /// How much it matters.
    pub level: EventLevel,
    /// True when it makes the cells it names void.
    pub voids: bool,
    /// Group it belongs to, where it belongs to one.
    pub group: Option<String>,
    /// Variant, where it belongs to one.
    pub variant: Option<String>,
    /// Scenario, where it belongs to one.
    pub scenario: Option<String>,
    /// 1-based fork, where it belongs to one.
    pub fork: Option<u32>,
    /// The kind in a few words, as the tare that wrote the record puts it. For readers only.
    pub title: String,
    /// What tare saw, with its figures. For readers only.
    pub text: String,
    /// What the reader can do about it.
    pub remedy: Option<String>,
    /// Last lines of the server's log: untrusted text.
    pub log: Option<String>,
}

impl EventRecord {
    /// An event of the whole run, at its beginning. Level and words follow from the kind.
    pub fn new(kind: EventKind) -> Self {
        Self {
            at_ns: 0,
            level: kind.level(),
            voids: kind.makes_void(),
            group: None,
            variant: None,
            scenario: None,
            fork: None,
            title: kind.title().to_owned(),
            text: kind.text(),
            remedy: kind.remedy(),
            log: None,
            kind,
        }
    }
}
