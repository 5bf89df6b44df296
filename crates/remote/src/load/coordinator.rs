//! The coordinator: starts the agents, gives each its share, starts them all at one instant, and merges what they report.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::{
    AgentPhase, Assignment, Begin, Fleet, FleetAgent, Hello, InputFile, OrderKind, PROTOCOL, Ping, Prepare, Stop,
};
use tare_load::{Cancel, Opening, SliceSample, Watched};
use tare_plan::LoadPlan;
use tare_plan::load_plan::LoadStop;
use tare_sys::clock::{self, Nanos};

use super::fleet_record::{agent_records, equipment_of, loss_events};
use crate::link::kubernetes::AgentJob;
use crate::link::pipes::{AgentLink, AgentMessage, message_channel};
use crate::link::starting::{AgentCores, AgentsOrder, PodOrder, StartedAgents, start_agents};
use tare_plan::agent_place::AgentPlace;
use tare_run::RunError;
use tare_run::load::{Equipment, LoadJob, LoadSource, MadeLoad, Observed};

/// How often a waiting coordinator looks for silent agents and for Ctrl-C.
const CHECK_EVERY: Duration = Duration::from_millis(50);
/// The most reports that it processes before it checks again.
const REPORTS_AT_ONCE: usize = 256;
/// How often each agent is pinged.
const PING_EVERY: Duration = Duration::from_secs(1);
/// Pings before the start, from which the offsets of clocks are known.
const CLOCK_PINGS: usize = 16;
/// Time from the order to begin until the start, in addition to a round trip.
const START_MARGIN: Duration = Duration::from_millis(20);
/// The longest time between two samples.
const LONGEST_PERIOD: Duration = Duration::from_secs(1);

/// The time for opening all connections, as a multiple of the time limit of one connection.
const OPENING_TIMES: u32 = 12;

/// The notice for users when pods did not get cores of their own.
const SHARED_CORES: &str = "agents in pods share the cores of their nodes with others: the node's kubelet does not give whole \
                            cores to pods (its CPU manager policy is not static)";

/// How a fleet is started.
#[derive(Debug)]
pub struct FleetOrder<'a> {
    /// Where they run.
    pub places: &'a [AgentPlace],
    /// The command line of the load.
    pub command: Vec<String>,
    /// The files that it names.
    pub files: Vec<InputFile>,
    /// How agents in pods are made.
    pub pods: PodOrder,
    /// The load begins with this many agents if no more pods can run; `None` for all.
    pub least: Option<usize>,
}

/// Agents that make a load together.
#[derive(Debug)]
pub struct AgentFleet {
    pub(super) fleet: Fleet,
    links: Vec<AgentLink>,
    /// The jobs of agents in pods. They are removed after the links have ended.
    jobs: Vec<AgentJob>,
    inbox: Receiver<AgentMessage>,
    next_ping: Nanos,
    pings: u64,
}

impl AgentFleet {
    /// Starts the agents and waits until each has understood its assignment. Copies the program to hosts that lack it,
    /// and makes a job for agents in pods. `progress` gets a line for each wait.
    ///
    /// # Errors
    /// When an agent cannot do its share: which one, why, and what to do. Nothing is left behind.
    pub fn start(
        order: &FleetOrder<'_>,
        job: &LoadJob,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, RunError> {
        check_connections(job, order.places.iter().map(AgentPlace::least_agents).sum())?;
        let (messages, inbox) = message_channel();
        let wanted = AgentsOrder {
            places: order.places,
            pods: &order.pods,
            least: order.least,
            longest: longest_load(&job.plan),
            local_cpus: &job.session.cpus,
        };
        let started = start_agents(&wanted, &mut |_| messages.clone(), cancel, progress)?;
        drop(messages);
        let StartedAgents { names, links, cores, jobs } = started;
        let agents = names.len();
        check_connections(job, agents)?;
        let assignment = |(agent, cores): (usize, AgentCores)| Assignment {
            command: order.command.clone(),
            files: order.files.clone(),
            agent: agent as u32,
            agents: agents as u32,
            seed: job.plan.seed,
            load_cpus: cores.load_cpus,
            every_ns: job.plan.interval.0.min(LONGEST_PERIOD).as_nanos() as u64,
            pod_cpus: cores.pod_cpus,
            before_on_node: cores.before_on_node,
        };
        let assignments = cores.into_iter().enumerate().map(assignment).collect();
        // Jobs must not be removed before the links have ended, whatever happens here.
        let mut jobs = jobs;
        let mut this = Self::connect(names, links, inbox, assignments, cancel)?;
        this.jobs.append(&mut jobs);
        let shares_cores = |agent: &FleetAgent| agent.facts.as_ref().is_some_and(|facts| facts.shares_cpus);
        if this.agents().iter().any(shares_cores) {
            progress(SHARED_CORES);
        }
        Ok(this)
    }

    /// Greets the agents behind these links and gives each its assignment.
    pub(super) fn connect(
        names: Vec<String>,
        links: Vec<AgentLink>,
        inbox: Receiver<AgentMessage>,
        assignments: Vec<Assignment>,
        cancel: &Cancel,
    ) -> Result<Self, RunError> {
        let now = clock::now();
        let period_ns = assignments.first().map_or(0, |assignment| assignment.every_ns);
        let fleet = Fleet::new(names, now.0, period_ns, clock::wall_clock_epoch().unix_ns);
        let mut this = Self { fleet, links, jobs: Vec::new(), inbox, next_ping: now + PING_EVERY, pings: 0 };
        for (link, assignment) in this.links.iter().zip(assignments) {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            link.send(OrderKind::Hello(Hello { protocol: PROTOCOL, version }));
            link.send(OrderKind::Assign(assignment));
        }
        this.wait_for_all(cancel, |agent| agent.phase == AgentPhase::Equipped, &mut |_| {})?;
        Ok(this)
    }

    /// Ends all agents, and removes the jobs of those in pods. Returns what could not be removed, and what to do.
    fn end_agents(&mut self) -> Vec<String> {
        self.links.iter_mut().for_each(AgentLink::end);
        self.jobs.iter_mut().filter_map(|job| job.remove().err()).collect()
    }

    /// All agents, lost ones too.
    pub fn agents(&self) -> &[FleetAgent] {
        self.fleet.agents()
    }

    fn send_to_all(&self, order: &OrderKind) {
        self.links.iter().for_each(|link| link.send(order.clone()));
    }

    /// Waits until `is_done` holds for each agent, or until `cancel`. No agent may be lost before the start.
    fn wait_for_all(
        &mut self,
        cancel: &Cancel,
        is_done: fn(&FleetAgent) -> bool,
        observe: &mut dyn FnMut(&Fleet),
    ) -> Result<(), RunError> {
        while !self.fleet.agents().iter().all(is_done) && !cancel.is_cancelled() {
            self.process_messages();
            for agent in self.fleet.agents() {
                if let AgentPhase::Lost { reason, .. } = &agent.phase {
                    return Err(RunError::Agent { agent: agent.name.clone(), reason: reason.clone() });
                }
            }
            observe(&self.fleet);
        }
        Ok(())
    }

    /// Waits for messages for at most [`CHECK_EVERY`] and processes them; then pings the agents and gives up silent ones.
    fn process_messages(&mut self) {
        match self.inbox.recv_timeout(CHECK_EVERY) {
            Ok(message) => self.process_message(message),
            Err(RecvTimeoutError::Timeout) => {}
            // All agents have ended.
            Err(RecvTimeoutError::Disconnected) => std::thread::park_timeout(CHECK_EVERY),
        }
        for _ in 1..REPORTS_AT_ONCE {
            let Ok(message) = self.inbox.try_recv() else { break };
            self.process_message(message);
        }
        let now = clock::now();
        if now >= self.next_ping {
            self.ping_all();
            self.next_ping = now + PING_EVERY;
        }
        self.fleet.mark_silent_lost(now.0);
        for (agent, link) in self.fleet.agents().iter().zip(&mut self.links) {
            if agent.is_lost() {
                link.end();
            }
        }
    }

    fn process_message(&mut self, message: AgentMessage) {
        let AgentMessage { agent, received_at, report } = message;
        match report {
            Ok(report) => self.fleet.process_report(agent, report, received_at.0),
            Err(reason) => self.fleet.mark_lost(agent, &reason, received_at.0),
        }
    }

    fn ping_all(&mut self) {
        self.pings += 1;
        for (agent, link) in self.links.iter().enumerate() {
            self.fleet.note_ping(agent, self.pings, clock::now().0);
            link.send(OrderKind::Ping(Ping { number: self.pings }));
        }
    }

    /// Lets all agents open their connections.
    fn prepare(&mut self, cancel: &Cancel, observer: &mut dyn FnMut(Observed<'_>)) -> Result<(), RunError> {
        let begin = clock::now();
        let mut shown = (0, 0);
        self.send_to_all(&OrderKind::Prepare(Prepare {}));
        self.wait_for_all(cancel, |agent| agent.phase == AgentPhase::Ready, &mut |fleet| {
            let sum = |of: fn(&FleetAgent) -> u64| fleet.agents().iter().map(of).sum::<u64>() as usize;
            let opening = (sum(|agent| agent.opening.open), sum(|agent| agent.opening.of));
            if opening != shown {
                shown = opening;
                let elapsed = Duration::from_nanos(clock::now().since(begin));
                let opening = Opening { open: opening.0, of: opening.1, elapsed };
                observer(Observed::Load(Watched::Opening(opening)));
            }
        })
    }

    /// Measures the clock offsets of all agents, and sends each the start time on its own clock. `None` after `cancel`.
    fn begin(&mut self, cancel: &Cancel) -> Result<Option<Nanos>, RunError> {
        for _ in 0..CLOCK_PINGS {
            self.ping_all();
            self.wait_for_all(cancel, |agent| !agent.awaits_answer(), &mut |_| {})?;
        }
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let round_trips = self.fleet.agents().iter().filter_map(|agent| Some(agent.offset?.round_trip_ns));
        let start = clock::now() + START_MARGIN + Duration::from_nanos(round_trips.max().unwrap_or(0));
        for (agent, link) in self.fleet.agents().iter().zip(&self.links) {
            if let Some(offset) = &agent.offset {
                link.send(OrderKind::Begin(Begin { start_ns: offset.on_agent_clock(start.0) }));
            }
        }
        self.fleet.begin(start.0);
        Ok(Some(start))
    }

    /// Merges the samples of the agents until all have finished or are lost.
    fn merge_reports(&mut self, start: Nanos, cancel: &Cancel, observer: &mut dyn FnMut(Observed<'_>)) -> SliceSample {
        let mut whole: Option<SliceSample> = None;
        let mut is_stopped = false;
        loop {
            if cancel.is_cancelled() && !is_stopped {
                is_stopped = true;
                self.send_to_all(&OrderKind::Stop(Stop {}));
            }
            while let Some(mut round) = self.fleet.next_round() {
                round.start_ns += start.0;
                observer(Observed::Agents(&agent_records(self.fleet.agents(), start.0)));
                observer(Observed::Load(Watched::Interval(&round)));
                match &mut whole {
                    None => whole = Some(round),
                    Some(whole) => whole.append(&round),
                }
            }
            if self.fleet.is_over() {
                return whole.unwrap_or_default();
            }
            self.process_messages();
        }
    }
}

impl LoadSource for AgentFleet {
    fn equipment(&self, _job: &LoadJob) -> Equipment {
        equipment_of(self.fleet.agents())
    }

    /// The length of parts was assigned when the agents were started.
    fn make_load(
        &mut self,
        job: &LoadJob,
        _every: Duration,
        cancel: &Cancel,
        observer: &mut dyn FnMut(Observed<'_>),
    ) -> Result<MadeLoad, RunError> {
        self.prepare(cancel, observer)?;
        observer(Observed::Load(Watched::Begun));
        let Some(start) = self.begin(cancel)? else {
            return Ok(MadeLoad {
                whole: SliceSample { cancelled: true, ..SliceSample::default() },
                ..MadeLoad::default()
            });
        };
        let mut whole = self.merge_reports(start, cancel, observer);
        let clocks = self.fleet.server_clock();
        (whole.messages.clock, whole.messages.clock_within_ns) = (clocks.clock, clocks.clock_within_ns);
        // Without agents the load has ended before its time.
        whole.cancelled |= cancel.is_cancelled() || self.fleet.remaining() == 0;
        let agents = agent_records(self.fleet.agents(), start.0);
        let events = loss_events(self.fleet.agents(), start.0, job.slice.schedule.rate_per_s());
        self.end_agents().iter().for_each(|left| observer(Observed::Notice(left)));
        Ok(MadeLoad { whole, agents, events })
    }
}

/// The longest time from the opening of connections to the last answer.
fn longest_load(plan: &LoadPlan) -> Duration {
    let (LoadStop::Duration { span } | LoadStop::Requests { at_most: span, .. }) = plan.stop;
    plan.connect_timeout.0 * OPENING_TIMES + plan.warmup.0 + span.0 + plan.timeout.0
}

/// Each agent needs a connection.
fn check_connections(job: &LoadJob, agents: usize) -> Result<(), RunError> {
    let connections = job.plan.connections;
    if connections as usize >= agents {
        return Ok(());
    }
    let message = format!("{connections} connections are too few for {agents} agents; give each at least one");
    Err(RunError::Plan { key: format!("-c {connections}"), message })
}

#[cfg(test)]
mod tests;
