//! The profiling part of a fork: each event on each server in turn, under one load for all, with a sampler attached. Nothing
//! of it is scored, and a sampler that fails is an event of the record, not the end of the run.

use tare_plan::plan::SliceKind;
use tare_plan::profile::ProfileEvent;
use tare_plan::push::Push;
use tare_record::profile::{PackedText, ProfileRecord};
use tare_record::sample::{EventLevel, EventRecord, Phase, SliceRecord};
use tare_sut::SutError;
use tare_sut::sampler::{Sampled, Sampling};

use crate::driver::Driver;
use crate::error::RunError;
use crate::fleet::file_name;
use crate::journal::located;
use crate::progress::Progress;
use crate::slice::Order;

/// One profile to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Turn {
    event: ProfileEvent,
    member: usize,
}

impl Driver<'_, '_, '_> {
    /// Profiles every healthy server, all of them warm, at `rate_per_s`; none where it is not known.
    pub fn profile(&mut self, rate_per_s: Option<f64>) -> Result<(), RunError> {
        let Some(rate_per_s) = rate_per_s else { return Ok(()) };
        self.profile_under(rate_per_s, |driver, number| driver.order(SliceKind::Fixed, number, rate_per_s))
    }

    /// Profiles them while all users hear what they push.
    pub fn profile_pushes(&mut self, push: &Push) -> Result<(), RunError> {
        let per_s = f64::from(self.plan().load.users) / push.period.0.as_secs_f64();
        self.profile_under(per_s, |driver, number| driver.pushing(number, driver.plan().slices.length.0))
    }

    /// Profiles them under slices of so many requests, or messages, per second.
    fn profile_under(&mut self, per_s: f64, load: impl Fn(&Self, u32) -> Order) -> Result<(), RunError> {
        let Some(profile) = &self.plan().profile else { return Ok(()) };
        let members = self.fleet.members.len();
        let turns = profile.events.iter().flat_map(|&event| (0..members).map(move |member| Turn { event, member }));
        let turns = self.orders("profiles").shuffled(turns);
        let of = turns.len() as u32;
        for (number, Turn { event, member }) in (0..).zip(turns) {
            if !self.may_drive(member) {
                continue;
            }
            self.journal.show(&Progress::Profiling {
                place: self.place,
                scenario: &self.named.name,
                variant: &self.fleet.members[member].variant.name,
                event: event.name(),
                step: number + 1,
                of,
            });
            let order = Order { phase: Phase::Profile, ..load(self, number) };
            self.sampled(member, event, &order, per_s)?;
        }
        Ok(())
    }

    /// One slice under a sampler; what it saw goes into the record, and what went wrong too.
    fn sampled(&mut self, member: usize, event: ProfileEvent, order: &Order, per_s: f64) -> Result<(), RunError> {
        let sampling = match self.sampling(member, event) {
            Ok(sampling) => sampling,
            Err(error) => return self.fault(member, &error),
        };
        let slice = self.drive(member, order)?;
        let seen = sampling.end();
        if self.is_cancelled() {
            return Ok(());
        }
        match seen {
            Ok(sampled) => self.journal.profile(profile_record(event, sampled, per_s, &slice))?,
            Err(error) => self.fault(member, &error)?,
        }
        self.keep(member, slice)?;
        Ok(())
    }

    /// Attaches a sampler to a server.
    fn sampling(&self, member: usize, event: ProfileEvent) -> Result<Sampling, SutError> {
        let member = &self.fleet.members[member];
        let fork = self.place.fork.to_string();
        let parts = [self.place.group, &self.named.name, &member.variant.name, event.name(), &fork].map(file_name);
        let pid = member.host.pid().ok_or_else(elsewhere)?;
        Sampling::begin(pid, event, self.trial.yard.profiles, &parts.join("-"))
    }

    fn fault(&mut self, member: usize, error: &SutError) -> Result<(), RunError> {
        let event = EventRecord::new(EventLevel::Warning, "not profiled", error.to_string());
        let variant = &self.fleet.members[member].variant.name;
        self.journal.event(located(event, &self.place, variant, Some(&self.named.name)))
    }
}

/// What the sampler saw of a slice.
fn profile_record(event: ProfileEvent, sampled: Sampled, offered_per_s: f64, slice: &SliceRecord) -> ProfileRecord {
    let (span_ns, requests, cpu_ns) = match &slice.server.cpu {
        Some(cpu) => (cpu.wall_ns, cpu.requests, Some(cpu.total_ns)),
        None => (slice.load.window_ns, slice.load.ok, None),
    };
    ProfileRecord {
        fork: slice.key.fork,
        group: slice.key.group.clone(),
        scenario: slice.key.scenario.clone(),
        variant: slice.key.variant.clone(),
        event,
        sampler: sampled.sampler,
        span_ns,
        offered_per_s,
        requests,
        cpu_ns,
        file: sampled.file.file_name().map(|name| name.to_string_lossy().into_owned()),
        weight: sampled.weight,
        stacks: PackedText::pack(&sampled.stacks),
    }
}

fn elsewhere() -> SutError {
    SutError::Sampler {
        doing: "profile a server that runs elsewhere".to_owned(),
        said: "its process cannot be seen".to_owned(),
        remedy: "let tare start it, with a command in a suite file".to_owned(),
    }
}
