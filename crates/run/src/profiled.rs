//! The profiling part of a fork: each event on each server in turn, at one rate for all, with a sampler attached. Nothing
//! of it is scored, and a sampler that fails is an event of the record, not the end of the run.

use tare_load::LoadSession;
use tare_plan::plan::{NamedScenario, SliceKind};
use tare_plan::profile::ProfileEvent;
use tare_record::profile::{PackedText, ProfileRecord};
use tare_record::sample::{EventLevel, EventRecord, Phase};
use tare_sut::SutError;
use tare_sut::sampler::{Sampled, Sampling};

use crate::error::RunError;
use crate::fleet::{Fleet, Member, file_name};
use crate::fork::{Trial, slot};
use crate::journal::{Journal, located};
use crate::order;
use crate::progress::{Place, Progress};
use crate::slice::{Order, drive};

/// One profile to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Turn {
    event: ProfileEvent,
    member: usize,
}

impl<'a> Trial<'a> {
    /// Profiles every healthy server of the fleet under one scenario, which they are warm for.
    pub fn profile(
        &self,
        fleet: &mut Fleet<'a>,
        sessions: &mut [LoadSession],
        named: &NamedScenario,
        place: &Place<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), RunError> {
        let plan = self.yard.plan;
        let Some(profile) = &plan.profile else { return Ok(()) };
        let key = (place.group.to_owned(), named.name.clone());
        let Some(&rate_per_s) = self.rates.get(&key) else { return Ok(()) };
        let mut shuffle = order::Order::at(plan.seed, &["profiles", place.group, &named.name, &place.fork.to_string()]);
        let members = fleet.members.len();
        let turns = profile.events.iter().flat_map(|&event| (0..members).map(move |member| Turn { event, member }));
        let turns = shuffle.shuffled(turns);
        let of = turns.len() as u32;
        for (number, turn) in (0..).zip(turns) {
            let member = &mut fleet.members[turn.member];
            if self.cancel.is_cancelled() || !member.healthy {
                continue;
            }
            journal.show(&Progress::Profiling {
                place: *place,
                scenario: &named.name,
                variant: &member.variant.name,
                event: turn.event.name(),
                step: number + 1,
                of,
            });
            let order = Order { phase: Phase::Profile, ..self.order(SliceKind::Fixed, number, rate_per_s, place) };
            self.sampled(member, &mut sessions[turn.member], &order, turn.event, named, place, journal)?;
        }
        Ok(())
    }

    /// One slice under a sampler; what it saw goes into the record, and what went wrong too.
    #[allow(clippy::too_many_arguments, reason = "one slice needs the whole scene; a struct would only rename it")]
    fn sampled(
        &self,
        member: &mut Member<'_>,
        session: &mut LoadSession,
        order: &Order,
        event: ProfileEvent,
        named: &NamedScenario,
        place: &Place<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), RunError> {
        let variant = &member.variant.name;
        let parts = [place.group, &named.name, variant, event.name(), &place.fork.to_string()].map(file_name);
        let begin = |pid| Sampling::begin(pid, event, self.yard.profiles, &parts.join("-"));
        let sampling = match member.host.pid().map(begin) {
            Some(Ok(sampling)) => sampling,
            Some(Err(error)) => return fault(&error, member, named, place, journal),
            None => return fault(&elsewhere(), member, named, place, journal),
        };
        let slice = drive(member, session, order, slot(named, place), self.yard.plan, &self.cancel, journal)?;
        let seen = sampling.end();
        if self.cancel.is_cancelled() {
            return Ok(());
        }
        let answered = slice.ok > 0;
        let (span_ns, requests, cpu_ns) = match &slice.server_cpu {
            Some(cpu) => (cpu.wall_ns, cpu.requests, Some(cpu.total_ns)),
            None => (slice.window_ns, slice.ok, None),
        };
        journal.slice(slice)?;
        match seen {
            Ok(Sampled { sampler, weight, stacks, file }) => journal.profile(ProfileRecord {
                fork: place.fork,
                group: place.group.to_owned(),
                scenario: named.name.clone(),
                variant: member.variant.name.clone(),
                event,
                sampler,
                span_ns,
                offered_per_s: order.rate_per_s,
                requests,
                cpu_ns,
                file: file.file_name().map(|name| name.to_string_lossy().into_owned()),
                weight,
                stacks: PackedText::pack(&stacks),
            })?,
            Err(error) => fault(&error, member, named, place, journal)?,
        }
        member.check_health(answered, place, &named.name, journal)
    }
}

fn elsewhere() -> SutError {
    SutError::Sampler {
        doing: "profile a server that runs elsewhere".to_owned(),
        said: "its process cannot be seen".to_owned(),
        remedy: "let tare start it, with a command in a suite file".to_owned(),
    }
}

fn fault(
    error: &SutError,
    member: &Member<'_>,
    named: &NamedScenario,
    place: &Place<'_>,
    journal: &mut Journal<'_>,
) -> Result<(), RunError> {
    let event = EventRecord::new(EventLevel::Warning, "not profiled", error.to_string());
    journal.event(located(event, place, &member.variant.name, Some(&named.name)))
}
