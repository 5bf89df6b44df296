//! What a test plants, and what it sees afterwards.

use std::collections::BTreeMap;
use std::time::Duration;

use tare_record::IdleSpan;
use tare_sut::contract::GivenAnswer;

use crate::test_bed::slice::SliceLoad;

/// How one server behaves.
#[derive(Debug, Clone)]
pub(crate) struct Planted {
    /// Right answers per second under a closed load; also the highest open rate that it answers quickly.
    pub per_s: f64,
    /// Users, or listeners, that it answers quickly.
    pub quick_users: u32,
    /// CPU of its compilers as a share of the time.
    pub compiler_share: f64,
    /// How long its compilers wait for a core, as a share of the time.
    pub compiler_waiting_share: f64,
    /// Why this machine cannot run it.
    pub unavailable: Option<String>,
    /// The starts (1-based, over the whole run) that fail.
    pub failing_starts: Vec<u32>,
    /// The starts in which other processes take every port that tare chooses.
    pub starts_without_port: Vec<u32>,
    /// The starts that answer otherwise than the contract says.
    pub lying_starts: Vec<u32>,
    /// The starts that end at the first check.
    pub starts_that_die_verified: Vec<u32>,
    /// The starts that end when a sampler is attached.
    pub starts_that_die_sampled: Vec<u32>,
    /// The body of its answers.
    pub body: &'static str,
    /// Start and scenario in which it dies, at its first scored slice.
    pub deaths: Vec<(u32, &'static str)>,
    /// The round of a warm-up in which it dies.
    pub dies_warming_up_in: Option<u32>,
    /// The round of a warm-up in which the generator gets no CPU: nothing is sent.
    pub starved_warming_up_in: Option<u32>,
    /// The scenarios in which it runs and answers nothing.
    pub mute_in: Vec<&'static str>,
    /// Share of the cores that other programs use meanwhile.
    pub others_share: f64,
    /// CPU that it uses without load, as a share of a core.
    pub rest_cpu_share: f64,
    /// How often its runtime collects garbage; `None` for a server whose runtime tells nothing.
    pub requests_per_collection: Option<u64>,
    /// How it stands still now and then, and tells it.
    pub stops: Option<PlantedStops>,
}

/// Stops of equal length at equal distances, from the start of the run on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlantedStops {
    pub every: Duration,
    pub length: Duration,
    /// What its runtime tells of them.
    pub told: Told,
}

/// What a runtime tells of its stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// All of them.
    Each,
    /// Something that cannot be understood.
    Nonsense,
    /// Nothing.
    Nothing,
}

impl PlantedStops {
    /// The stop under way at a moment of the run, or else the next one.
    pub fn at(&self, moment_ns: u64) -> IdleSpan {
        let (every_ns, length_ns) = (self.every.as_nanos() as u64, self.length.as_nanos() as u64);
        let last_ns = moment_ns / every_ns * every_ns;
        let begin_ns = if moment_ns < last_ns + length_ns { last_ns } else { last_ns + every_ns };
        IdleSpan { begin_ns, end_ns: begin_ns + length_ns }
    }
}

impl Default for Planted {
    fn default() -> Self {
        Self {
            per_s: 10_000.0,
            quick_users: u32::MAX,
            compiler_share: 0.0,
            compiler_waiting_share: 0.0,
            unavailable: None,
            failing_starts: Vec::new(),
            starts_without_port: Vec::new(),
            lying_starts: Vec::new(),
            starts_that_die_verified: Vec::new(),
            starts_that_die_sampled: Vec::new(),
            body: "hello",
            deaths: Vec::new(),
            dies_warming_up_in: None,
            starved_warming_up_in: None,
            mute_in: Vec::new(),
            others_share: 0.0,
            rest_cpu_share: 0.0,
            requests_per_collection: None,
            stops: None,
        }
    }
}

/// One thing that a run did to a server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    Start(String),
    Verify(String),
    Stop(String),
    MoveTo(String, String),
    Drive { variant: String, scenario: String, load: SliceLoad },
    ObserveRest,
    BeginWatch(usize),
    CrossCheck(String),
    ReadSampled,
    CloseSessions,
}

/// What the test and the bed share.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub now: Duration,
    /// When Ctrl-C is pressed.
    pub interrupted_at: Option<Duration>,
    /// When another program takes the place of the servers'.
    pub rebuilt_at: Option<Duration>,
    pub planted: BTreeMap<String, Planted>,
    pub actions: Vec<Action>,
    /// What the servers of the last scenario had to answer.
    pub agreed: Option<GivenAnswer>,
    /// Workers of the generator; one where it is 0.
    pub workers: u32,
    /// How long a start takes.
    pub startup: Duration,
    /// Of each window of latency on a server with planted stops: the requests that waited for one, or behind one that did.
    pub met_stop: Vec<u64>,
    /// The names of the files with logs of servers, and with what samplers saw.
    pub files: Vec<String>,
}
