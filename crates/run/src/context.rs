//! What every part of a run shares: the plan, the cores, the test bed and the record.

pub(crate) mod baseline_answers;
pub(crate) mod cores;
pub(crate) mod journal;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_plan::Plan;
use tare_plan::contract::Contract;
use tare_plan::plan::Rate;
use tare_plan::turn::Turns;
use tare_record::checkpoint::{Checkpoint, ComparisonState, DoneStep};
use tare_record::{EndStatus, EventKind, EventRecord, RunRecord};

use crate::context::baseline_answers::BaselineAnswers;
use crate::context::cores::Cores;
use crate::context::journal::Journal;
use crate::error::RunError;
use crate::load_host::LoadMachines;
use crate::prepare::Launches;
use crate::progress::{Progress, RunPosition};
use crate::schedule::random_orders::RandomOrders;
use crate::server_host::ServerMachine;
use crate::test_bed::TestBed;

/// Whether each comparison may stop, and how it stands, by what has been recorded so far.
pub type ReasonsToStop<'a> = dyn Fn(&RunRecord) -> Vec<ComparisonState> + 'a;

/// The inputs of a run in addition to its plan.
pub struct RunInputs<'a> {
    pub launches: &'a Launches,
    /// The machine of the servers, where that is another one.
    pub host: Option<&'a dyn ServerMachine>,
    /// The agents that make the load; `None` where this process does.
    pub agents: Option<&'a dyn LoadMachines>,
    /// What the catalog's servers must answer.
    pub contract: &'a Contract,
    pub logs: &'a Path,
    /// Folder for the samplers' own files.
    pub profiles: &'a Path,
    /// Set by Ctrl-C: the run ends, and its record keeps what was measured.
    pub cancelled: Arc<AtomicBool>,
    /// Program of the built-in server of known delays, for the self-test before the first fork; `None` skips the test.
    pub reference: Option<PathBuf>,
    /// Says after the rounds of each scenario, and after each fork, whether the comparisons may stop.
    pub reasons_to_stop: &'a ReasonsToStop<'a>,
}

/// What every fork of one scenario shares, so that forks measure the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FixedLoad {
    /// Throughput of the slowest server, from which the others follow; `None` if none answered.
    pub slowest_per_s: Option<f64>,
    /// Requests per second of the open slices.
    pub rate_per_s: f64,
    /// The turns of a saturating round; `None` where its slices stay in one piece.
    pub turns: Option<Turns>,
    pub rounds: u32,
}

pub(crate) struct RunContext<'a> {
    pub plan: &'a Plan,
    pub cores: Cores,
    pub bed: Box<dyn TestBed + 'a>,
    pub journal: Journal<'a>,
    /// What all servers of a group must answer where the contract does not say it.
    pub baseline_answers: BaselineAnswers,
    /// How far the run is, what was done before an interruption included.
    pub checkpoint: Checkpoint,
    reasons_to_stop: &'a ReasonsToStop<'a>,
}

impl FixedLoad {
    /// The load by the slowest server's throughput; `None` where it is a share of a capacity that no server has shown.
    pub fn of(plan: &Plan, slowest_per_s: Option<f64>) -> Option<Self> {
        let rate_per_s = match plan.load.rate {
            Rate::PerSecond { per_s } => Some(per_s),
            Rate::OfCapacity { share } => slowest_per_s.map(|slowest| two_digits(slowest * share)),
        };
        let (slices, users, per_s) = (&plan.slices, plan.load.users, slowest_per_s.unwrap_or(0.0));
        let turns = slices.turn.turns_of_slice(slices.length.0, users, per_s);
        // A server that has answered nothing will not do so in more rounds.
        let rounds = slowest_per_s.map_or(slices.saturating, |per_s| slices.saturating_rounds(users, per_s));
        rate_per_s.map(|rate_per_s| Self { slowest_per_s, rate_per_s, turns, rounds })
    }
}

/// A rate that people can read and type again: two significant digits.
fn two_digits(rate: f64) -> f64 {
    let scale = 10_f64.powi(rate.abs().max(1.0).log10().floor() as i32 - 1);
    (rate / scale).floor().max(1.0) * scale
}

impl<'a> RunContext<'a> {
    /// A run before its next measurement: the first one, or the one after the checkpoint of its record.
    pub fn new(
        plan: &'a Plan,
        cores: Cores,
        bed: Box<dyn TestBed + 'a>,
        journal: Journal<'a>,
        reasons_to_stop: &'a ReasonsToStop<'a>,
    ) -> Self {
        let checkpoint = journal.record().checkpoint.clone().unwrap_or_default();
        let baseline_answers = BaselineAnswers::default();
        Self { plan, cores, bed, journal, baseline_answers, checkpoint, reasons_to_stop }
    }

    /// Tells the observer what is done at a place, in words.
    pub fn show_step(&mut self, place: RunPosition<'_>, text: &str) {
        self.journal.show(&Progress::At(place, text));
    }

    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.bed.elapsed_ns())
    }

    pub fn random_orders(&self, place: &[&str]) -> RandomOrders {
        RandomOrders::for_place(self.plan.seed, place)
    }

    /// How the comparisons of a group stand by what has been recorded so far.
    pub fn standings(&self, group: &str) -> Vec<ComparisonState> {
        let mut standings = (self.reasons_to_stop)(self.journal.record());
        standings.retain(|standing| standing.group == group);
        standings
    }

    /// Keeps and shows an event that happens now.
    pub fn record_event(&mut self, event: EventRecord) -> Result<(), RunError> {
        self.journal.append_event(self.bed.elapsed_ns(), event)
    }

    /// Keeps and shows an event of this moment, unless the record has the same one from before an interruption.
    pub fn record_new_event(&mut self, event: EventRecord) -> Result<(), RunError> {
        let is_same =
            |old: &EventRecord| (&old.kind, &old.group, &old.variant) == (&event.kind, &event.group, &event.variant);
        if self.journal.record().events.iter().any(is_same) {
            return Ok(());
        }
        self.record_event(event)
    }

    /// Keeps and shows that a program of the servers is another file than when the run began, if one is.
    pub fn note_changed_program(&mut self) -> Result<(), RunError> {
        let mut files = self.bed.program_files().into_iter();
        let changed = files.find(|(file, state)| self.checkpoint.files.get(file).is_some_and(|before| before != state));
        let Some((file, _)) = changed else { return Ok(()) };
        self.record_new_event(EventRecord::new(EventKind::ProgramChanged { file }))
    }

    pub fn note_step(&mut self, step: DoneStep) -> Result<(), RunError> {
        self.checkpoint.steps.push(step);
        self.save_checkpoint()
    }

    /// Keeps how far the run is. An interrupted run goes on from here.
    pub fn save_checkpoint(&mut self) -> Result<(), RunError> {
        self.checkpoint.at_ns = self.bed.elapsed_ns();
        self.checkpoint.entries = self.journal.record().entry_counts();
        self.journal.save_checkpoint(self.checkpoint.clone())
    }

    /// Keeps and shows an event of a fork, of one server or scenario where these are given.
    pub fn fork_event(
        &mut self,
        event: EventRecord,
        place: &RunPosition<'_>,
        variant: Option<&str>,
        scenario: Option<&str>,
    ) -> Result<(), RunError> {
        self.record_event(EventRecord {
            group: Some(place.group.to_owned()),
            fork: Some(place.fork),
            variant: variant.map(str::to_owned),
            scenario: scenario.map(str::to_owned),
            ..event
        })
    }

    pub fn finish(self, status: EndStatus) -> Result<RunRecord, RunError> {
        let at_ns = self.bed.elapsed_ns();
        self.journal.finish(status, at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::two_digits;

    #[test]
    fn rates_have_two_significant_digits_and_never_exceed_the_share() {
        for (rate, rounded) in [(9437.0, 9400.0), (18_812.0, 18_000.0), (7.3, 7.3), (103.0, 100.0)] {
            assert!((two_digits(rate) - rounded).abs() < 1e-9, "{rate} became {}", two_digits(rate));
        }
    }
}
