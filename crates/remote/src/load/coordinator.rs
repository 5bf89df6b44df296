//! The load of a command line by agents: gives each the command, starts them all at one instant, and merges what they report.

use std::time::Duration;

use tare_load::{Cancel, Opening, Watched};
use tare_plan::agent_place::AgentPlace;
use tare_plan::load_plan::LoadStop;
use tare_plan::{LoadPlan, PlanError};
use tare_record::{AgentRecord, EventKind, EventRecord};
use tare_run::RunError;
use tare_run::load::{Equipment, LoadJob, LoadSource, MadeLoad, Observed, OnObserved};
use tare_sys::clock::{self, Nanos};
use tare_units::distinct;

use super::agents::share_load;
use crate::fleet::{AgentPhase, Fleet, FleetAgent};
use crate::link::group::{AgentGroup, CHECK_EVERY};
use crate::link::starting::{AgentsOrder, PodOrder, start_agents};
use crate::protocol::{LoadCommand, LoadTask, Order, Task, answer_of};

/// Pings before the start, from which the offsets of clocks are known.
const CLOCK_PINGS: usize = 16;
/// Time from the order to begin until the start, in addition to a round trip.
const START_MARGIN: Duration = Duration::from_millis(20);
const LONGEST_PERIOD: Duration = Duration::from_secs(1);

/// The time for opening all connections, as a multiple of the time limit of one connection.
const OPENING_TIMES: u32 = 12;

const SHARED_CORES: &str = "agents in pods share the cores of their nodes with others: the node's kubelet does not give whole \
                            cores to pods (its CPU manager policy is not static)";

/// Agents that make the load of a command line together.
#[derive(Debug)]
pub struct AgentFleet {
    group: AgentGroup,
    equipment: Vec<Equipment>,
}

impl AgentFleet {
    /// Starts agents at these places and waits until each has prepared its share of the command's load. If one cannot,
    /// nothing is left behind. `progress` gets a line for each wait.
    pub fn start(
        places: &[AgentPlace],
        pods: &PodOrder,
        command: LoadCommand,
        job: &LoadJob,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, RunError> {
        check_connections(job, places.iter().map(AgentPlace::least_agents).sum())?;
        let (longest, local_cpus) = (longest_load(&job.plan), &job.session.cpus);
        let order = AgentsOrder { places, pods, longest, local_cpus };
        let (mut group, cores) = start_agents(&order, cancel, progress)?;
        check_connections(job, cores.len())?;
        share_load(&mut group, cores, cancel)?;
        let (this, share_cpus) = Self::prepare(group, command, cancel)?;
        if share_cpus {
            progress(SHARED_CORES);
        }
        Ok(this)
    }

    /// Gives agents with shares the command. Also returns whether others may use the whole cores that a pod asked for.
    pub(super) fn prepare(
        mut group: AgentGroup,
        command: LoadCommand,
        cancel: &Cancel,
    ) -> Result<(Self, bool), RunError> {
        let agents = group.fleet.agents().len();
        let task = Task::Load(LoadTask::OpenCommand(command));
        (0..agents).for_each(|agent| group.send_task(agent, task.clone(), true));
        group.wait_for_all(cancel, |agent| agent.phase == AgentPhase::Idle, &mut |_| {})?;
        let (mut equipment, mut share_cpus) = (Vec::with_capacity(agents), false);
        for agent in 0..agents {
            let (equipped, _) = group.take_answer(agent, answer_of!(Equipped))?;
            equipment.push(equipped.equipment);
            share_cpus |= equipped.shares_cpus;
        }
        Ok((Self { group, equipment }, share_cpus))
    }

    fn open(&mut self, every_ns: u64, cancel: &Cancel, observer: OnObserved<'_>) -> Result<(), RunError> {
        let begin = clock::now();
        let mut shown = (0, 0);
        for agent in 0..self.equipment.len() {
            self.group.send_task(agent, Task::Load(LoadTask::DriveCommand { every_ns }), true);
        }
        self.group.wait_for_all(cancel, |agent| agent.phase == AgentPhase::Ready, &mut |fleet: &Fleet| {
            let sum = |of: fn(&FleetAgent) -> usize| fleet.agents().iter().map(of).sum::<usize>();
            let opening = (sum(|agent| agent.opening.open), sum(|agent| agent.opening.of));
            if opening != shown {
                shown = opening;
                let elapsed = Duration::from_nanos(clock::now().since(begin));
                let opening = Opening { open: opening.0, of: opening.1, elapsed };
                observer(Observed::Load(Watched::Opening(opening)));
            }
        })
    }

    /// Measures the clock offsets of all agents, and sends each the start time on its own clock.
    fn begin(&mut self, every_ns: u64, cancel: &Cancel) -> Result<Nanos, RunError> {
        for _ in 0..CLOCK_PINGS {
            self.group.measure_offsets(cancel)?;
        }
        let agents = self.group.fleet.agents();
        let round_trips = agents.iter().filter_map(|agent| Some(agent.offset?.round_trip_ns));
        let start = clock::now() + START_MARGIN + Duration::from_nanos(round_trips.max().unwrap_or(0));
        for (index, agent) in agents.iter().enumerate() {
            if let Some(offset) = &agent.offset {
                self.group.send(index, Order::Begin { start_ns: offset.on_agent_clock(start.0) });
            }
        }
        self.group.fleet.begin(start.0, every_ns);
        Ok(start)
    }

    /// Shows the merged samples of the agents until all have finished or are lost. Returns whether one was cut short.
    fn merge_reports(&mut self, start: Nanos, cancel: &Cancel, observer: OnObserved<'_>) -> bool {
        let mut is_cut_short = false;
        loop {
            if cancel.is_cancelled() {
                self.group.stop_all();
            }
            while let Some(mut round) = self.group.fleet.next_round() {
                round.start_ns += start.0;
                is_cut_short |= round.cancelled;
                observer(Observed::Agents(&agent_records(self.group.fleet.agents(), &self.equipment, start.0)));
                observer(Observed::Load(Watched::Interval(&round)));
            }
            if self.group.fleet.is_over() {
                return is_cut_short;
            }
            self.group.process_messages(CHECK_EVERY);
        }
    }
}

impl LoadSource for AgentFleet {
    fn equipment(&self, _job: &LoadJob) -> Equipment {
        equipment_of(self.group.fleet.agents(), &self.equipment)
    }

    /// The agents have a period of their own, because a sample for each part of the job would be many.
    fn make_load(&mut self, job: &LoadJob, cancel: &Cancel, observer: OnObserved<'_>) -> Result<MadeLoad, RunError> {
        let every_ns = job.plan.interval.0.min(LONGEST_PERIOD).as_nanos() as u64;
        let opened = self.open(every_ns, cancel, observer).and_then(|()| self.begin(every_ns, cancel));
        let start = match opened {
            Err(RunError::Interrupted) => return Ok(MadeLoad { is_cut_short: true, ..MadeLoad::default() }),
            opened => opened?,
        };
        let is_cut_short = self.merge_reports(start, cancel, observer);
        let fleet = &self.group.fleet;
        Ok(MadeLoad {
            // Without agents the load has ended before its time.
            is_cut_short: is_cut_short || cancel.is_cancelled() || fleet.remaining() == 0,
            messages: fleet.clocks,
            agents: agent_records(fleet.agents(), &self.equipment, start.0),
            events: loss_events(fleet.agents(), start.0, job.slice.schedule.rate_per_s()),
        })
    }
}

/// The longest time from the opening of connections to the last answer.
fn longest_load(plan: &LoadPlan) -> Duration {
    let (LoadStop::Duration { span } | LoadStop::Requests { at_most: span, .. }) = plan.stop;
    plan.connect_timeout.0 * OPENING_TIMES + plan.warmup.0 + span.0 + plan.timeout.0
}

fn check_connections(job: &LoadJob, agents: usize) -> Result<(), PlanError> {
    let connections = job.plan.connections;
    if connections as usize >= agents {
        return Ok(());
    }
    let message = format!("{connections} connections are too few for {agents} agents; give each at least one");
    Err(PlanError::value(format!("-c {connections}"), message))
}

/// What all agents make the load with; values that differ are listed.
fn equipment_of(agents: &[FleetAgent], equipment: &[Equipment]) -> Equipment {
    let list = |of: fn(&Equipment) -> &str| distinct(equipment.iter().map(of)).join(", ");
    Equipment {
        agents: agents.iter().map(|agent| agent.record.name.clone()).collect(),
        load_cpus: list(|of| &of.load_cpus),
        congestion: list(|of| &of.congestion),
        keeps_cpus_awake: list(|of| &of.keeps_cpus_awake),
        sending: list(|of| &of.sending),
    }
}

fn agent_records(agents: &[FleetAgent], equipment: &[Equipment], begin_ns: u64) -> Vec<AgentRecord> {
    let record = |(agent, equipment): (&FleetAgent, &Equipment)| {
        let loss = agent.loss().map(|(reason, at_ns)| (reason.to_owned(), at_ns.saturating_sub(begin_ns)));
        let (lost, lost_at_ns) = loss.unzip();
        AgentRecord {
            load_cpus: equipment.load_cpus.clone(),
            lost,
            lost_at_ns,
            clock_offset_ns: agent.offset.map(|offset| offset.wall_ns),
            round_trip_ns: agent.offset.map(|offset| offset.round_trip_ns),
            ..agent.record.clone()
        }
    };
    agents.iter().zip(equipment).map(record).collect()
}

/// An event for each agent that was lost, in the order in which they were. `asked_per_s` is the rate of the whole load.
fn loss_events(agents: &[FleetAgent], begin_ns: u64, asked_per_s: Option<f64>) -> Vec<EventRecord> {
    let mut lost: Vec<_> = agents.iter().filter_map(|agent| Some((agent.loss()?, agent))).collect();
    lost.sort_by_key(|((_, at_ns), _)| *at_ns);
    let event = |(before, ((reason, at_ns), agent)): (usize, ((&str, u64), &FleetAgent))| {
        let at_ns = at_ns.saturating_sub(begin_ns);
        let kind = EventKind::AgentLost {
            agent: agent.record.name.clone(),
            reason: reason.to_owned(),
            from_s: agent.reported_ns / 1_000_000_000,
            noticed_s: Some(at_ns / 1_000_000_000),
            left: (agents.len() - before - 1) as u32,
            of: agents.len() as u32,
            asked_per_s,
        };
        EventRecord { at_ns, ..EventRecord::new(kind) }
    };
    lost.into_iter().enumerate().map(event).collect()
}

#[cfg(test)]
mod tests;
