//! A scenario in which the server sends: all users listen, and how late each message comes is what is measured. One slice
//! lasts as long as its messages, so that variants take turns in minutes.

use std::time::Duration;

use tare_load::{LoadSession, Sending};
use tare_plan::plan::{NamedScenario, SliceKind, Warmup};
use tare_plan::push::Push;
use tare_record::sample::{Phase, WarmupRecord};

use crate::error::RunError;
use crate::fleet::Fleet;
use crate::fork::{Trial, slot};
use crate::journal::Journal;
use crate::order;
use crate::progress::{Place, Progress};
use crate::slice::{Order, drive};

/// A server may be so much slower than its period says before its messages count as missing.
const PATIENCE: u32 = 2;

impl Trial<'_> {
    /// Warms up each server in turn with all users, then measures: rounds of one slice of each, in random order.
    pub fn pushed(
        &self,
        fleet: &mut Fleet<'_>,
        named: &NamedScenario,
        push: &Push,
        place: &Place<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), RunError> {
        let plan = self.yard.plan;
        let mut sessions = self.sessions(fleet, named)?;
        fleet.set_cpus(&self.cores.warmup);
        for (index, session) in sessions.iter_mut().enumerate() {
            self.warm(fleet, (index, session), named, place, journal)?;
        }
        fleet.set_cpus(&self.cores.server);
        if let Some(slo) = &plan.slo {
            return self.capacities(fleet, &mut sessions, named, slo, place, journal);
        }
        let words = ["pushes", place.group, &named.name, &place.fork.to_string()];
        let mut shuffle = order::Order::at(plan.seed, &words);
        for round in 0..plan.slices.push {
            for index in shuffle.shuffled(0..fleet.members.len()) {
                self.hear(fleet, (index, &mut sessions[index]), named, push, round, place, journal)?;
            }
        }
        Ok(())
    }

    /// As it will be measured, and not scored: the whole cap, since what is pushed costs too little CPU to see it settle.
    fn warm(
        &self,
        fleet: &mut Fleet<'_>,
        (index, session): (usize, &mut LoadSession),
        named: &NamedScenario,
        place: &Place<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), RunError> {
        let plan = self.yard.plan;
        let member = &mut fleet.members[index];
        if !member.healthy || self.cancel.is_cancelled() {
            return Ok(());
        }
        let (Warmup::UntilSteady { cap: span, .. } | Warmup::Fixed { span, .. }) = plan.warmup;
        journal.show(&Progress::WarmingUp {
            place: *place,
            scenario: &named.name,
            elapsed: Duration::ZERO,
            cap: span.0,
            steady: (0, 0),
            jit_share: None,
        });
        let order = Order { phase: Phase::Warmup, ..self.pushing(0, span.0) };
        let begin_ns = journal.elapsed_ns();
        let slice = drive(member, session, &order, slot(named, place), plan, &self.cancel, journal)?;
        let answered = slice.ok > 0 || self.cancel.is_cancelled();
        journal.slice(slice)?;
        journal.warmup(WarmupRecord {
            fork: place.fork,
            group: place.group.to_owned(),
            scenario: named.name.clone(),
            variant: member.variant.name.clone(),
            span_ns: journal.elapsed_ns() - begin_ns,
            steady: true,
            reason: String::new(),
        })?;
        member.check_health(answered, place, &named.name, journal)
    }

    #[allow(clippy::too_many_arguments, reason = "one slice needs the whole scene; a struct would only rename it")]
    fn hear(
        &self,
        fleet: &mut Fleet<'_>,
        (index, session): (usize, &mut LoadSession),
        named: &NamedScenario,
        push: &Push,
        round: u32,
        place: &Place<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), RunError> {
        let plan = self.yard.plan;
        let member = &mut fleet.members[index];
        if !member.healthy || self.cancel.is_cancelled() {
            return Ok(());
        }
        journal.show(&Progress::Measuring {
            place: *place,
            scenario: &named.name,
            variant: &member.variant.name,
            kind: SliceKind::Push,
            slice: round + 1,
            slices: plan.slices.push,
            last_per_s: None,
        });
        let order = self.pushing(round, push.span().0 * PATIENCE + plan.load.timeout.0);
        let slice = drive(member, session, &order, slot(named, place), plan, &self.cancel, journal)?;
        if self.cancel.is_cancelled() {
            // Cut short: its users have not heard what the others will have, so it is not scored.
            return Ok(());
        }
        let answered = slice.ok > 0;
        journal.slice(slice)?;
        member.check_health(answered, place, &named.name, journal)
    }

    fn pushing(&self, round: u32, length: Duration) -> Order {
        let plan = self.yard.plan;
        Order {
            kind: SliceKind::Push,
            phase: Phase::Measure,
            round,
            users: plan.load.users,
            rate_per_s: 0.0,
            length,
            discard: Duration::ZERO,
            seed: plan.seed,
            sending: Sending::Exact,
        }
    }
}
