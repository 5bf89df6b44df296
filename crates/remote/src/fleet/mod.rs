//! The state of a fleet: the phase of each agent, its counts, and whether it is lost. Pure: all times are arguments.

mod offset;

use std::collections::VecDeque;

use tare_load::Opening;
use tare_record::AgentRecord;
use tare_sample::{MessageTally, PackedHistogram, SliceSample};

use crate::protocol::{Answer, ClockReading, LoadTotals, ProtocolError, Report, Version, unpack_sample};

pub use offset::ClockOffset;

/// An agent that has answered before and then sends nothing for this long is lost, in nanoseconds.
pub const LONGEST_SILENCE_NS: u64 = 10_000_000_000;
/// The same for its first message, and for a sample, which may wait for the estimate of a server's clock.
pub const LONGEST_WAIT_NS: u64 = 30_000_000_000;
/// An agent that answers pings is lost when its task has lasted this much longer than the task names, in nanoseconds.
const LONGEST_TASK_NS: u64 = 1_800_000_000_000;
/// How many more samples an agent may send than periods have ended: its last period may end early, and clocks differ a little.
const SPARE_SAMPLES: u64 = 4;
/// And one more in so many: its clock may run faster. Clocks that nobody sets differ by a tenth of that.
const SAMPLES_PER_SPARE: u64 = 1_000;

/// A request that leaves later than this after its intended start is late, in nanoseconds.
pub const LATE_NS: u64 = 1_000_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AgentPhase {
    /// It has been started and has sent nothing yet.
    #[default]
    Started,
    /// It has the same version, and has answered all its tasks.
    Idle,
    /// It carries out a task.
    Working,
    /// The connections of its load are open; it waits for the start.
    Ready,
    /// It makes load, and sends a sample for each period.
    Running,
    /// It is lost: why, without a full stop, and when, on the coordinator's clock. What it reported still counts.
    Lost { reason: String, at_ns: u64 },
}

#[derive(Debug)]
pub(crate) struct Answered {
    /// The answer, or why the task could not be carried out.
    pub answer: Result<Answer, String>,
    pub received_ns: u64,
}

/// One agent as its coordinator sees it.
#[derive(Debug, Default)]
pub struct FleetAgent {
    /// Its name, that of its machine once it has greeted, and the sums of its samples.
    pub record: AgentRecord,
    /// End of the last period that it reported, in nanoseconds since the start of the load.
    pub reported_ns: u64,
    pub phase: AgentPhase,
    pub opening: Opening,
    /// The offset of its clocks; `None` before the first answer to a ping.
    pub offset: Option<ClockOffset>,
    /// The number of its latest task, and the answer once it came.
    task: u64,
    answered: Option<Answered>,
    /// When it must have answered its latest task; `None` while that may last.
    answer_by_ns: Option<u64>,
    open_ping: Option<(u64, u64)>,
    /// When its last report and its last sample arrived, or since when somebody listens.
    last_report_ns: u64,
    last_sample_ns: u64,
    /// Its samples that wait for those of other agents, one for each period, even if it was stopped in it.
    samples: VecDeque<SliceSample<PackedHistogram>>,
}

/// All agents of a coordinator. All times are on its monotonic clock, in nanoseconds.
#[derive(Debug)]
pub struct Fleet {
    agents: Vec<FleetAgent>,
    begin_ns: u64,
    period_ns: u64,
    epoch_unix_ns: u64,
    /// The estimates of the server's clock, from the agents that have finished.
    pub clocks: MessageTally,
}

impl Fleet {
    /// Agents of these names that were started at `now_ns`. `epoch_unix_ns` is what the coordinator's wall clock showed at the
    /// origin of its monotonic clock.
    pub fn new(names: impl IntoIterator<Item = String>, now_ns: u64, epoch_unix_ns: u64) -> Self {
        let agent = |name| FleetAgent {
            record: AgentRecord { name, ..AgentRecord::default() },
            last_report_ns: now_ns,
            last_sample_ns: now_ns,
            ..FleetAgent::default()
        };
        let (agents, clocks) = (names.into_iter().map(agent).collect(), MessageTally::default());
        Self { agents, begin_ns: now_ns, period_ns: 0, epoch_unix_ns, clocks }
    }

    /// All agents, lost ones too, in order.
    pub fn agents(&self) -> &[FleetAgent] {
        &self.agents
    }

    pub fn note_ping(&mut self, agent: usize, number: u64, now_ns: u64) {
        self.agents[agent].open_ping = Some((number, now_ns));
    }

    /// Notes that an agent gets a task, and returns its number. Nobody waits for the answer unless `is_awaited`.
    pub fn note_task(&mut self, agent: usize, is_awaited: bool) -> u64 {
        let agent = &mut self.agents[agent];
        agent.task += 1;
        (agent.answered, agent.answer_by_ns) = (None, None);
        if is_awaited && !agent.is_lost() {
            agent.phase = AgentPhase::Working;
        }
        agent.task
    }

    pub(crate) fn take_answer(&mut self, agent: usize) -> Option<Answered> {
        self.agents[agent].answered.take()
    }

    /// Notes that the agents should have done their tasks at `end_ns`. Of two notes, the earlier time counts.
    pub fn expect_answers(&mut self, end_ns: u64) {
        let by_ns = end_ns.saturating_add(LONGEST_TASK_NS);
        for agent in &mut self.agents {
            agent.answer_by_ns = Some(agent.answer_by_ns.map_or(by_ns, |before_ns| before_ns.min(by_ns)));
        }
    }

    /// Notes that somebody listens since `now_ns`. Reports may wait from before, and were no silence.
    pub fn begin_to_listen(&mut self, now_ns: u64) {
        self.agents.iter_mut().for_each(|agent| agent.last_report_ns = agent.last_report_ns.max(now_ns));
    }

    /// Processes a report that arrived at `now_ns`. A report that breaks the protocol makes the agent lost.
    pub fn process_report(&mut self, agent: usize, report: Report, now_ns: u64) {
        if self.agents[agent].is_lost() {
            return;
        }
        self.agents[agent].last_report_ns = self.agents[agent].last_report_ns.max(now_ns);
        if let Err(error) = self.apply_report(agent, report, now_ns) {
            self.mark_lost(agent, &error.to_string(), now_ns);
        }
    }

    fn apply_report(&mut self, index: usize, report: Report, now_ns: u64) -> Result<(), ProtocolError> {
        let agent = &mut self.agents[index];
        match (&agent.phase, report) {
            (AgentPhase::Started, Report::Greeting(greeting)) => {
                if greeting.version != Version::own() {
                    return Err(ProtocolError::Version(greeting.version));
                }
                agent.record.host = greeting.host.chars().filter(|c| !c.is_control()).take(64).collect();
                agent.phase = AgentPhase::Idle;
            }
            (AgentPhase::Working, Report::Opening(opening)) => agent.opening = opening,
            (AgentPhase::Working, Report::Ready) => agent.phase = AgentPhase::Ready,
            (AgentPhase::Running, Report::Sample(sample)) => {
                let sample = unpack_sample(sample)?;
                let elapsed_ns = now_ns.saturating_sub(self.begin_ns);
                let most_ns = elapsed_ns + elapsed_ns / SAMPLES_PER_SPARE + SPARE_SAMPLES * self.period_ns;
                if agent.reported_ns + self.period_ns > most_ns {
                    return Err(ProtocolError::Sample("more samples came than periods have ended".to_owned()));
                }
                agent.add_sample(&sample, self.period_ns, now_ns);
                agent.samples.push_back(sample);
            }
            (phase, Report::Answer { number, answer }) if *phase != AgentPhase::Started && number <= agent.task => {
                // Nobody waits for the answer to an earlier task.
                if number == agent.task && *phase != AgentPhase::Idle {
                    self.take_up_answer(index, Answered { answer, received_ns: now_ns })?;
                }
            }
            (_, Report::Clock(reading)) => agent.note_reading(&reading, now_ns, self.epoch_unix_ns),
            (_, Report::Failed(reason)) => self.mark_lost(index, &reason, now_ns),
            _ => return Err(ProtocolError::WrongPhase("a report")),
        }
        Ok(())
    }

    /// Takes up the answer to the latest task. That to a load ends its samples, of which an early Stop leaves none.
    fn take_up_answer(&mut self, index: usize, answered: Answered) -> Result<(), ProtocolError> {
        let agent = &mut self.agents[index];
        if matches!(agent.phase, AgentPhase::Running | AgentPhase::Ready) {
            match &answered.answer {
                Ok(Answer::Ended(totals)) => {
                    agent.check_totals(totals)?;
                    let LoadTotals { clock, clock_within_ns, .. } = *totals;
                    self.clocks.merge(&MessageTally { clock, clock_within_ns, ..MessageTally::default() });
                }
                Ok(_) => return Err(ProtocolError::WrongPhase("an answer")),
                Err(reason) => {
                    self.mark_lost(index, reason, answered.received_ns);
                    return Ok(());
                }
            }
        }
        agent.phase = AgentPhase::Idle;
        agent.answered = Some(answered);
        Ok(())
    }

    /// Marks an agent as lost. What it reported stays. No other agent takes over its share.
    pub fn mark_lost(&mut self, agent: usize, reason: &str, now_ns: u64) {
        if !self.agents[agent].is_lost() {
            let reason = reason.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            self.agents[agent].phase = AgentPhase::Lost { reason, at_ns: now_ns };
        }
    }

    /// Marks the agents as lost that have sent nothing for too long, or not done a task.
    pub fn mark_silent_lost(&mut self, now_ns: u64) {
        for index in 0..self.agents.len() {
            if let Some(silent_ns) = self.agents[index].excess_silence_ns(now_ns) {
                self.mark_lost(index, &format!("it sent nothing for {} s", silent_ns / 1_000_000_000), now_ns);
            }
            if self.agents[index].is_overdue(now_ns) {
                let minutes = LONGEST_TASK_NS / 60_000_000_000;
                let reason =
                    format!("it answers pings, and its task is {minutes} min overdue; see what holds it up there");
                self.mark_lost(index, &reason, now_ns);
            }
        }
    }

    /// Notes that all ready agents start at `now_ns`, and have a sample for each `period_ns` of load.
    pub fn begin(&mut self, now_ns: u64, period_ns: u64) {
        (self.begin_ns, self.period_ns) = (now_ns, period_ns);
        for agent in self.agents.iter_mut().filter(|agent| agent.phase == AgentPhase::Ready) {
            agent.phase = AgentPhase::Running;
            agent.last_sample_ns = now_ns;
        }
    }

    /// The merged sample of the next period; `None` while that of a running agent is missing. Those of lost ones count.
    pub fn next_round(&mut self) -> Option<SliceSample> {
        if self.agents.iter().any(|agent| agent.phase == AgentPhase::Running && agent.samples.is_empty()) {
            return None;
        }
        let samples = self.agents.iter_mut().filter_map(|agent| agent.samples.pop_front());
        let mut samples = samples.map(|sample| sample.map_histograms(|histogram| histogram.unpack()));
        let mut sum = samples.next()?;
        samples.for_each(|sample| sum.merge(&sample));
        Some(sum)
    }

    pub fn remaining(&self) -> usize {
        self.agents.iter().filter(|agent| agent.loss().is_none()).count()
    }

    /// Whether every agent has answered its latest task or is lost.
    pub fn is_over(&self) -> bool {
        self.agents.iter().all(|agent| agent.is_lost() || agent.phase == AgentPhase::Idle)
    }
}

impl FleetAgent {
    pub const fn is_lost(&self) -> bool {
        matches!(self.phase, AgentPhase::Lost { .. })
    }

    /// Why and when it was lost; `None` if it was not, or only after it had done its task.
    pub fn loss(&self) -> Option<(&str, u64)> {
        match &self.phase {
            AgentPhase::Lost { reason, at_ns } if self.answered.is_none() => Some((reason.as_str(), *at_ns)),
            _ => None,
        }
    }

    pub const fn awaits_answer(&self) -> bool {
        self.open_ping.is_some() && !self.is_lost()
    }

    fn excess_silence_ns(&self, now_ns: u64) -> Option<u64> {
        let limits = [
            (self.last_report_ns, if self.phase == AgentPhase::Started { LONGEST_WAIT_NS } else { LONGEST_SILENCE_NS }),
            (self.last_sample_ns, if self.phase == AgentPhase::Running { LONGEST_WAIT_NS } else { u64::MAX }),
        ];
        let silences = limits.map(|(since_ns, limit_ns)| (now_ns.saturating_sub(since_ns), limit_ns));
        silences.into_iter().find(|(silent_ns, limit_ns)| !self.is_lost() && silent_ns > limit_ns).map(|(ns, _)| ns)
    }

    fn is_overdue(&self, now_ns: u64) -> bool {
        self.phase != AgentPhase::Idle && self.answer_by_ns.is_some_and(|answer_by_ns| now_ns > answer_by_ns)
    }

    /// Notes the offset of a ping. Offsets after the start are ignored, because the start was computed from an earlier one.
    fn note_reading(&mut self, reading: &ClockReading, now_ns: u64, epoch_unix_ns: u64) {
        let Some((_, sent_ns)) = self.open_ping.take_if(|(number, _)| *number == reading.number) else { return };
        if !matches!(self.phase, AgentPhase::Running) {
            let found = ClockOffset::from_ping(sent_ns, now_ns, epoch_unix_ns, reading);
            self.offset = self.offset.into_iter().chain([found]).min_by_key(|offset| offset.round_trip_ns);
        }
    }

    fn add_sample(&mut self, sample: &SliceSample<PackedHistogram>, period_ns: u64, now_ns: u64) {
        let sums = &mut self.record;
        sums.offered += sample.offered;
        sums.ok += sample.ok;
        sums.failed += sample.failed;
        sums.completed += sample.completed;
        sums.window_ns += sample.window_ns;
        sums.workers = sums.workers.max(sample.workers);
        sums.generator_cpu_ns += sample.generator_cpu_ns;
        sums.late += sample.send_lag.unpack().count_above_ns(LATE_NS);
        self.reported_ns += period_ns;
        self.last_sample_ns = now_ns;
    }

    /// Checks that the samples add up to the totals that the agent states.
    fn check_totals(&self, totals: &LoadTotals) -> Result<(), ProtocolError> {
        let AgentRecord { offered, ok, failed, completed, .. } = self.record;
        if (LoadTotals { offered, ok, failed, completed, ..*totals }) == *totals {
            return Ok(());
        }
        let all = totals.ok;
        Err(ProtocolError::Sample(format!("its samples add up to {ok} answers, and it states {all}")))
    }
}

#[cfg(test)]
mod tests;
