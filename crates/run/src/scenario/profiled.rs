//! The profiling part of a fork: each event on each server in turn, under one load for all, with a sampler attached. Nothing
//! of it is scored, and a sampler that fails is an event of the record, not the end of the run.

use tare_plan::plan::SliceKind;
use tare_plan::profile::ProfileEvent;
use tare_record::profile::{PackedText, ProfileRecord};
use tare_record::{EventKind, EventRecord, Phase, StoredSlice};
use tare_sut::SutError;
use tare_sut::sampler::Sampled;

use crate::error::RunError;
use crate::scenario::ScenarioRun;
use crate::scenario::push::listening_load;
use crate::server_host::SamplingOrder;
use crate::test_bed::slice::SliceLoad;
use tare_units::file_name;

/// Profiles every healthy server, all of them warm, at `per_s` requests per second, or while all users listen to so many
/// messages.
pub(crate) fn profile_servers(scenario: &mut ScenarioRun<'_, '_>, per_s: f64) -> Result<(), RunError> {
    let plan = scenario.plan();
    let Some(profile) = &plan.profile else { return Ok(()) };
    let members = scenario.members();
    let turns = profile.events.iter().flat_map(|&event| (0..members).map(move |member| (event, member)));
    let turns = scenario.random_orders("profiles").shuffled(turns);
    let of = turns.len() as u32;
    for (number, (event, member)) in (0..).zip(turns) {
        if !scenario.may_drive(member) {
            continue;
        }
        let variant = &scenario.server_state(member).variant.name;
        scenario.show(&format!("{variant}  profiling {}  {}/{of}", event.name(), number + 1));
        let load = match scenario.named.scenario.push {
            Some(_) => listening_load(scenario, number, plan.slices.length.0),
            None => scenario.load(SliceKind::Fixed, number, per_s),
        };
        let load = SliceLoad { phase: Phase::Profile, ..load };
        profile_slice(scenario, event, member, &load, per_s)?;
    }
    Ok(())
}

/// Drives one slice under a sampler. The record gets its stacks, or why there are none.
fn profile_slice(
    scenario: &mut ScenarioRun<'_, '_>,
    event: ProfileEvent,
    member: usize,
    load: &SliceLoad,
    per_s: f64,
) -> Result<(), RunError> {
    let server = scenario.server_state(member);
    let fork = scenario.place.fork.to_string();
    let parts = [scenario.place.group, &scenario.named.name, &server.variant.name, event.name(), &fork];
    let sampling = SamplingOrder { server: server.id, event, file_name: file_name(&parts) };
    let begun = scenario.context.bed.servers().begin_sampling(&sampling);
    if scenario.context.bed.is_interrupted() {
        return Ok(());
    }
    if let Err(error) = begun {
        report_fault(scenario, member, &error)?;
        // It may have died of the sampler.
        return scenario.servers.check_health(scenario.context, member, None, &scenario.named.name);
    }
    let slice = scenario.measure(member, load)?;
    // To read a recording takes long, and nobody would see this one.
    if scenario.context.bed.is_interrupted() {
        return Ok(());
    }
    let sampled = scenario.context.bed.servers().end_sampling();
    if scenario.context.bed.is_interrupted() {
        return Ok(());
    }
    match sampled {
        Ok(sampled) => scenario.context.journal.append_profile(profile_record(event, sampled, per_s, &slice))?,
        Err(error) => report_fault(scenario, member, &error)?,
    }
    scenario.keep_slice(member, slice)?;
    Ok(())
}

fn report_fault(scenario: &mut ScenarioRun<'_, '_>, member: usize, error: &SutError) -> Result<(), RunError> {
    let event = EventRecord::new(EventKind::ProfileFailed { reason: error.to_string() });
    let variant = &scenario.servers.members[member].variant.name;
    scenario.context.fork_event(event, &scenario.place, Some(variant), Some(&scenario.named.name))
}

fn profile_record(event: ProfileEvent, sampled: Sampled, offered_per_s: f64, slice: &StoredSlice) -> ProfileRecord {
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
