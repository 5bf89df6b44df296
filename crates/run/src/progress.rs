//! The progress of a run. The observer decides how to show it.

use std::time::Duration;

use tare_plan::Engine;
use tare_plan::plan::SliceKind;
use tare_record::EventRecord;

/// One thing that happened or is going on.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// Before the first fork: checking the machine, `what` in words.
    Preflight {
        /// What is checked.
        what: &'a str,
    },
    /// The servers of a group are being started.
    Starting {
        /// Where in the run.
        place: RunPosition<'a>,
        /// How many servers.
        servers: usize,
    },
    /// The servers are verified against the contract.
    Verifying {
        /// Where in the run.
        place: RunPosition<'a>,
    },
    /// The group warms up.
    WarmingUp {
        /// Where in the run.
        place: RunPosition<'a>,
        /// Scenario.
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
        /// Where in the run.
        place: RunPosition<'a>,
        /// Scenario.
        scenario: &'a str,
        /// Variant.
        variant: &'a str,
        /// Load model.
        kind: SliceKind,
        /// 1-based slice of this fork and scenario.
        slice: u32,
        /// Of how many.
        slices: u32,
        /// Throughput of the slice before, where there is one.
        last_per_s: Option<f64>,
    },
    /// A round is about to be driven, in which all servers alternate in short turns.
    MeasuringRound {
        /// Where in the run.
        place: RunPosition<'a>,
        /// Scenario.
        scenario: &'a str,
        /// Length of a turn.
        turn: Duration,
        /// 1-based slice of this fork and scenario.
        slice: u32,
        /// Of how many.
        slices: u32,
        /// Variant and throughput of each server in the round before, where there was one.
        last_per_s: &'a [(&'a str, f64)],
    },
    /// The slice that was announced waits for its connections: they are many, or its server is slow to open them.
    Opening {
        /// Where in the run.
        place: RunPosition<'a>,
        /// Scenario.
        scenario: &'a str,
        /// Variant.
        variant: &'a str,
        /// How many are open.
        open: usize,
        /// Of how many.
        of: usize,
    },
    /// The slice that was announced has waited for its connections, and begins.
    Begun,
    /// Another load tool drives the cell that tare has driven.
    CrossChecking {
        /// Where in the run.
        place: RunPosition<'a>,
        /// Scenario.
        scenario: &'a str,
        /// Variant.
        variant: &'a str,
        /// Which tool.
        engine: Engine,
    },
    /// A server is about to be profiled.
    Profiling {
        /// Where in the run.
        place: RunPosition<'a>,
        /// Scenario.
        scenario: &'a str,
        /// Variant.
        variant: &'a str,
        /// What is sampled.
        event: &'a str,
        /// 1-based profile of this fork and scenario.
        step: u32,
        /// Of how many.
        of: u32,
    },
    /// A fork is over; this is how the comparisons stand.
    Standing {
        /// Where in the run.
        place: RunPosition<'a>,
        /// One for each comparison of the group.
        standings: &'a [ComparisonProgress],
    },
    /// An event that the observer should show.
    Event(&'a EventRecord),
}

/// Where in the run something happens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunPosition<'a> {
    /// Group.
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

/// How one comparison stands.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonProgress {
    /// Group.
    pub group: String,
    /// Scenario.
    pub scenario: String,
    /// Variant.
    pub variant: String,
    /// In few words: `slower 8.1 % [7.2, 9.0]`.
    pub text: String,
    /// Forks that count: those that ran, without those that were set aside.
    pub forks: u32,
    /// Whether it has a verdict, however wide its interval.
    pub has_verdict: bool,
    /// Whether more forks are not needed.
    pub decided: bool,
    /// How much longer it would take, about, where that is known.
    pub needed: Option<Duration>,
}
