//! The coordinator: starts the agents, gives each its share, starts them all at one instant, and merges what they report.

use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use tare_agent::{
    AgentPhase, Assignment, Begin, Fleet, FleetAgent, Hello, InputFile, OrderKind, PROTOCOL, Ping, Prepare, Stop,
};
use tare_load::{Cancel, Opening, SliceSample, Watched};
use tare_sys::affinity::CpuSet;
use tare_sys::clock::{self, Nanos};

use crate::agents::link::{AgentLink, Heard};
use crate::agents::place::AgentPlace;
use crate::agents::ssh::{Program, SshHost};
use crate::error::RunError;
use crate::load::LoadJob;
use crate::load::fleet_record::{agent_records, equipment_of, loss_events};
use crate::load::source::{Equipment, LoadSource, MadeLoad, Observed};

/// How often a waiting coordinator looks for silent agents and for Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How often each agent is pinged.
const PING_EVERY: Duration = Duration::from_secs(1);
/// Pings before the start, from which the offsets of clocks are known.
const CLOCK_PINGS: usize = 16;
/// Time from the order to begin to the start, in addition to a round trip.
const START_MARGIN: Duration = Duration::from_millis(20);
/// The longest time between two samples.
const LONGEST_PERIOD: Duration = Duration::from_secs(1);

/// What the agents of a load are told.
#[derive(Debug)]
pub struct FleetOrder<'a> {
    /// Where they run.
    pub places: &'a [AgentPlace],
    /// The command line of the load.
    pub command: Vec<String>,
    /// The files that it names.
    pub files: Vec<InputFile>,
}

/// Agents that make a load together.
#[derive(Debug)]
pub struct AgentFleet {
    pub(super) fleet: Fleet,
    links: Vec<AgentLink>,
    inbox: Receiver<Heard>,
    next_ping: Nanos,
    pings: u64,
}

impl AgentFleet {
    /// Starts the agents and waits until each has understood its assignment. Copies the program to hosts that lack it.
    ///
    /// # Errors
    /// When an agent cannot do its share: which one, why, and what to do.
    pub fn start(order: &FleetOrder<'_>, job: &LoadJob, cancel: &Cancel) -> Result<Self, RunError> {
        let names = AgentPlace::agent_names(order.places);
        if (job.plan.connections as usize) < names.len() {
            let (agents, connections) = (names.len(), job.plan.connections);
            let message = format!("{connections} connections are too few for {agents} agents; give each at least one");
            return Err(RunError::Plan { key: format!("-c {connections}"), message });
        }
        let here = |error: std::io::Error| RunError::Agent { agent: names[0].clone(), reason: error.to_string() };
        let is_copied = order.places.iter().any(|place| matches!(place, AgentPlace::Ssh { .. }));
        let program = Program::of_this_process(is_copied).map_err(here)?;
        bring_program(order.places, &program)?;
        let (heard, inbox) = channel();
        let mut links = Vec::with_capacity(names.len());
        for (agent, mut command) in commands(order.places, &program).into_iter().enumerate() {
            let failed =
                |error: std::io::Error| RunError::Agent { agent: names[agent].clone(), reason: error.to_string() };
            links.push(AgentLink::start(agent, &mut command, &heard).map_err(failed)?);
        }
        let cores = cores_of_agents(order.places, &job.session.cpus);
        let assignment = |(agent, load_cpus): (usize, String)| Assignment {
            command: order.command.clone(),
            files: order.files.clone(),
            agent: agent as u32,
            agents: names.len() as u32,
            seed: job.plan.seed,
            load_cpus,
            every_ns: job.plan.interval.0.min(LONGEST_PERIOD).as_nanos() as u64,
        };
        let assignments = cores.into_iter().enumerate().map(assignment).collect();
        Self::over(names.clone(), links, inbox, assignments, cancel)
    }

    /// Greets the agents behind these links and gives each its assignment.
    pub(super) fn over(
        names: Vec<String>,
        links: Vec<AgentLink>,
        inbox: Receiver<Heard>,
        assignments: Vec<Assignment>,
        cancel: &Cancel,
    ) -> Result<Self, RunError> {
        let now = clock::now();
        let fleet = Fleet::new(names, now.0, clock::wall_clock_epoch().unix_ns);
        let mut this = Self { fleet, links, inbox, next_ping: now + PING_EVERY, pings: 0 };
        for (link, assignment) in this.links.iter().zip(assignments) {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            link.send(OrderKind::Hello(Hello { protocol: PROTOCOL, version }));
            link.send(OrderKind::Assign(assignment));
        }
        this.wait_for_all(cancel, |agent| agent.phase == AgentPhase::Equipped, &mut |_| {})?;
        Ok(this)
    }

    /// All agents, lost ones too.
    pub fn agents(&self) -> &[FleetAgent] {
        self.fleet.agents()
    }

    fn send_to_all(&self, order: &OrderKind) {
        self.links.iter().for_each(|link| link.send(order.clone()));
    }

    /// Before the start, a fleet is whole: waits until `is_done` holds for each agent, or until `cancel`.
    fn wait_for_all(
        &mut self,
        cancel: &Cancel,
        is_done: fn(&FleetAgent) -> bool,
        observe: &mut dyn FnMut(&Fleet),
    ) -> Result<(), RunError> {
        while !self.fleet.agents().iter().all(is_done) && !cancel.is_cancelled() {
            self.hear();
            for agent in self.fleet.agents() {
                if let AgentPhase::Lost { reason, .. } = &agent.phase {
                    return Err(RunError::Agent { agent: agent.name.clone(), reason: reason.clone() });
                }
            }
            observe(&self.fleet);
        }
        Ok(())
    }

    /// Takes what was said, for a moment; pings, and gives up who is silent.
    fn hear(&mut self) {
        match self.inbox.recv_timeout(LOOK_EVERY) {
            Ok(heard) => self.take(heard),
            Err(RecvTimeoutError::Timeout) => {}
            // All agents are over.
            Err(RecvTimeoutError::Disconnected) => std::thread::park_timeout(LOOK_EVERY),
        }
        while let Ok(heard) = self.inbox.try_recv() {
            self.take(heard);
        }
        let now = clock::now();
        if now >= self.next_ping {
            self.ping_all();
            self.next_ping = now + PING_EVERY;
        }
        self.fleet.lose_silent(now.0);
        for (agent, link) in self.fleet.agents().iter().zip(&mut self.links) {
            if agent.is_lost() {
                link.end();
            }
        }
    }

    fn take(&mut self, heard: Heard) {
        match heard.said {
            Ok(report) => self.fleet.take(heard.agent, report, heard.at.0),
            Err(reason) => self.fleet.lose(heard.agent, &reason, heard.at.0),
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
        let mut told = (0, 0);
        self.send_to_all(&OrderKind::Prepare(Prepare {}));
        self.wait_for_all(cancel, |agent| agent.phase == AgentPhase::Ready, &mut |fleet| {
            let sum = |of: fn(&FleetAgent) -> u64| fleet.agents().iter().map(of).sum::<u64>() as usize;
            let opening = (sum(|agent| agent.opening.open), sum(|agent| agent.opening.of));
            if opening != told {
                told = opening;
                let elapsed = Duration::from_nanos(clock::now().since(begin));
                let opening = Opening { open: opening.0, of: opening.1, elapsed };
                observer(Observed::Load(Watched::Opening(opening)));
            }
        })
    }

    /// Measures the clocks of all agents, and tells each when to start by its own. `None` after `cancel`.
    fn begin(&mut self, cancel: &Cancel) -> Result<Option<Nanos>, RunError> {
        for _ in 0..CLOCK_PINGS {
            self.ping_all();
            self.wait_for_all(cancel, |agent| !agent.owes_answer(), &mut |_| {})?;
        }
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let round_trips = self.fleet.agents().iter().filter_map(|agent| Some(agent.offset?.round_trip_ns));
        let start = clock::now() + START_MARGIN + Duration::from_nanos(round_trips.max().unwrap_or(0));
        for (agent, link) in self.fleet.agents().iter().zip(&self.links) {
            if let Some(offset) = &agent.offset {
                link.send(OrderKind::Begin(Begin { start_ns: offset.on_agent(start.0) }));
            }
        }
        self.fleet.begin(start.0);
        Ok(Some(start))
    }

    /// Merges what agents report until all have finished or are lost.
    fn gather(&mut self, start: Nanos, cancel: &Cancel, observer: &mut dyn FnMut(Observed<'_>)) -> SliceSample {
        let mut whole: Option<SliceSample> = None;
        let mut is_stopped = false;
        loop {
            if cancel.is_cancelled() && !is_stopped {
                is_stopped = true;
                self.send_to_all(&OrderKind::Stop(Stop {}));
            }
            while let Some(mut round) = self.fleet.next_round() {
                round.start_ns += start.0;
                observer(Observed::Agents(self.fleet.agents()));
                observer(Observed::Load(Watched::Interval(&round)));
                match &mut whole {
                    None => whole = Some(round),
                    Some(whole) => whole.append(&round),
                }
            }
            if self.fleet.is_over() {
                return whole.unwrap_or_default();
            }
            self.hear();
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
        let mut whole = self.gather(start, cancel, observer);
        let clocks = self.fleet.server_clock();
        (whole.messages.clock, whole.messages.clock_within_ns) = (clocks.clock, clocks.clock_within_ns);
        // Without agents the load has ended before its time.
        whole.cancelled |= cancel.is_cancelled() || self.fleet.left() == 0;
        let agents = agent_records(self.fleet.agents(), start.0);
        let events = loss_events(self.fleet.agents(), start.0, job.slice.schedule.rate_per_s());
        Ok(MadeLoad { whole, agents, events })
    }
}

/// Copies the program to all hosts at the same time.
fn bring_program(places: &[AgentPlace], program: &Program) -> Result<(), RunError> {
    let mut hosts: Vec<&AgentPlace> = Vec::new();
    for place in places.iter().filter(|place| matches!(place, AgentPlace::Ssh { .. })) {
        if !hosts.contains(&place) {
            hosts.push(place);
        }
    }
    let bring = |place: &AgentPlace| match place {
        AgentPlace::Local { .. } => Ok(()),
        AgentPlace::Ssh { destination, port } => {
            SshHost { name: &place.to_string(), destination, port: *port }.bring(program)
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = hosts.iter().map(|place| scope.spawn(|| bring(place))).collect();
        let dead = || RunError::Agent { agent: "ssh".to_owned(), reason: "the copying thread died".to_owned() };
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err(dead())))
    })
}

/// The command of each agent, in order.
fn commands(places: &[AgentPlace], program: &Program) -> Vec<Command> {
    let mut commands = Vec::new();
    for place in places {
        match place {
            AgentPlace::Local { agents } => commands.extend((0..*agents).map(|_| program.command())),
            AgentPlace::Ssh { destination, port } => {
                let host = SshHost { name: &place.to_string(), destination, port: *port };
                commands.push(host.agent(program));
            }
        }
    }
    commands
}

/// The cores of each agent: those on this machine share the cores of the generator, the others decide for themselves.
fn cores_of_agents(places: &[AgentPlace], cpus: &CpuSet) -> Vec<String> {
    let cpus: Vec<usize> = cpus.iter().collect();
    let is_local = places.iter().flat_map(|place| match place {
        AgentPlace::Local { agents } => vec![true; *agents],
        AgentPlace::Ssh { .. } => vec![false],
    });
    let is_local: Vec<bool> = is_local.collect();
    let all = is_local.iter().filter(|local| **local).count();
    let mut taken = 0;
    let mut cores = |local: &bool| {
        if !*local || cpus.is_empty() {
            return String::new();
        }
        let first = taken % cpus.len();
        taken += 1;
        CpuSet::from_indices(cpus.iter().copied().skip(first).step_by(all)).to_string()
    };
    is_local.iter().map(&mut cores).collect()
}

#[cfg(test)]
mod core_tests {
    use super::*;

    #[test]
    fn agents_of_one_machine_share_its_cores() {
        let places = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<AgentPlace>>();
        let cores = |texts: &[&str], cpus: &[usize]| {
            cores_of_agents(&places(texts), &CpuSet::from_indices(cpus.iter().copied()))
        };
        assert_eq!(cores(&["local:2"], &[2, 3, 4, 5]), ["2,4", "3,5"]);
        assert_eq!(cores(&["local:2", "ssh://a"], &[1]), ["1", "1", ""]);
        assert_eq!(cores(&["ssh://a", "local:1"], &[1, 2]), ["", "1-2"]);
    }
}
