//! The record of one load: its intervals, its events and how it ended.

use crate::header::LoadHeader;
use crate::{AgentRecord, EndStatus, EventRecord, RunRecord, StoredSlice};

/// All entries of one load on one URL (`tare load`).
#[derive(Debug, Clone)]
pub struct LoadRecord {
    pub header: LoadHeader,
    /// The load cut into intervals, in order. Their `group` and `variant` are the URL, their `scenario` the first
    /// request.
    pub intervals: Vec<StoredSlice>,
    /// The agents that made the load, in order; empty where tare made it itself.
    pub agents: Vec<AgentRecord>,
    pub events: Vec<EventRecord>,
    /// How and when the load ended, in nanoseconds since its start; absent if tare was killed.
    pub end: Option<(EndStatus, u64)>,
}

#[derive(Debug, Clone)]
pub enum Record {
    /// A run: servers compared with one another.
    Run(Box<RunRecord>),
    Load(Box<LoadRecord>),
}
