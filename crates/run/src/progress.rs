//! The progress of a run. The observer decides how to show it.

use std::time::Duration;

use tare_plan::Engine;
use tare_plan::plan::SliceKind;
use tare_record::EventRecord;
use tare_record::checkpoint::ComparisonState;

/// One thing that happened or is going on.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress<'a> {
    /// Before the first fork: checking the machine, `what` in words.
    Preflight { what: &'a str },
    /// A run is at this step.
    At(RunPosition<'a>, RunStep<'a>),
    /// The slice that was announced has waited for its connections, and begins.
    Begun,
    /// The rounds of a scenario, or a fork, are over; this is how these comparisons stand.
    Standing { place: RunPosition<'a>, standings: &'a [ComparisonState] },
    /// An event that the observer should show.
    Event(&'a EventRecord),
}

/// What is done at a place of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunStep<'a> {
    /// The servers of a group are being started.
    Starting { servers: usize },
    /// The servers are verified against the contract.
    Verifying,
    WarmingUp {
        scenario: &'a str,
        /// How long already.
        elapsed: Duration,
        /// At most how long.
        cap: Duration,
        /// How many variants are steady, of how many.
        steady: (usize, usize),
        /// Largest share of the time that a server's JIT compilers work or wait for a core, where there are any.
        compiler_share: Option<f64>,
    },
    /// A slice is about to be driven.
    Measuring {
        scenario: &'a str,
        variant: &'a str,
        /// Load model.
        kind: SliceKind,
        /// 1-based slice of this fork and scenario, of how many.
        slice: (u32, u32),
        /// Throughput of the slice before, where there is one.
        last_per_s: Option<f64>,
    },
    /// A round is about to be driven, in which all servers alternate in short turns.
    MeasuringRound {
        scenario: &'a str,
        turn: Duration,
        /// 1-based slice of this fork and scenario, of how many.
        slice: (u32, u32),
        /// Variant and throughput of each server in the round before, where there was one.
        last_per_s: &'a [(&'a str, f64)],
    },
    /// The announced slice waits for connections, `open` of `of`: they are many, or its server is slow to open them.
    Opening { scenario: &'a str, variant: &'a str, open: usize, of: usize },
    /// Another load tool drives the cell that tare has driven.
    CrossChecking { scenario: &'a str, variant: &'a str, engine: Engine },
    /// A server is about to be profiled.
    Profiling {
        scenario: &'a str,
        variant: &'a str,
        event: &'a str,
        /// 1-based profile of this fork and scenario, of how many.
        step: (u32, u32),
    },
}

/// Where in the run something happens.
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
