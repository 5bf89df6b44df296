//! The servers of one fork: started side by side in random order, verified, started again after a failure, stopped together.

mod verification;

use std::time::Duration;

use tare_plan::plan::{Program, Variant};
use tare_record::{EventKind, EventLevel, EventRecord, ForkRecord, RESTLESS_SHARE};
use tare_sut::launch::ProgramFacts;
use tare_sut::server::Status;
use tare_sys::affinity::CpuSet;
use tare_units::file_name;

use crate::context::RunContext;
use crate::error::RunError;
use crate::progress::RunPosition;
use crate::server_host::StartFailure;
use crate::servers::verification::{report_header_differences, verify_servers};
use crate::test_bed::{ServerId, ServerStart, TestBed};

/// One look at servers at rest, and the most of them: verification leaves some servers with work for a while.
const REST_PERIOD: Duration = Duration::from_millis(250);
const MOST_REST_PERIODS: u32 = 4;

/// Whether a server may get load, and why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Healthy,
    /// It has not started, or died, stopped or answered nothing in a scenario: the next scenario may start it again.
    Failed,
    /// It broke the contract, or did not start again: no more load in this fork.
    Excluded,
}

#[derive(Debug)]
pub(crate) struct ServerState<'a> {
    pub id: ServerId,
    pub variant: &'a Variant,
    /// Whether it has warmed up for a scenario since its start.
    pub is_warmed: bool,
    startup_ns: u64,
    rest_cpu_share: Option<f64>,
    health: Health,
    /// False once its process was stopped and its start recorded.
    is_started: bool,
    /// Starts of it in this fork after the first.
    restarts: u32,
}

impl<'a> ServerState<'a> {
    const fn to_start(id: ServerId, variant: &'a Variant, restarts: u32) -> Self {
        let (startup_ns, rest_cpu_share, health) = (0, None, Health::Failed);
        Self { id, variant, is_warmed: false, startup_ns, rest_cpu_share, health, is_started: false, restarts }
    }

    pub fn is_healthy(&self) -> bool {
        self.health == Health::Healthy
    }

    fn exclude_unless(&mut self, keeps_contract: bool) {
        if !keeps_contract {
            self.health = Health::Excluded;
        }
    }
}

/// The started servers of one fork, in the order of the plan. Methods name one by its index in `members`.
#[derive(Debug)]
pub(crate) struct ForkServers<'a> {
    pub members: Vec<ServerState<'a>>,
    /// Which fork it is.
    pub place: RunPosition<'a>,
}

impl<'a> ForkServers<'a> {
    /// Starts those of `variants` that this machine can run. A server that does not start is an event.
    pub fn start(
        context: &mut RunContext<'a>,
        variants: impl IntoIterator<Item = &'a Variant>,
        place: RunPosition<'a>,
    ) -> Result<Self, RunError> {
        let variants = variants.into_iter().enumerate().map(|(at, variant)| (ServerId(at), variant));
        let shuffled = context.random_orders(&["start", place.group, &place.fork.to_string()]).shuffled(variants);
        let can_start = |(_, variant): &(ServerId, &Variant)| context.bed.unavailable_reason(variant).is_none();
        let wanted = shuffled.into_iter().filter(can_start);
        let wanted: Vec<_> = wanted.map(|(id, variant)| ServerState::to_start(id, variant, 0)).collect();
        if !wanted.is_empty() {
            show_start(context, place, wanted.len());
        }
        let mut members = start_batch(context, wanted, &place)?;
        members.sort_by_key(|member| member.id);
        Ok(Self { members, place })
    }

    /// Holds the answers of every healthy server against its contract and the baseline. One that differs gets no load.
    pub fn verify(&mut self, context: &mut RunContext<'_>, scenarios: &[&str]) -> Result<(), RunError> {
        let place = self.place;
        context.show_step(place, "verifying the answers");
        let healthy: Vec<_> = self.members.iter_mut().filter(|member| member.is_healthy()).collect();
        let servers: Vec<_> = healthy.iter().map(|member| (member.id, member.variant)).collect();
        let all = verify_servers(context, &servers, scenarios, &place)?;
        for (member, outcomes) in healthy.into_iter().zip(&all) {
            member.exclude_unless(outcomes.iter().all(|outcome| outcome.passed));
        }
        if place.fork == 1 {
            let variants = servers.iter().map(|(_, variant)| *variant);
            report_header_differences(context, &variants.zip(all).collect::<Vec<_>>(), &place)?;
        }
        Ok(())
    }

    /// Reads what the servers use at rest. Compiling and collecting after the verification do not count.
    pub fn observe_rest(&mut self, context: &mut RunContext<'_>) {
        let ids = self.ids();
        let is_restless = |member: &ServerState<'_>| member.rest_cpu_share.is_some_and(|share| share > RESTLESS_SHARE);
        for _ in 0..MOST_REST_PERIODS {
            let shares = context.bed.servers().observe_rest(&ids, REST_PERIOD);
            for (member, share) in self.members.iter_mut().zip(shares) {
                member.rest_cpu_share = share.map(|used| member.rest_cpu_share.map_or(used, |least| least.min(used)));
            }
            if !self.members.iter().any(is_restless) {
                break;
            }
        }
    }

    /// Starts every server again that failed in the scenario before, and verifies it. The death stays on record; the
    /// new start counts from scenario `next` on. One that runs elsewhere is only verified again.
    pub fn restart_failed(
        &mut self,
        context: &mut RunContext<'a>,
        scenarios: &[&str],
        next: &str,
    ) -> Result<(), RunError> {
        let place = self.place;
        let has_failed = |member: &ServerState<'_>| member.health == Health::Failed;
        let failed = self.members.iter().filter(|member| has_failed(member));
        let wanted: Vec<_> =
            failed.map(|member| ServerState::to_start(member.id, member.variant, member.restarts + 1)).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        show_start(context, place, wanted.len());
        self.stop_members(context, has_failed)?;
        self.members.iter_mut().for_each(|member| member.exclude_unless(!has_failed(member)));
        for started in start_batch(context, wanted, &place)? {
            let Some(member) = self.members.iter_mut().find(|member| member.id == started.id) else { continue };
            *member = started;
            let all = verify_servers(context, &[(member.id, member.variant)], scenarios, &place)?;
            member.exclude_unless(all.iter().flatten().all(|outcome| outcome.passed));
            let is_ours = !matches!(member.variant.program, Program::External { .. });
            if is_ours && member.is_healthy() {
                let event = EventRecord::new(EventKind::ServerRestarted);
                context.fork_event(event, &place, Some(&member.variant.name), Some(next))?;
            }
        }
        Ok(())
    }

    pub fn move_to(&self, bed: &mut dyn TestBed, cpus: &CpuSet) {
        for member in self.members.iter().filter(|member| member.is_healthy()) {
            bed.servers().move_to(member.id, cpus);
        }
    }

    pub fn healthy(&self) -> usize {
        self.members.iter().filter(|member| member.is_healthy()).count()
    }

    /// Whether all that may get load have warmed up for a scenario before.
    pub fn are_warmed(&self) -> bool {
        self.members.iter().filter(|member| member.is_healthy()).all(|member| member.is_warmed)
    }

    /// The servers whose process was started and not stopped.
    pub fn ids(&self) -> Vec<ServerId> {
        self.members.iter().filter(|member| member.is_started).map(|member| member.id).collect()
    }

    /// Looks whether a server still runs. An event says if not, or what was wrong (`failure`) where a slice got no
    /// right answer; then it gets no more load in this scenario.
    pub fn check_health(
        &mut self,
        context: &mut RunContext<'_>,
        member: usize,
        failure: Option<String>,
        scenario: &str,
    ) -> Result<(), RunError> {
        let member = &mut self.members[member];
        let down = why_down(context.bed.servers().status(member.id));
        let Some(kind) = down.or_else(|| failure.map(|failure| EventKind::NoAnswers { failure })) else {
            return Ok(());
        };
        member.health = Health::Failed;
        let failed = EventRecord { log: context.bed.servers().log_tail(member.id), ..EventRecord::new(kind) };
        context.fork_event(failed, &self.place, Some(&member.variant.name), Some(scenario))
    }

    /// Stops all and records how each ended.
    pub fn stop(mut self, context: &mut RunContext<'_>) -> Result<(), RunError> {
        self.stop_members(context, |member| member.is_started)
    }

    fn stop_members(
        &mut self,
        context: &mut RunContext<'_>,
        is_wanted: impl Fn(&ServerState<'_>) -> bool,
    ) -> Result<(), RunError> {
        let members: Vec<_> = self.members.iter_mut().filter(|member| is_wanted(member)).collect();
        let ids: Vec<ServerId> = members.iter().map(|member| member.id).collect();
        for (member, end) in members.into_iter().zip(context.bed.servers().stop(&ids)) {
            member.is_started = false;
            let facts = context.bed.program_facts(member.variant)?;
            context.journal.append_fork(fork_record(&self.place, member, facts, end))?;
        }
        Ok(())
    }
}

/// Why a server cannot answer; `None` for one that runs.
fn why_down(status: Status) -> Option<EventKind> {
    let ended = |end| Some(EventKind::ServerEnded { end });
    match status {
        Status::Exited(end) => ended(end.to_string()),
        Status::UpstreamExited { server, how } => ended(format!("{server} behind it ended: {how}")),
        Status::Stopped => Some(EventKind::ServerSuspended),
        Status::Running => None,
    }
}

/// Says which of `variants` this machine cannot run, and why.
pub(crate) fn report_unavailable<'v>(
    context: &mut RunContext<'_>,
    variants: impl IntoIterator<Item = &'v Variant>,
    group: &str,
) -> Result<(), RunError> {
    for variant in variants {
        let Some(reason) = context.bed.unavailable_reason(variant) else { continue };
        context.record_new_event(EventRecord {
            group: Some(group.to_owned()),
            variant: Some(variant.name.clone()),
            ..EventRecord::new(EventKind::ServerUnavailable { reason })
        })?;
    }
    Ok(())
}

fn show_start(context: &mut RunContext<'_>, place: RunPosition<'_>, servers: usize) {
    let what = if servers == 1 { place.group.to_owned() } else { format!("{servers} servers") };
    context.show_step(place, &format!("starting {what}"));
}

/// Starts servers side by side on the cores of the warm-up. Returns the ready ones.
fn start_batch<'a>(
    context: &mut RunContext<'a>,
    wanted: Vec<ServerState<'a>>,
    place: &RunPosition<'_>,
) -> Result<Vec<ServerState<'a>>, RunError> {
    let start = |&ServerState { id, variant, restarts, .. }: &ServerState<'a>| {
        let again = if restarts == 0 { String::new() } else { format!("-restart{restarts}") };
        let log_name = format!("{}{again}.log", file_name(&[place.group, &variant.name, &place.step.to_string()]));
        ServerStart { id, variant, log_name }
    };
    let starts: Vec<_> = wanted.iter().map(start).collect();
    let results = context.bed.start(&starts, &context.cores.warmup)?;
    context.note_changed_program()?;
    let mut ready = Vec::new();
    for (server, result) in wanted.into_iter().zip(results) {
        match result {
            Ok(startup_ns) => {
                ready.push(ServerState { startup_ns, health: Health::Healthy, is_started: true, ..server });
            }
            Err(failure) if failure.is_cancelled => {}
            Err(failure) => report_failed_start(context, &server, &failure, place)?,
        }
    }
    Ok(ready)
}

fn report_failed_start(
    context: &mut RunContext<'_>,
    server: &ServerState<'_>,
    failure: &StartFailure,
    place: &RunPosition<'_>,
) -> Result<(), RunError> {
    let (text, log) = failure.text.split_once('\n').unwrap_or((&failure.text, ""));
    let reason = text.trim_end_matches(':').to_owned();
    let log = Some(log.to_owned()).filter(|log| !log.is_empty());
    let mut failed = EventRecord { log, ..EventRecord::new(EventKind::ServerNotStarted { reason }) };
    if failure.is_port_lost {
        // Another program's doing: this start does not count, and all others do.
        (failed.voids, failed.level) = (false, EventLevel::Warning);
    }
    context.fork_event(failed, place, Some(&server.variant.name), None)?;
    let command = context.bed.program_facts(server.variant)?.command;
    let facts = ProgramFacts { command, ..ProgramFacts::default() };
    context.journal.append_fork(fork_record(place, server, facts, "did not start".to_owned()))
}

/// The record of a start, also of one that failed.
fn fork_record(place: &RunPosition<'_>, server: &ServerState<'_>, facts: ProgramFacts, end: String) -> ForkRecord {
    ForkRecord {
        fork: place.fork,
        group: place.group.to_owned(),
        variant: server.variant.name.clone(),
        command: facts.command,
        startup_ns: server.startup_ns,
        resolved: facts.resolved,
        rest_cpu_share: server.rest_cpu_share,
        end,
        healthy: server.is_healthy(),
    }
}
