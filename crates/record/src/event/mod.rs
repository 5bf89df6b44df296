//! Events: what happened to a server, the machine or tare itself. Code matches [`EventKind`]; the text is for readers.

mod kind;
mod words;

use serde::{Deserialize, Serialize};

pub use self::kind::{EventKind, EventLevel, EventName, LatencyPlan, SelfTestFigures};

/// Something that happened: a server died, a check failed, the machine was busy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// Time since the run began.
    pub at_ns: u64,
    /// The kind. It is [`EventKind::Other`] for kinds of a newer tare.
    pub kind: EventKind,
    pub level: EventLevel,
    /// Whether it makes the cells that it names void.
    pub voids: bool,
    pub group: Option<String>,
    pub variant: Option<String>,
    pub scenario: Option<String>,
    pub fork: Option<u32>,
    /// A short text for the kind, by the version of tare that wrote the record. For readers only.
    pub title: String,
    /// The observation, with figures. For readers only.
    pub text: String,
    pub remedy: Option<String>,
    /// Last lines of the server's log: untrusted text.
    pub log: Option<String>,
}

impl EventRecord {
    /// An event of the whole run, at its start. Level and texts follow from the kind.
    pub fn new(kind: EventKind) -> Self {
        let (level, voids, title, _) = kind.name().meaning();
        let (text, remedy) = (kind.text(), kind.remedy());
        Self { kind, level, voids, title: title.to_owned(), text, remedy, ..Self::default() }
    }

    /// Whether it is about this variant of this group, by its names. One without a group is about every group.
    pub fn is_about(&self, group: &str, variant: &str) -> bool {
        self.group.as_deref().is_none_or(|name| name == group) && self.variant.as_deref() == Some(variant)
    }
}
