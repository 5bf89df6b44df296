//! One scenario on the servers of one fork: what every slice of it needs, and what happens to a slice once it is over.

pub(crate) mod alternating_round;
pub(crate) mod capacity;
pub(crate) mod latency;
pub(crate) mod profiled;
pub(crate) mod push;
pub(crate) mod readings;
pub(crate) mod rounds;
pub(crate) mod warmup;

use tare_load::{ErrorClass, SliceSample};
use tare_plan::contract::{MayDiffer, may_differ_line};
use tare_plan::plan::{NamedScenario, Plan, SliceKind};
use tare_plan::turn::Turns;
use tare_record::checkpoint::SharedLoad;
use tare_record::{
    ErrorTallies, EventKind, EventRecord, IdleSpan, KnownStops, LatencyParts, Pause, PauseCause, Phase, ServerUse,
    SliceKey, StoredSlice, WarmupRecord, silences,
};
use tare_units::{Unit, single};

use crate::context::RunContext;
use crate::error::RunError;
use crate::progress::{Progress, RunPosition};
use crate::scenario::readings::per_request;
use crate::schedule::random_orders::RandomOrders;
use crate::servers::{ForkServers, ServerState};
use crate::test_bed::DriveStage;
use crate::test_bed::slice::{SliceLoad, count_whole_if_slow, has_answered_if_asked};

/// Drives the servers of one fork under one scenario. Methods name a server by its index among the members.
pub(crate) struct ScenarioRun<'s, 'a> {
    pub context: &'s mut RunContext<'a>,
    pub servers: &'s mut ForkServers<'a>,
    pub named: &'s NamedScenario,
    pub place: RunPosition<'s>,
}

/// The stalls of the machine that the meters saw, where the plan asks for them.
fn machine_stalls(readings: &ServerUse) -> Vec<IdleSpan> {
    let pauses = readings.hiccups.iter().flat_map(|hiccups| &hiccups.pauses);
    let stall = |pause: &Pause| IdleSpan { begin_ns: pause.at_ns, end_ns: pause.at_ns + pause.length_ns };
    pauses.filter(|pause| pause.cause == PauseCause::Machine).map(stall).collect()
}

impl<'s, 'a> ScenarioRun<'s, 'a> {
    /// Prepares the load of every server; nothing is sent yet.
    pub fn open(
        context: &'s mut RunContext<'a>,
        servers: &'s mut ForkServers<'a>,
        named: &'s NamedScenario,
    ) -> Result<Self, RunError> {
        let place = servers.place;
        let agreed = context.baseline_answers.agreed(place.group, &named.name);
        context.bed.open_sessions(&servers.ids(), named, agreed)?;
        Ok(Self { context, servers, named, place })
    }

    pub fn close(self) {
        self.context.bed.close_sessions();
    }

    pub fn plan(&self) -> &'a Plan {
        self.context.plan
    }

    /// Number of servers, those that get no load included.
    pub fn members(&self) -> usize {
        self.servers.members.len()
    }

    pub fn server_state(&self, member: usize) -> &ServerState<'a> {
        &self.servers.members[member]
    }

    /// Users of a slice: those of the plan, as far as there are connections, and one for each worker of the generator.
    pub fn users(&self) -> u32 {
        let plan = self.plan();
        plan.load.users.min(plan.connections(&self.named.scenario)).max(self.context.bed.least_users())
    }

    pub fn may_drive(&self, member: usize) -> bool {
        self.server_state(member).is_healthy() && !self.context.bed.is_interrupted()
    }

    /// Random orders of this fork and scenario; each `purpose` has its own.
    pub fn random_orders(&self, purpose: &str) -> RandomOrders {
        self.context.random_orders(&[purpose, self.place.group, &self.named.name, &self.place.fork.to_string()])
    }

    /// A scored slice with the settings of the plan.
    pub fn load(&self, kind: SliceKind, round: u32, rate_per_s: f64) -> SliceLoad {
        let plan = self.plan();
        SliceLoad {
            kind,
            phase: Phase::Measure,
            round,
            users: self.users(),
            rate_per_s,
            length: plan.slices.length.0,
            discard: plan.slices.discard.0,
            // The same arrivals for all variants of a round, others in the next.
            seed: plan.seed ^ (u64::from(self.place.fork) << 32) ^ u64::from(round),
            sending: self.context.cores.sending_mode(kind, plan.load.spin),
        }
    }

    /// What the first fork that measured this scenario has fixed for all.
    pub fn shared_load(&mut self) -> Option<&mut SharedLoad> {
        let (group, scenario) = (self.place.group, &self.named.name);
        self.context.checkpoint.loads.iter_mut().find(|load| load.group == group && load.scenario == *scenario)
    }

    /// Tells the observer how the comparisons stand by what has been measured so far.
    pub fn show_standings(&mut self) {
        if self.context.bed.is_interrupted() {
            return;
        }
        let mut standings = self.context.standings(self.place.group);
        standings.retain(|standing| standing.scenario == self.named.name);
        self.context.journal.show(&Progress::Standing { place: self.place, standings: &standings });
    }

    /// Tells the observer what is done in this scenario, in words.
    pub fn show(&mut self, text: &str) {
        let text = format!("{}  {text}", self.named.name);
        self.context.show_step(self.place, &text);
    }

    /// Tells the observer of the scored slice to come: its number (1-based), of how many.
    pub fn announce(&mut self, member: usize, kind: SliceKind, (slice, slices): (u32, u32)) {
        let load = match kind {
            SliceKind::Saturating => "all users  slice",
            SliceKind::Push => "pushed to all users  slice",
            SliceKind::Capacity => "a try  slice",
            SliceKind::Fixed => "fixed rate  slice",
            SliceKind::Poisson => "latency  window",
        };
        let variant = &self.server_state(member).variant.name;
        let rate = self.last_rate(member, kind).map_or(String::new(), |rate| format!("  {rate}"));
        self.show(&format!("{variant}  {load} {slice}/{slices}{rate}"));
    }

    /// Tells the observer of the round of turns to come: its number among the slices (1-based), of how many.
    pub fn announce_round(&mut self, turns: Turns, (slice, slices): (u32, u32)) {
        let of_server = |member| {
            let rate = self.last_rate(member, SliceKind::Saturating)?;
            Some(format!("  {} {rate}", self.server_state(member).variant.name))
        };
        let rates: String = (0..self.members()).filter_map(of_server).collect();
        let turn = turns.length.as_millis();
        self.show(&format!("slice {slice}/{slices}  servers alternate every {turn} ms{rates}"));
    }

    /// The slices of one server in this fork and scenario so far, the last one first.
    pub fn slices_of(&self, member: usize) -> impl Iterator<Item = &StoredSlice> {
        let variant = &self.server_state(member).variant.name;
        let here = (self.place.fork, self.place.group, &self.named.name);
        let is_here = move |slice: &&StoredSlice| (slice.key.fork, &*slice.key.group, &slice.key.scenario) == here;
        let slices = self.context.journal.record().slices.iter().rev().take_while(is_here);
        slices.filter(|slice| slice.key.variant == *variant)
    }

    /// Throughput of the last scored slice of the same server and kind in this fork and scenario.
    fn last_rate(&self, member: usize, kind: SliceKind) -> Option<String> {
        let is_alike = |slice: &&StoredSlice| slice.key.phase == Phase::Measure && slice.key.kind == kind;
        self.slices_of(member).find(is_alike).map(|slice| single(Unit::PerSecond, slice.load.throughput_per_s()))
    }

    /// Measures one slice and keeps it, even if it was cut short.
    pub fn measure_slice(&mut self, member: usize, load: &SliceLoad) -> Result<&StoredSlice, RunError> {
        let slice = self.measure(member, load)?;
        self.keep_slice(member, slice)
    }

    /// Measures one slice and keeps it, unless it was cut short: the others of its round are longer.
    pub fn measure_whole_slice(&mut self, member: usize, load: &SliceLoad) -> Result<Option<&StoredSlice>, RunError> {
        let slice = self.measure(member, load)?;
        if self.context.bed.is_interrupted() {
            return Ok(None);
        }
        self.keep_slice(member, slice).map(Some)
    }

    /// Drives one slice between two readings of the server's probes; the record does not have it yet.
    pub fn measure(&mut self, member: usize, load: &SliceLoad) -> Result<StoredSlice, RunError> {
        let id = self.server_state(member).id;
        self.context.bed.begin_watch(&[id], load.phase);
        let mut sample = self.drive_load(member, load)?;
        if load.kind == SliceKind::Saturating {
            count_whole_if_slow(&mut sample, load.users, self.context.bed.elapsed_ns());
        }
        let readings = self.context.bed.end_watch(sample.window_start_ns());
        let mut readings = readings.into_iter().next().unwrap_or_default();
        let told = std::mem::take(&mut readings.stops);
        readings.stops_are_seen = told == KnownStops::Untold && !sample.trace.is_empty();
        let stops = match told {
            KnownStops::Untold => Some(silences(&sample.trace, 0)),
            KnownStops::Spans(stops) => Some(stops),
            KnownStops::Unreadable => {
                self.report_unreadable_stops(member)?;
                None
            }
        };
        let stops = stops.filter(|_| !sample.trace.is_empty());
        readings.parts = stops.and_then(|stops| LatencyParts::of(&sample, &stops, &machine_stalls(&readings)));
        sample.trace = Vec::new();
        Ok(self.slice_record(member, load, sample, readings))
    }

    /// Records once that the stops of a server are not known.
    fn report_unreadable_stops(&mut self, member: usize) -> Result<(), RunError> {
        let variant = Some(self.server_state(member).variant.name.clone());
        let event = EventRecord::new(EventKind::stops_unreadable());
        let (group, fork) = (Some(self.place.group.to_owned()), Some(self.place.fork));
        self.context.record_new_event(EventRecord { group, fork, variant, ..event })
    }

    pub fn last_slices(&self, count: usize) -> &[StoredSlice] {
        let slices = &self.context.journal.record().slices;
        &slices[slices.len() - count..]
    }

    /// Drives one turn of load, and shows how far its connections are.
    pub fn drive_load(&mut self, member: usize, load: &SliceLoad) -> Result<SliceSample, RunError> {
        let ServerState { id, variant, .. } = self.servers.members[member];
        let (place, scenario) = (self.place, &*self.named.name);
        let RunContext { bed, journal, .. } = &mut *self.context;
        let mut disturbances = Vec::new();
        let sample = bed.drive(id, load, &mut |stage| match stage {
            DriveStage::Opening(opening) => {
                journal.show(&Progress::Opening(place, &format!("{scenario}  {}  {opening}", variant.name)));
            }
            DriveStage::Begun => journal.show(&Progress::Begun),
            DriveStage::Disturbed(kind) => disturbances.push(EventRecord::new(kind)),
        })?;
        disturbances.into_iter().try_for_each(|event| self.context.record_event(event))?;
        Ok(SliceSample { least_users: self.context.bed.least_users(), ..sample })
    }

    pub fn slice_record(
        &self,
        member: usize,
        load: &SliceLoad,
        sample: SliceSample,
        readings: ServerUse,
    ) -> StoredSlice {
        let variant = self.server_state(member).variant;
        let key = SliceKey {
            fork: self.place.fork,
            group: self.place.group.to_owned(),
            scenario: self.named.name.clone(),
            variant: variant.name.clone(),
            phase: load.phase,
            kind: load.kind,
            round: load.round,
            users: load.users,
            offered_per_s: (load.rate_per_s > 0.0).then_some(load.rate_per_s),
        };
        let server = per_request(readings, variant, &sample);
        StoredSlice::new(key, sample, server)
    }

    /// Keeps a slice, and looks whether the server may get another.
    pub fn keep_slice(&mut self, member: usize, slice: StoredSlice) -> Result<&StoredSlice, RunError> {
        // A slice that was cut short may have been too short for an answer.
        let has_answered = has_answered_if_asked(&slice) || self.context.bed.is_interrupted();
        let failure = (!has_answered).then(|| self.what_failed(&slice.load.errors));
        let at = self.context.journal.record().slices.len();
        self.context.journal.append_slice(slice)?;
        self.servers.check_health(self.context, member, failure, &self.named.name)?;
        Ok(&self.context.journal.record().slices[at])
    }

    /// What was wrong with most answers of a slice. A body that changes long after the verification is seen only here.
    fn what_failed(&self, errors: &ErrorTallies) -> String {
        let most = errors.iter().max_by_key(|(_, tally)| tally.count);
        let Some((class, tally)) = most else { return String::new() };
        if class != ErrorClass::Validation || !self.named.scenario.compares_answers() {
            return tally.example.clone();
        }
        let line = may_differ_line(&[MayDiffer::Body]);
        format!(
            "{}. The baseline answered otherwise when it was verified; if the body may change, write in [scenarios.{}]: {line}",
            tally.example, self.named.name
        )
    }

    /// Records that a server has warmed up for `span_ns`, and why it is not steady, if it is not.
    pub fn record_warmup(&mut self, member: usize, span_ns: u64, unsteady: Option<String>) -> Result<(), RunError> {
        let warmup = WarmupRecord {
            fork: self.place.fork,
            group: self.place.group.to_owned(),
            scenario: self.named.name.clone(),
            variant: self.server_state(member).variant.name.clone(),
            span_ns,
            steady: unsteady.is_none(),
            reason: unsteady.unwrap_or_default(),
        };
        self.context.journal.append_warmup(warmup)
    }
}
