//! The run's side of the protocol with one agent: numbered orders, their answers, and pings that keep the agent alive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::{
    Hello, LONGEST_SILENCE_NS, LONGEST_WAIT_NS, OrderKind, PROTOCOL, PackedSample, Ping, ProtocolError, Report,
    ReportKind, RunOrder, RunReport, Stop,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tare_sys::clock::{self, Nanos};

use super::pipes::{AgentLink, AgentMessage};

/// How often a waiting caller checks for Ctrl-C and for silence.
const CHECK_EVERY: Duration = Duration::from_millis(50);
/// How often the agent is pinged: it ends when it hears nothing for half a minute.
const PING_EVERY: Duration = Duration::from_secs(1);
/// An agent that sends nothing for this long, not even answers to pings, is lost.
const SILENCE_LIMIT: Duration = Duration::from_nanos(LONGEST_SILENCE_NS);
/// The same for its first message: ssh or a slow machine may take long to start it.
const FIRST_SILENCE_LIMIT: Duration = Duration::from_nanos(LONGEST_WAIT_NS);

/// What an agent of a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentTask {
    /// It runs servers.
    Servers,
    /// It makes the load.
    Load,
}

/// The answer to an order.
#[derive(Debug)]
pub(crate) struct Answer<R> {
    pub report: R,
    /// The sample of a turn of load, if the order was to drive one.
    pub sample: Option<PackedSample>,
    /// Bytes that the order asked for.
    pub contents: Vec<u8>,
    /// When it arrived.
    pub received_at: Nanos,
}

/// Sends orders to one agent and waits for its answers.
#[derive(Debug)]
pub(crate) struct AgentClient {
    link: AgentLink,
    task: AgentTask,
    inbox: Receiver<AgentMessage>,
    /// Number of the latest order.
    number: u64,
    /// When its last report was processed, or the hello was sent.
    last_report_at: Nanos,
    /// How long it may be silent.
    silence_limit: Duration,
    /// Whether a stop order was sent.
    stop_was_sent: bool,
    lost: Option<String>,
}

/// Pings an agent until it is dropped.
#[derive(Debug)]
pub(crate) struct KeepAlive {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl AgentClient {
    /// A client that uses this link.
    pub fn new(task: AgentTask, link: AgentLink, inbox: Receiver<AgentMessage>) -> Self {
        let (last_report_at, silence_limit) = (clock::now(), FIRST_SILENCE_LIMIT);
        Self { link, task, inbox, number: 0, last_report_at, silence_limit, stop_was_sent: false, lost: None }
    }

    /// Sends this version. Does not wait, so that several agents can start at the same time.
    pub fn send_hello(&mut self) {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        self.link.send(OrderKind::Hello(Hello { protocol: PROTOCOL, version }));
        self.last_report_at = clock::now();
    }

    /// Waits for the agent's greeting and checks its version.
    ///
    /// # Errors
    /// When the agent does not answer or has another protocol version: the reason.
    pub fn wait_for_greeting(&mut self) -> Result<(), String> {
        let (greeting, _) = self.wait_for_report(None, |report| match report {
            ReportKind::Greeting(greeting) => Some(greeting),
            _ => None,
        })?;
        if greeting.protocol == PROTOCOL {
            return Ok(());
        }
        let (theirs, version) = (greeting.protocol, greeting.version);
        Err(ProtocolError::Version { theirs, version }.to_string())
    }

    /// Starts a thread that pings the agent.
    pub fn keep_alive(&self) -> KeepAlive {
        let (end, ended) = channel();
        let orders = self.link.sender();
        let ping = move || {
            let mut number = 0;
            while ended.recv_timeout(PING_EVERY) == Err(RecvTimeoutError::Timeout) {
                number += 1;
                if orders.as_ref().is_none_or(|orders| orders.send(OrderKind::Ping(Ping { number })).is_err()) {
                    return;
                }
            }
        };
        // If no thread can be started, the agent gets no pings and ends, and the next order reports that.
        let thread = Builder::new().name("pings".to_owned()).spawn(ping).ok();
        KeepAlive { end: Some(end), thread }
    }

    /// Sends an order and returns its number. Its answer is skipped unless [`wait_for_answer`](Self::wait_for_answer) asks for it.
    pub fn send_order(&mut self, order: &impl Serialize, contents: Vec<u8>) -> u64 {
        self.number += 1;
        let order = serde_json::to_string(order).unwrap_or_default();
        let order = RunOrder { number: self.number, order, contents };
        self.link.send(match self.task {
            AgentTask::Servers => OrderKind::Servers(order),
            AgentTask::Load => OrderKind::Load(order),
        });
        self.number
    }

    /// Waits for the answer to an order. `cancelled` makes the agent stop its work and answer.
    ///
    /// # Errors
    /// When the agent is lost: the reason.
    pub fn wait_for_answer<R: DeserializeOwned>(
        &mut self,
        number: u64,
        cancelled: Option<&AtomicBool>,
    ) -> Result<Answer<R>, String> {
        if let Some(reason) = &self.lost {
            return Err(reason.clone());
        }
        let answer = self.wait_for_report(cancelled, |report| match report {
            ReportKind::Run(report) if report.number == number => Some(report),
            _ => None,
        });
        let read = |(RunReport { report, sample, contents, .. }, received_at)| match serde_json::from_str(&report) {
            Ok(report) => Ok(Answer { report, sample, contents, received_at }),
            Err(error) => Err(format!("an answer that cannot be read: {error}")),
        };
        answer.and_then(read).inspect_err(|reason| self.lost = Some(reason.clone()))
    }

    /// Sends an order and waits for its answer.
    ///
    /// # Errors
    /// When the agent is lost: the reason.
    pub fn call<R: DeserializeOwned>(
        &mut self,
        order: &impl Serialize,
        contents: Vec<u8>,
        cancelled: Option<&AtomicBool>,
    ) -> Result<R, String> {
        let number = self.send_order(order, contents);
        self.wait_for_answer(number, cancelled).map(|answer| answer.report)
    }

    /// Why the agent is lost; `None` if it is not. Processes the messages that have arrived.
    pub fn loss_reason(&mut self) -> Option<String> {
        while self.lost.is_none() {
            let Ok(message) = self.inbox.try_recv() else { break };
            self.last_report_at = clock::now();
            self.lost = message.report.err();
        }
        self.lost.clone()
    }

    /// Waits for the first report that `select` accepts. Returns it and when it arrived.
    fn wait_for_report<T>(
        &mut self,
        cancelled: Option<&AtomicBool>,
        select: impl Fn(ReportKind) -> Option<T>,
    ) -> Result<(T, Nanos), String> {
        loop {
            match self.inbox.recv_timeout(CHECK_EVERY) {
                Ok(AgentMessage { report: Err(reason), .. }) => return Err(reason),
                Ok(AgentMessage { report: Ok(Report { kind: None }), .. }) => {
                    return Err(ProtocolError::UnknownKind.to_string());
                }
                Ok(AgentMessage { report: Ok(Report { kind: Some(ReportKind::Failed(failure)) }), .. }) => {
                    return Err(failure.reason);
                }
                Ok(AgentMessage { report: Ok(Report { kind: Some(kind) }), received_at, .. }) => {
                    // Not `received_at`: the report may have waited here for long, with newer ones behind it.
                    (self.last_report_at, self.silence_limit) = (clock::now(), SILENCE_LIMIT);
                    if let Some(found) = select(kind) {
                        return Ok((found, received_at));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err("its pipes ended".to_owned()),
                Err(RecvTimeoutError::Timeout) if clock::now() > self.last_report_at + self.silence_limit => {
                    let seconds = self.silence_limit.as_secs();
                    return Err(format!("it has sent nothing for {seconds} s; is the network cut?"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if !self.stop_was_sent && cancelled.is_some_and(|cancelled| cancelled.load(Ordering::Relaxed)) {
                self.stop_was_sent = true;
                self.link.send(OrderKind::Stop(Stop {}));
            }
        }
    }
}

impl Drop for KeepAlive {
    fn drop(&mut self) {
        // The thread holds the pipe of orders open until it ends.
        self.end = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
