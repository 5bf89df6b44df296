//! The agents that make the load of a run. All of them get the order for a turn at once, and their samples are merged.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tare_load::{Cancel, Share, SliceSample};
use tare_plan::plan::SliceKind;
use tare_record::environment::FactSection;
use tare_record::{EventKind, EventRecord, Phase};
use tare_run::RunError;
use tare_run::load_host::{
    DriveStage, LoadMachines, OnStage, RunLoad, SessionOrder, SliceLoad, VerifyOrder, users_for_workers,
};
use tare_run::machine_state::section;
use tare_run::server_host::ServerId;
use tare_stats::LatencyHistogram;
use tare_sut::contract::CheckOutcome;
use tare_units::share;

use crate::fleet::LATE_NS;
use crate::link::group::AgentGroup;
use crate::link::starting::{AgentsOrder, start_agents};
use crate::protocol::{
    AgentCores, AgentShare, Answer, DrivenShare, LoadTask, Task, answer_of, label_event, unpack_sample,
};

/// An agent that begins a turn this much after another, network delay included, counts as disturbed.
const LATE_BEGIN_NS: u64 = 10_000_000;
/// So does one that takes this much longer for a turn than all others, while none of its users gets an answer.
const STANDSTILL_NS: u64 = 50_000_000;
/// So does one that sends more than this share of an open load late, unless as many requests waited for a connection.
const LATE_SHARE: f64 = 0.01;

/// Agents that make the load of a run together. They end when this is dropped, or this process ends in any other way.
#[derive(Debug)]
pub struct LoadAgents {
    group: RefCell<AgentGroup>,
    names: Vec<String>,
    sections: Vec<FactSection>,
    disturbances: Vec<EventRecord>,
}

impl LoadAgents {
    /// Starts agents and gives each its share of the load. Copies the program to hosts that lack it, and makes a job for
    /// agents in pods. `progress` gets a line for each wait. If an agent cannot be started, nothing is left behind.
    pub fn start(
        order: &AgentsOrder<'_>,
        cancelled: &Arc<AtomicBool>,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, RunError> {
        let cancel = Cancel::from(Arc::clone(cancelled));
        let (mut group, cores) = start_agents(order, &cancel, progress)?;
        share_load(&mut group, cores, &cancel)?;
        Self::of_run(group)
    }

    pub(super) fn of_run(mut group: AgentGroup) -> Result<Self, RunError> {
        let agents = group.fleet.agents();
        let names: Vec<String> = agents.iter().map(|agent| agent.record.name.clone()).collect();
        let mut sections = vec![section("Agents of the load", [("agents", Some(names.join(", ")))])];
        let mut disturbances = Vec::new();
        let described = group.call_each(vec![Task::Describe { java: None }; names.len()], None, answer_of!(Facts))?;
        let task = Task::Load(LoadTask::Disturbances);
        let disturbed = group.call_each(vec![task; names.len()], None, answer_of!(Disturbances))?;
        for (((facts, _), (found, _)), name) in described.into_iter().zip(disturbed).zip(&names) {
            let of_agent =
                |section: FactSection| FactSection { title: format!("{} of {name}", section.title), ..section };
            sections.extend(facts.plain().sections.into_iter().map(of_agent));
            disturbances.extend(found.iter().map(|event| label_event(event, name)));
        }
        Ok(Self { group: RefCell::new(group), names, sections, disturbances })
    }
}

impl LoadMachines for LoadAgents {
    fn disturbances(&self) -> Vec<EventRecord> {
        self.disturbances.clone()
    }

    fn sections(&self) -> Vec<FactSection> {
        self.sections.clone()
    }

    fn load(&self, cancelled: Arc<AtomicBool>) -> Box<dyn RunLoad + '_> {
        Box::new(AgentLoad::new(self, cancelled))
    }
}

/// Exchanges versions with agents that were started, and gives each its share of a load.
pub(super) fn share_load(group: &mut AgentGroup, cores: Vec<AgentCores>, cancel: &Cancel) -> Result<(), RunError> {
    group.greet(cancel)?;
    let agents = cores.len() as u32;
    let share = |(agent, cores)| Task::Load(LoadTask::Share(AgentShare { agent: agent as u32, agents, cores }));
    let shares = cores.into_iter().enumerate().map(share).collect();
    group.call_each(shares, None, Some).map(drop)
}

pub(crate) struct AgentLoad<'a> {
    agents: &'a LoadAgents,
    cancelled: Arc<AtomicBool>,
    /// With fewer users, a worker of some agent would have none.
    least_users: u32,
    reported: BTreeSet<usize>,
    /// Time between the first and the last begin of a turn, over all scored turns.
    begin_spread: LatencyHistogram,
}

impl<'a> AgentLoad<'a> {
    /// No session yet. `cancelled` ends a turn, and a verification, early.
    pub fn new(agents: &'a LoadAgents, cancelled: Arc<AtomicBool>) -> Self {
        Self { agents, cancelled, least_users: 1, reported: BTreeSet::new(), begin_spread: LatencyHistogram::default() }
    }

    /// Gives all agents the same task, and returns what `pick` finds in the answer of each.
    fn call_all<T>(&self, task: LoadTask, pick: impl Fn(Answer) -> Option<T>) -> Result<Vec<(T, u64)>, RunError> {
        let tasks = vec![Task::Load(task); self.agents.names.len()];
        self.agents.group.borrow_mut().call_each(tasks, Some(&self.cancelled), pick)
    }
}

impl RunLoad for AgentLoad<'_> {
    fn verify(&mut self, order: &VerifyOrder) -> Result<Vec<CheckOutcome>, RunError> {
        let task = Task::Load(LoadTask::Verify(order.clone()));
        self.agents.group.borrow_mut().call_first(task, Some(&self.cancelled), answer_of!(Verified))
    }

    fn open(&mut self, sessions: Vec<SessionOrder>) -> Result<(), RunError> {
        let task = LoadTask::OpenSessions(sessions.clone());
        let workers = self.call_all(task, answer_of!(Opened))?;
        let most_workers = workers.iter().map(|(workers, _)| *workers).max().unwrap_or(1);
        self.least_users = users_for_workers(&sessions, most_workers.saturating_mul(workers.len() as u32));
        Ok(())
    }

    fn least_users(&self) -> u32 {
        self.least_users
    }

    fn close(&mut self) {
        self.least_users = 1;
        // A lost agent has no connections. The next order reports it.
        let _ = self.call_all(LoadTask::Close, Some);
    }

    fn drive(&mut self, server: ServerId, load: &SliceLoad, on_stage: OnStage<'_>) -> Result<SliceSample, RunError> {
        on_stage(DriveStage::Begun);
        let task = LoadTask::DriveTurn { server, load: *load };
        let answers = self.call_all(task, answer_of!(Driven))?;
        let named = answers.into_iter().zip(&self.agents.names);
        let part = |((share, received_ns), name): (_, &String)| {
            turn_part(share, received_ns).map_err(|reason| RunError::Agent { agent: name.clone(), reason })
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
            .filter(|_| self.agents.names.len() > 1)
    }
}

impl AgentLoad<'_> {
    /// Records how far apart the agents began a scored turn, and reports the first disturbance of each agent.
    fn check_turn(&mut self, parts: &[TurnPart], load: &SliceLoad, on_stage: OnStage<'_>) {
        let begins = || parts.iter().map(|part| part.sample.start_ns);
        let first_ns = begins().min().unwrap_or(0);
        self.begin_spread.record_ns(begins().max().unwrap_or(0) - first_ns);
        for (agent, part) in parts.iter().enumerate() {
            let others = || parts.iter().enumerate().filter(|(other, _)| *other != agent).map(|(_, part)| part);
            let longest_ns = others().map(|other| other.lasted_ns).max().unwrap_or(u64::MAX);
            let slow_ns = others().filter_map(|other| other.sample.service.value_at_quantile_ns(0.99)).max();
            let users = Share { worker: agent, workers: parts.len() }.part_of(u64::from(load.users));
            let reason = standstill(part, longest_ns, slow_ns.unwrap_or(0), users)
                .or_else(|| lateness(&part.sample, first_ns, load));
            if let Some(reason) = reason
                && self.reported.insert(agent)
            {
                let agent = self.agents.names[agent].clone();
                on_stage(DriveStage::Disturbed(EventKind::AgentDisturbed { agent, reason }));
            }
        }
    }
}

struct TurnPart {
    /// Its start is on the clock of this machine, later by the network delay of the answer.
    sample: SliceSample,
    /// From the start of the turn until the agent answered, after the drain.
    lasted_ns: u64,
}

/// How an agent was late in a turn that the first agent began at `begun_ns`; `None` if it was not.
fn lateness(sample: &SliceSample, begun_ns: u64, load: &SliceLoad) -> Option<String> {
    let after_ns = sample.start_ns.saturating_sub(begun_ns);
    if after_ns > LATE_BEGIN_NS {
        return Some(format!("it began a turn {} ms after another agent", after_ns / 1_000_000));
    }
    let part = |count: u64| count as f64 / sample.offered.max(1) as f64;
    let late = part(sample.send_lag.count_above_ns(LATE_NS));
    let is_open = load.kind != SliceKind::Saturating;
    (is_open && late > LATE_SHARE && part(sample.blocked) <= LATE_SHARE)
        .then(|| format!("it sent {} of the requests of a turn more than 1 ms late", share(late.min(1.0))))
}

/// How long an agent with this many users stood still in a turn; `None` if it did not. The others took at most
/// `longest_ns`, and got 99 % of their answers within `slow_ns`. A slow answer delays one user, a standstill all.
fn standstill(part: &TurnPart, longest_ns: u64, slow_ns: u64, users: u64) -> Option<String> {
    let longer_ns = part.lasted_ns.saturating_sub(longest_ns);
    // Half of it, because the values of a histogram are not exact.
    let waited_ns = slow_ns.saturating_add(longer_ns / 2);
    let all_waited = users > 1 && part.sample.service.count_above_ns(waited_ns) >= users;
    (longer_ns > STANDSTILL_NS && all_waited)
        .then(|| format!("it stood still for {} ms in a turn", longer_ns / 1_000_000))
}

fn turn_part(share: DrivenShare, received_ns: u64) -> Result<TurnPart, String> {
    let DrivenShare { sample, begun_ns_ago } = share;
    let sample = unpack_sample(sample).map_err(|error| error.to_string())?;
    let sample = sample.map_histograms(|histogram| histogram.unpack());
    let start_ns = received_ns.saturating_sub(begun_ns_ago);
    Ok(TurnPart { sample: SliceSample { start_ns, ..sample }, lasted_ns: begun_ns_ago })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tare_load::Sending;

    use super::*;

    #[test]
    fn only_an_agent_that_is_late_with_every_request_is_late_with_100_percent() {
        let (length, discard) = (Duration::from_millis(60), Duration::ZERO);
        let (kind, phase, sending) = (SliceKind::Poisson, Phase::Measure, Sending::Exact);
        let load = SliceLoad { kind, phase, round: 0, users: 3, rate_per_s: 50.0, length, discard, seed: 3, sending };
        for (in_time, says) in [(0, Some("100 %")), (1, Some("99.6 %")), (244, Some("2.4 %")), (248, None)] {
            let mut sample = SliceSample { offered: 250, ..SliceSample::default() };
            for request in 0..250 {
                sample.send_lag.record_ns(if request < in_time { 5 } else { 4_000_000 });
            }
            let text = says.map(|says| format!("it sent {says} of the requests of a turn more than 1 ms late"));
            assert_eq!(lateness(&sample, 0, &load), text);
        }
    }
}
