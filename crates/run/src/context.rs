//! What every part of a run shares: the plan, the cores, the test bed and the record.

use std::collections::BTreeMap;
use std::time::Duration;

use tare_plan::Plan;
use tare_plan::turn::Turns;
use tare_record::{EndStatus, EventRecord, RunRecord};

use crate::cores::Cores;
use crate::error::RunError;
use crate::journal::Journal;
use crate::order::Order;
use crate::progress::{Place, Progress};
use crate::test_bed::TestBed;

/// What every fork of one scenario shares, so that forks measure the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FixedLoad {
    /// Requests per second of the open slices.
    pub rate_per_s: f64,
    /// The turns of a saturating round; `None` where its slices stay in one piece.
    pub turns: Option<Turns>,
}

/// The one context of a run.
pub(crate) struct RunContext<'a> {
    pub plan: &'a Plan,
    pub cores: Cores,
    pub bed: Box<dyn TestBed + 'a>,
    pub journal: Journal<'a>,
    /// What the first fork that measures it fixes for all, by group and scenario.
    pub fixed: BTreeMap<(String, String), FixedLoad>,
}

impl<'a> RunContext<'a> {
    /// A run before its first measurement.
    pub fn new(plan: &'a Plan, cores: Cores, bed: Box<dyn TestBed + 'a>, journal: Journal<'a>) -> Self {
        Self { plan, cores, bed, journal, fixed: BTreeMap::new() }
    }

    /// Time since the run began.
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.bed.elapsed_ns())
    }

    /// Whether Ctrl-C was pressed: the slice under way is cut short, and no other begins.
    pub fn is_interrupted(&self) -> bool {
        self.bed.is_interrupted()
    }

    /// Random orders of one place of the plan.
    pub fn random_order(&self, place: &[&str]) -> Order {
        Order::at(self.plan.seed, place)
    }

    /// Tells the observer.
    pub fn show(&mut self, progress: &Progress<'_>) {
        self.journal.show(progress);
    }

    /// Keeps and shows an event that happens now.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn record_event(&mut self, event: EventRecord) -> Result<(), RunError> {
        self.journal.append_event(self.bed.elapsed_ns(), event)
    }

    /// Keeps and shows an event of one server.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn server_event(
        &mut self,
        event: EventRecord,
        place: &Place<'_>,
        variant: &str,
        scenario: Option<&str>,
    ) -> Result<(), RunError> {
        self.record_event(EventRecord {
            group: Some(place.group.to_owned()),
            fork: Some(place.fork),
            variant: Some(variant.to_owned()),
            scenario: scenario.map(str::to_owned),
            ..event
        })
    }

    /// Closes the record.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn finish(self, status: EndStatus) -> Result<RunRecord, RunError> {
        let at_ns = self.bed.elapsed_ns();
        self.journal.finish(status, at_ns)
    }
}
