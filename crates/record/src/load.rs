//! The record of one load: its intervals, its events and how it ended.

use crate::header::LoadHeader;
use crate::sample::{EndStatus, EventRecord, RunRecord, StoredSlice};

/// Everything recorded of one load on one URL (`tare load`).
#[derive(Debug, Clone)]
pub struct LoadRecord {
    /// What was asked, and where.
    pub header: LoadHeader,
    /// The load cut into intervals, in order. Their `group` and `variant` are the URL, their `scenario` the first request.
    pub intervals: Vec<StoredSlice>,
    /// In the order they happened.
    pub events: Vec<EventRecord>,
    /// How the load ended and when, in nanoseconds since it began; absent when tare was killed.
    pub end: Option<(EndStatus, u64)>,
}

/// A record of either kind.
#[derive(Debug, Clone)]
pub enum Record {
    /// A run: servers weighed against one another.
    Weighed(Box<RunRecord>),
    /// One load on one URL.
    Load(Box<LoadRecord>),
}
