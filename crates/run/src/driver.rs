//! One scenario on the servers of one fork: all that every slice of it needs, and what becomes of a slice once it is over.
//! How a slice is driven is in `slice`; which slices there are, in `warmup`, `fork`, `sequential`, `push`, `capacity` and
//! `profiled`.

use tare_load::LoadSession;
use tare_plan::plan::{NamedScenario, Plan, SliceKind};
use tare_record::sample::{Phase, SliceRecord, StoredSlice, WarmupRecord};

use crate::error::RunError;
use crate::fleet::Fleet;
use crate::fork::Trial;
use crate::journal::Journal;
use crate::order;
use crate::progress::{Place, Progress};
use crate::session;
use crate::slice::{Order, is_answered};

/// Drives the servers of one fork under one scenario.
///
/// Its methods name a server by its index among the members of the fleet.
pub(crate) struct Driver<'d, 'a, 'j> {
    pub trial: &'d Trial<'a>,
    pub fleet: &'d mut Fleet<'a>,
    /// One for each member, even for those that are out, so that indices agree.
    pub sessions: Vec<LoadSession>,
    pub named: &'d NamedScenario,
    pub place: Place<'d>,
    pub journal: &'d mut Journal<'j>,
}

impl<'d, 'a, 'j> Driver<'d, 'a, 'j> {
    /// Opens a session with each server; nothing is sent yet.
    pub fn open(
        trial: &'d Trial<'a>,
        fleet: &'d mut Fleet<'a>,
        named: &'d NamedScenario,
        place: &Place<'d>,
        journal: &'d mut Journal<'j>,
    ) -> Result<Self, RunError> {
        let sessions =
            fleet.members.iter().map(|member| session::open(trial, member, named)).collect::<Result<_, _>>()?;
        Ok(Self { trial, fleet, sessions, named, place: *place, journal })
    }

    /// The plan that is followed.
    pub fn plan(&self) -> &'a Plan {
        self.trial.yard.plan
    }

    /// Whether Ctrl-C has come: what is under way is cut short, and nothing more begins.
    pub fn is_cancelled(&self) -> bool {
        self.trial.cancel.is_cancelled()
    }

    /// Whether this server may get another slice.
    pub fn may_drive(&self, member: usize) -> bool {
        self.fleet.members[member].healthy && !self.is_cancelled()
    }

    /// Random orders of this fork and scenario, others for each purpose.
    pub fn orders(&self, purpose: &str) -> order::Order {
        let fork = self.place.fork.to_string();
        order::Order::at(self.plan().seed, &[purpose, self.place.group, &self.named.name, &fork])
    }

    /// A scored slice as the plan has it.
    pub fn order(&self, kind: SliceKind, round: u32, rate_per_s: f64) -> Order {
        let plan = self.plan();
        Order {
            kind,
            phase: Phase::Measure,
            round,
            users: plan.load.users,
            rate_per_s,
            length: plan.slices.length.0,
            discard: plan.slices.discard.0,
            // The same arrivals for all variants of a round, others in the next.
            seed: plan.seed ^ (u64::from(self.place.fork) << 32) ^ u64::from(round),
            sending: self.trial.cores.sending(kind, plan.load.spin),
        }
    }

    /// Tells the observer of the scored slice to come, which is the `slice`-th (1-based) of `slices`.
    pub fn announce(&mut self, member: usize, kind: SliceKind, (slice, slices): (u32, u32), last_per_s: Option<f64>) {
        self.journal.show(&Progress::Measuring {
            place: self.place,
            scenario: &self.named.name,
            variant: &self.fleet.members[member].variant.name,
            kind,
            slice,
            slices,
            last_per_s,
        });
    }

    /// Drives one slice and keeps it, even if it was cut short.
    pub fn slice(&mut self, member: usize, order: &Order) -> Result<&StoredSlice, RunError> {
        let slice = self.drive(member, order)?;
        self.keep(member, slice)
    }

    /// Drives one slice and keeps it, unless it was cut short: the others of its round are longer, so it is not scored.
    pub fn whole_slice(&mut self, member: usize, order: &Order) -> Result<Option<&StoredSlice>, RunError> {
        let slice = self.drive(member, order)?;
        if self.is_cancelled() {
            return Ok(None);
        }
        self.keep(member, slice).map(Some)
    }

    /// Keeps a slice, and looks whether the server is fit for another.
    pub fn keep(&mut self, member: usize, slice: SliceRecord) -> Result<&StoredSlice, RunError> {
        // One that was cut short may have been too short for an answer.
        let answered = is_answered(&slice) || self.is_cancelled();
        let at = self.journal.record().slices.len();
        self.journal.slice(slice)?;
        self.fleet.members[member].check_health(answered, &self.place, &self.named.name, self.journal)?;
        Ok(&self.journal.record().slices[at])
    }

    /// Keeps how a server has warmed up in `span_ns`, and why it is not steady, if it is not.
    pub fn warmed(&mut self, member: usize, span_ns: u64, unsteady: Option<String>) -> Result<(), RunError> {
        self.journal.warmup(WarmupRecord {
            fork: self.place.fork,
            group: self.place.group.to_owned(),
            scenario: self.named.name.clone(),
            variant: self.fleet.members[member].variant.name.clone(),
            span_ns,
            steady: unsteady.is_none(),
            reason: unsteady.unwrap_or_default(),
        })
    }
}
