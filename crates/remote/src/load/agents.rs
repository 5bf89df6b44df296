//! The agents that make the load of a run. All of them get the order for a turn at once, and their samples are merged.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::{LATE_NS, PackedSample, unpack_sample};
use serde::Serialize;
use tare_load::{Cancel, Share, SliceSample};
use tare_plan::plan::SliceKind;
use tare_record::environment::FactSection;
use tare_record::{EventKind, EventRecord, Phase};
use tare_stats::LatencyHistogram;
use tare_sut::contract::CheckOutcome;
use tare_sys::affinity::CpuSet;
use tare_sys::clock::Nanos;

use super::message::{AgentShare, LoadOrder, LoadReport};
use crate::link::client::{AgentClient, AgentTask, Answer, KeepAlive};
use crate::link::kubernetes::AgentJob;
use crate::link::pipes::{AgentLink, message_channel};
use crate::link::starting::{AgentCores, AgentsOrder, PodOrder, StartedAgents, start_agents};
use tare_plan::agent_place::{AgentPlace, are_elsewhere};
use tare_run::RunError;
use tare_run::load_host::DriveStage;
use tare_run::load_host::SessionOrder;
use tare_run::load_host::SliceLoad;
use tare_run::load_host::{LoadMachines, RunLoad, VerifyOrder};
use tare_run::server_host::ServerId;

/// An agent that begins a turn more than this after another counts as disturbed, in nanoseconds. The network delay of its answer
/// is part of the difference.
const LATE_BEGIN_NS: u64 = 10_000_000;
/// An agent also counts as disturbed if it takes this much longer for a turn than all others, in nanoseconds, and none of its
/// users gets an answer meanwhile.
const STANDSTILL_NS: u64 = 50_000_000;
/// An agent also counts as disturbed if it sends more than this share of an open load late, unless more than this share waited
/// for a connection.
const LATE_SHARE: f64 = 0.01;

/// Agents that make the load of a run together. They end when this is dropped, and when this process ends in any other
/// way.
#[derive(Debug)]
pub struct LoadAgents {
    names: Vec<String>,
    /// Machine and kernel of each.
    facts: Vec<Vec<FactSection>>,
    disturbances: Vec<EventRecord>,
    are_elsewhere: bool,
    /// They keep the pipes of orders open, so they end first.
    pings: Vec<KeepAlive>,
    clients: Mutex<Vec<AgentClient>>,
    /// The jobs of agents in pods. They are removed after the clients are dropped.
    jobs: Vec<AgentJob>,
}

impl LoadAgents {
    /// Starts agents and gives each its share of the load. Copies the program to hosts that lack it, and makes a job for
    /// agents in pods. `local_cpus` are the cores that agents on this machine share; a job ends after `longest`.
    /// `progress` gets a line for each wait.
    ///
    /// # Errors
    /// When an agent cannot be started: which one, why, and what to do. Nothing is left behind.
    pub fn start(
        places: &[AgentPlace],
        pods: &PodOrder,
        least: Option<usize>,
        longest: Duration,
        local_cpus: &CpuSet,
        cancelled: &Arc<AtomicBool>,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, RunError> {
        let order = AgentsOrder { places, pods, least, longest, local_cpus };
        let mut inboxes = Vec::new();
        let mut new_channel = |_| {
            let (messages, inbox) = message_channel();
            inboxes.push(inbox);
            messages
        };
        let StartedAgents { names, links, cores, jobs } =
            start_agents(&order, &mut new_channel, &Cancel::from(Arc::clone(cancelled)), progress)?;
        let client = |(link, inbox): (AgentLink, _)| AgentClient::new(AgentTask::Load, link, inbox);
        let clients: Vec<AgentClient> = links.into_iter().zip(inboxes).map(client).collect();
        Self::connect(names, clients, cores, jobs, are_elsewhere(places))
    }

    /// Exchanges versions with the agents, asks for facts about their machines, and sends each its share.
    pub(super) fn connect(
        names: Vec<String>,
        mut clients: Vec<AgentClient>,
        cores: Vec<AgentCores>,
        jobs: Vec<AgentJob>,
        are_elsewhere: bool,
    ) -> Result<Self, RunError> {
        clients.iter_mut().for_each(AgentClient::send_hello);
        let pings = clients.iter().map(AgentClient::keep_alive).collect();
        let (facts, disturbances) = (Vec::new(), Vec::new());
        // From here on, the clients are dropped before the jobs, whatever fails.
        let mut this = Self { names, facts, disturbances, are_elsewhere, pings, clients: Mutex::new(clients), jobs };
        for (client, name) in this.clients.get_mut().unwrap_or_else(PoisonError::into_inner).iter_mut().zip(&this.names)
        {
            client.wait_for_greeting().map_err(|reason| RunError::Agent { agent: name.clone(), reason })?;
        }
        let described = this.call_all(&LoadOrder::Describe, None)?;
        let shared = this.call_each(&shares(cores), None)?;
        for ((name, described), shared) in this.names.iter().zip(described).zip(shared) {
            let (LoadReport::Facts(facts), LoadReport::Disturbances(found)) = (described.report, shared.report) else {
                return Err(RunError::Agent { agent: name.clone(), reason: WRONG_ANSWER.to_owned() });
            };
            this.facts.push(facts.into_iter().map(|section| label_section(section, name)).collect());
            this.disturbances.extend(found.iter().map(|event| label_event(event, name)));
        }
        Ok(this)
    }

    /// How many agents there are.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Ends all agents, and removes the jobs of those in pods. Returns what could not be removed, and what to do.
    pub fn end(mut self) -> Vec<String> {
        self.pings.clear();
        self.clients.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        self.jobs.iter_mut().filter_map(|job| job.remove().err()).collect()
    }

    /// Sends all agents the same order and returns their answers. `cancelled` ends a turn early.
    fn call_all(&self, order: &LoadOrder, cancelled: Option<&AtomicBool>) -> Result<Vec<Answer<LoadReport>>, RunError> {
        self.call_each(&vec![order; self.names.len()], cancelled)
    }

    /// Sends each agent its order, without waiting in between, and returns their answers.
    fn call_each<O: Serialize>(
        &self,
        orders: &[O],
        cancelled: Option<&AtomicBool>,
    ) -> Result<Vec<Answer<LoadReport>>, RunError> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers: Vec<u64> =
            clients.iter_mut().zip(orders).map(|(client, order)| client.send_order(order, Vec::new())).collect();
        let mut answers = Vec::with_capacity(numbers.len());
        for ((client, number), name) in clients.iter_mut().zip(numbers).zip(&self.names) {
            let failed = |reason: String| RunError::Agent { agent: name.clone(), reason };
            let answer: Answer<LoadReport> = client.wait_for_answer(number, cancelled).map_err(failed)?;
            match answer.report {
                LoadReport::Failed(reason) => return Err(failed(reason)),
                _ => answers.push(answer),
            }
        }
        Ok(answers)
    }
}

impl LoadMachines for LoadAgents {
    fn are_elsewhere(&self) -> bool {
        self.are_elsewhere
    }

    fn disturbances(&self) -> Vec<EventRecord> {
        self.disturbances.clone()
    }

    fn sections(&self) -> Vec<FactSection> {
        let agents = FactSection {
            title: "Agents of the load".to_owned(),
            facts: vec![("agents".to_owned(), self.names.join(", "))],
        };
        std::iter::once(agents).chain(self.facts.iter().flatten().cloned()).collect()
    }

    fn load(&self, cancelled: Arc<AtomicBool>) -> Box<dyn RunLoad + '_> {
        Box::new(AgentLoad::new(self, cancelled))
    }
}

/// The order to each agent that gives it its share.
fn shares(cores: Vec<AgentCores>) -> Vec<LoadOrder> {
    let agents = cores.len() as u32;
    let share = |(agent, cores): (usize, AgentCores)| {
        let AgentCores { load_cpus: cpus, pod_cpus, before_on_node } = cores;
        LoadOrder::Share(AgentShare { agent: agent as u32, agents, cpus, pod_cpus, before_on_node })
    };
    cores.into_iter().enumerate().map(share).collect()
}

/// The error for an answer of the wrong kind.
const WRONG_ANSWER: &str = "its answer belongs to another order; please report this";

/// Adds the name of the agent and removes control characters: the facts come from another machine and are printed.
fn label_section(mut section: FactSection, agent: &str) -> FactSection {
    section.facts.iter_mut().for_each(|(_, value)| value.retain(|c| !c.is_control()));
    FactSection { title: format!("{} of {agent}", section.title), ..section }
}

/// Does the same for an event. Makes its text again from its kind, because the agent's text is not trusted.
fn label_event(event: &EventRecord, agent: &str) -> EventRecord {
    let found = EventRecord::new(event.kind.clone());
    let text: String = found.text.chars().filter(|c| !c.is_control()).collect();
    EventRecord { text: format!("on {agent}: {text}"), ..found }
}

/// The load of a run from agents.
pub(crate) struct AgentLoad<'a> {
    agents: &'a LoadAgents,
    cancelled: Arc<AtomicBool>,
    /// With fewer users, a worker of some agent would have none.
    least_users: u32,
    /// Agents whose disturbance has been reported.
    reported: BTreeSet<usize>,
    /// Time between the first and the last begin of a turn, over all scored turns.
    begin_spread: LatencyHistogram,
}

impl<'a> AgentLoad<'a> {
    /// No session yet. `cancelled` ends a turn early.
    pub fn new(agents: &'a LoadAgents, cancelled: Arc<AtomicBool>) -> Self {
        Self { agents, cancelled, least_users: 1, reported: BTreeSet::new(), begin_spread: LatencyHistogram::default() }
    }
}

impl RunLoad for AgentLoad<'_> {
    /// The first agent verifies for all.
    fn verify(&mut self, order: &VerifyOrder) -> Result<Vec<CheckOutcome>, RunError> {
        let failed = |reason: String| RunError::Agent { agent: self.agents.names[0].clone(), reason };
        let mut clients = self.agents.clients.lock().unwrap_or_else(PoisonError::into_inner);
        match clients[0].call(&LoadOrder::Verify(order.clone()), Vec::new(), None) {
            Ok(LoadReport::Verified(outcomes)) => Ok(outcomes),
            Ok(LoadReport::Failed(reason)) | Err(reason) => Err(failed(reason)),
            Ok(_) => Err(failed(WRONG_ANSWER.to_owned())),
        }
    }

    fn open(&mut self, sessions: Vec<SessionOrder>) -> Result<(), RunError> {
        let connections = sessions.iter().map(|session| session.connections).min().unwrap_or(1);
        let answers = self.agents.call_all(&LoadOrder::Open(sessions), None)?;
        let workers = |answer: &Answer<LoadReport>| match answer.report {
            LoadReport::Opened { workers } => workers,
            _ => 1,
        };
        let most_workers = answers.iter().map(workers).max().unwrap_or(1);
        self.least_users = connections.min(most_workers * answers.len() as u32);
        Ok(())
    }

    fn least_users(&self) -> u32 {
        self.least_users
    }

    fn close(&mut self) {
        self.least_users = 1;
        // A lost agent has no connections. The next order reports it.
        let _ = self.agents.call_all(&LoadOrder::Close, None);
    }

    fn drive(
        &mut self,
        server: ServerId,
        load: &SliceLoad,
        on_stage: &mut dyn FnMut(DriveStage),
    ) -> Result<SliceSample, RunError> {
        on_stage(DriveStage::Begun);
        let answers = self.agents.call_all(&LoadOrder::Drive { server, load: *load }, Some(&self.cancelled))?;
        let named = answers.into_iter().zip(&self.agents.names);
        let part = |(answer, name): (_, &String)| {
            turn_part(answer).map_err(|reason| RunError::Agent { agent: name.clone(), reason })
        };
        let parts: Vec<TurnPart> = named.map(part).collect::<Result<_, _>>()?;
        if load.phase == Phase::Measure {
            self.check_turn(&parts, load, on_stage);
        }
        let mut samples = parts.into_iter().map(|part| part.sample);
        let mut whole = samples.next().unwrap_or_default();
        for sample in samples {
            whole.start_ns = whole.start_ns.min(sample.start_ns);
            whole.merge(&sample);
        }
        Ok(whole)
    }

    fn closing_event(&self) -> Option<EventKind> {
        let at = |share| self.begin_spread.value_at_quantile_ns(share);
        Some(EventKind::AgentsBegan { turns: self.begin_spread.len(), median_ns: at(0.5)?, p99_ns: at(0.99)? })
            .filter(|_| self.agents.count() > 1)
    }
}

impl AgentLoad<'_> {
    /// Records how far apart the agents began a scored turn, and reports the first disturbance of each agent.
    fn check_turn(&mut self, parts: &[TurnPart], load: &SliceLoad, on_stage: &mut dyn FnMut(DriveStage)) {
        let begins = || parts.iter().map(|part| part.sample.start_ns);
        let first_ns = begins().min().unwrap_or(0);
        self.begin_spread.record_ns(begins().max().unwrap_or(0) - first_ns);
        for (agent, part) in parts.iter().enumerate() {
            let others = || parts.iter().enumerate().filter(|(other, _)| *other != agent).map(|(_, part)| part);
            let longest_ns = others().map(|other| other.lasted_ns).max().unwrap_or(u64::MAX);
            let slow_ns = others().map(TurnPart::slow_answer_ns).max().unwrap_or(0);
            let users = Share { worker: agent, workers: parts.len() }.part_of(u64::from(load.users));
            let reason =
                standstill(part, longest_ns, slow_ns, users).or_else(|| lateness(&part.sample, first_ns, load));
            if let Some(reason) = reason
                && self.reported.insert(agent)
            {
                let agent = self.agents.names[agent].clone();
                on_stage(DriveStage::Disturbed(EventKind::AgentDisturbed { agent, reason }));
            }
        }
    }
}

/// What one agent did in a turn.
struct TurnPart {
    /// Its start is on the clock of this machine, later by the network delay of the answer.
    sample: SliceSample,
    /// From the begin of the turn until the agent answered, after the drain.
    lasted_ns: u64,
}

impl TurnPart {
    /// The time within which 99 % of its answers arrived, in nanoseconds; 0 without answers.
    fn slow_answer_ns(&self) -> u64 {
        self.sample.service.value_at_quantile_ns(0.99).unwrap_or(0)
    }
}

/// How an agent was late in a turn that the first agent began at `begun_ns`; `None` if it was not.
fn lateness(sample: &SliceSample, begun_ns: u64, load: &SliceLoad) -> Option<String> {
    let after_ns = sample.start_ns.saturating_sub(begun_ns);
    if after_ns > LATE_BEGIN_NS {
        return Some(format!("it began a turn {} ms after another agent", after_ns / 1_000_000));
    }
    let share = |count: u64| count as f64 / sample.offered.max(1) as f64;
    let late = share(sample.send_lag.count_above_ns(LATE_NS));
    let is_open = load.kind != SliceKind::Saturating;
    (is_open && late > LATE_SHARE && share(sample.blocked) <= LATE_SHARE)
        .then(|| format!("it sent {:.0} % of the requests of a turn more than 1 ms late", late * 100.0))
}

/// How long an agent with this many users stood still in a turn; `None` if it did not. The others took at most `longest_ns` for the
/// turn, and got 99 % of their answers within `slow_ns`. A slow answer delays one user; a standstill of the agent delays all users.
fn standstill(part: &TurnPart, longest_ns: u64, slow_ns: u64, users: u64) -> Option<String> {
    let longer_ns = part.lasted_ns.saturating_sub(longest_ns);
    // Half of it, because the values of a histogram are not exact.
    let waited_ns = slow_ns.saturating_add(longer_ns / 2);
    let all_waited = users > 1 && part.sample.service.count_above_ns(waited_ns) >= users;
    (longer_ns > STANDSTILL_NS && all_waited)
        .then(|| format!("it stood still for {} ms in a turn", longer_ns / 1_000_000))
}

/// The part of a turn that an agent reports in its answer.
fn turn_part(answer: Answer<LoadReport>) -> Result<TurnPart, String> {
    let Answer { report: LoadReport::Driven { begun_ns_ago }, sample: Some(sample), received_at, .. } = answer else {
        return Err(WRONG_ANSWER.to_owned());
    };
    let sample = unpack_at(sample, Nanos(received_at.0.saturating_sub(begun_ns_ago)))?;
    Ok(TurnPart { sample, lasted_ns: begun_ns_ago })
}

fn unpack_at(sample: PackedSample, begun: Nanos) -> Result<SliceSample, String> {
    let sample = unpack_sample(sample).map_err(|error| error.to_string())?;
    let sample = sample.map_histograms(|histogram| histogram.unpack());
    Ok(SliceSample { start_ns: begun.0, ..sample })
}
