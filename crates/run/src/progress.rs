//! The progress of a run. The observer decides how to show it.

use std::time::Duration;

use tare_record::EventRecord;
use tare_record::checkpoint::ComparisonState;

#[derive(Debug, Clone, PartialEq)]
pub enum Progress<'a> {
    /// Before the first fork: checking the machine, `what` in words.
    Preflight { what: &'a str },
    /// What is done at this place, in words.
    At(RunPosition<'a>, &'a str),
    /// The slice that was announced waits for its connections, in words: they are many, or its server is slow to open them.
    Opening(RunPosition<'a>, &'a str),
    /// The slice that was announced has waited for its connections, and begins.
    Begun,
    /// The rounds of a scenario, or a fork, are over; this is how these comparisons stand.
    Standing { place: RunPosition<'a>, standings: &'a [ComparisonState] },
    /// An event that the observer should show.
    Event(&'a EventRecord),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunPosition<'a> {
    pub group: &'a str,
    /// 1-based start, as the record counts it.
    pub fork: u32,
    /// 1-based fork of a comparison, or cell of a sequential run: how far it is.
    pub step: u32,
    /// How many forks or cells there will be, where that is known.
    pub of: Option<u32>,
    /// The longest that the whole run may still take.
    pub left: Duration,
}
