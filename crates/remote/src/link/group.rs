//! Agents that were started together: greets them, gives them tasks, and waits for their answers. All that comes from them
//! goes through the [`Fleet`], which decides whether an agent is lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use tare_load::Cancel;
use tare_run::RunError;
use tare_sys::clock;

use super::kubernetes::AgentJob;
use super::pipes::{AgentLink, AgentMessage, KEEP_ALIVE_PING};
use crate::fleet::{AgentPhase, Answered, Fleet, FleetAgent};
use crate::protocol::{Answer, Order, Task, Version};

/// How often a waiting coordinator looks for silent agents and for Ctrl-C.
pub(crate) const CHECK_EVERY: Duration = Duration::from_millis(50);
const REPORTS_AT_ONCE: usize = 256;
const WRONG_ANSWER: &str = "its answer belongs to another order; please report this";

/// Agents that were started together. They end when this is dropped, and when this process ends in any other way.
#[derive(Debug)]
pub(crate) struct AgentGroup {
    pub fleet: Fleet,
    links: Vec<AgentLink>,
    /// The jobs of agents in pods. They are removed after the links have ended.
    _jobs: Vec<AgentJob>,
    inbox: Receiver<AgentMessage>,
    pinged: u64,
    was_stopped: bool,
}

impl AgentGroup {
    pub fn new(names: Vec<String>, links: Vec<AgentLink>, jobs: Vec<AgentJob>, inbox: Receiver<AgentMessage>) -> Self {
        let fleet = Fleet::new(names, clock::now().0, clock::wall_clock_epoch().unix_ns);
        Self { fleet, links, _jobs: jobs, inbox, pinged: KEEP_ALIVE_PING, was_stopped: false }
    }

    /// Exchanges versions. All agents are greeted before one is waited for.
    pub fn greet(&mut self, cancel: &Cancel) -> Result<(), RunError> {
        self.send_to_all(&Order::Hello(Version::own()));
        self.wait_for_all(cancel, |agent| agent.phase != AgentPhase::Started, &mut |_| {})
    }

    pub fn error(&self, agent: usize, reason: impl Into<String>) -> RunError {
        RunError::Agent { agent: self.fleet.agents()[agent].record.name.clone(), reason: reason.into() }
    }

    /// Sends an order to an agent. If it is gone, the thread that reads its reports notices.
    pub fn send(&self, agent: usize, order: Order) {
        self.links[agent].send(order);
    }

    fn send_to_all(&self, order: &Order) {
        self.links.iter().for_each(|link| link.send(order.clone()));
    }

    /// Makes all agents end their work early and answer, once.
    pub fn stop_all(&mut self) {
        if !std::mem::replace(&mut self.was_stopped, true) {
            self.send_to_all(&Order::Stop);
        }
    }

    /// Gives an agent a task. Without `is_awaited`, its answer is skipped.
    pub fn send_task(&mut self, agent: usize, task: Task, is_awaited: bool) {
        let number = self.fleet.note_task(agent, is_awaited);
        self.send(agent, Order::Task { number, task });
    }

    /// Gives the first agents a task each, without waiting in between. Returns what `pick` finds in each answer, and
    /// when it arrived, in nanoseconds. `cancelled` makes all agents stop their work and answer.
    pub fn call_each<T>(
        &mut self,
        tasks: Vec<Task>,
        cancelled: Option<&AtomicBool>,
        pick: impl Fn(Answer) -> Option<T>,
    ) -> Result<Vec<(T, u64)>, RunError> {
        let agents = tasks.len();
        let longest = tasks.iter().map(Task::named_time).max().unwrap_or_default();
        for (agent, task) in tasks.into_iter().enumerate() {
            self.send_task(agent, task, true);
        }
        self.fleet.begin_to_listen(clock::now().0);
        self.fleet.expect_answers((clock::now() + longest).0);
        loop {
            self.check_lost()?;
            if self.fleet.is_over() {
                break;
            }
            self.process_messages(CHECK_EVERY);
            if cancelled.is_some_and(|cancelled| cancelled.load(Ordering::Relaxed)) {
                self.fleet.expect_answers(clock::now().0);
                self.stop_all();
            }
        }
        (0..agents).map(|agent| self.take_answer(agent, &pick)).collect()
    }

    pub fn call_first<T>(
        &mut self,
        task: Task,
        cancelled: Option<&AtomicBool>,
        pick: impl Fn(Answer) -> Option<T>,
    ) -> Result<T, RunError> {
        let answers = self.call_each(vec![task], cancelled, pick)?;
        answers.into_iter().next().map(|(answer, _)| answer).ok_or_else(|| self.error(0, WRONG_ANSWER))
    }

    /// What `pick` finds in the answer that an agent has given, and when it arrived.
    pub fn take_answer<T>(&mut self, agent: usize, pick: impl Fn(Answer) -> Option<T>) -> Result<(T, u64), RunError> {
        let answered = self.fleet.take_answer(agent);
        let wrong = || WRONG_ANSWER.to_owned();
        let found = answered
            .ok_or_else(wrong)
            .and_then(|Answered { answer, received_ns }| Ok((pick(answer?).ok_or_else(wrong)?, received_ns)));
        found.map_err(|reason| self.error(agent, reason))
    }

    /// Waits until `is_done` holds for each agent, and lets `observe` see the fleet meanwhile.
    /// [`RunError::Interrupted`] after `cancel`.
    pub fn wait_for_all(
        &mut self,
        cancel: &Cancel,
        is_done: fn(&FleetAgent) -> bool,
        observe: &mut dyn FnMut(&Fleet),
    ) -> Result<(), RunError> {
        self.fleet.begin_to_listen(clock::now().0);
        loop {
            self.check_lost()?;
            if self.fleet.agents().iter().all(is_done) {
                return Ok(());
            }
            let has_ended = |agent: &FleetAgent| agent.phase == AgentPhase::Idle && !is_done(agent);
            if let Some(agent) = self.fleet.agents().iter().position(has_ended) {
                return self.take_answer(agent, |_| None::<()>).map(drop);
            }
            if cancel.is_cancelled() {
                return Err(RunError::Interrupted);
            }
            self.process_messages(CHECK_EVERY);
            observe(&self.fleet);
        }
    }

    /// Whether all agents can be reached, by the messages that have arrived.
    pub fn check(&mut self) -> Result<(), RunError> {
        self.fleet.begin_to_listen(clock::now().0);
        self.process_messages(Duration::ZERO);
        self.check_lost()
    }

    fn check_lost(&self) -> Result<(), RunError> {
        for (index, agent) in self.fleet.agents().iter().enumerate() {
            if let AgentPhase::Lost { reason, .. } = &agent.phase {
                return Err(self.error(index, reason));
            }
        }
        Ok(())
    }

    /// Waits for messages for at most `longest` and processes them; then gives up silent agents.
    pub fn process_messages(&mut self, longest: Duration) {
        match self.inbox.recv_timeout(longest) {
            Ok(message) => self.process_message(message),
            Err(RecvTimeoutError::Timeout) => {}
            // All agents have ended.
            Err(RecvTimeoutError::Disconnected) => std::thread::park_timeout(longest),
        }
        for _ in 1..REPORTS_AT_ONCE {
            let Ok(message) = self.inbox.try_recv() else { break };
            self.process_message(message);
        }
        self.fleet.mark_silent_lost(clock::now().0);
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

    /// Pings each agent once, and waits for the answers, which tell the offsets of their clocks.
    pub fn measure_offsets(&mut self, cancel: &Cancel) -> Result<(), RunError> {
        self.pinged += 1;
        for agent in 0..self.links.len() {
            self.fleet.note_ping(agent, self.pinged, clock::now().0);
            self.send(agent, Order::Ping { number: self.pinged });
        }
        self.wait_for_all(cancel, |agent| !agent.awaits_answer(), &mut |_| {})
    }
}
