//! The conversation of a run with one agent: orders with numbers, answers to them, and pings that keep it alive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tare_agent::{
    Hello, LONGEST_SILENCE_NS, LONGEST_WAIT_NS, OrderKind, PROTOCOL, PackedSample, Ping, ProtocolError, Report,
    ReportKind, RunOrder, RunReport, Stop,
};
use tare_sys::clock::{self, Nanos};

use super::link::{AgentLink, Heard};

/// How often a waiting caller looks for Ctrl-C and for silence.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How often the agent is pinged: it ends when it hears nothing for half a minute.
const PING_EVERY: Duration = Duration::from_secs(1);
/// An agent that does not even answer pings for this long is lost.
const PATIENCE: Duration = Duration::from_nanos(LONGEST_SILENCE_NS);
/// The same for its first word: ssh and a slow machine may take long to start it.
const FIRST_PATIENCE: Duration = Duration::from_nanos(LONGEST_WAIT_NS);

/// What an agent of a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentTask {
    /// It has servers.
    Servers,
    /// It makes the load.
    Load,
}

/// The answer to an order.
#[derive(Debug)]
pub(crate) struct Answer<R> {
    pub report: R,
    /// What a turn of load brought, where the order was about one.
    pub sample: Option<PackedSample>,
    /// Bytes that the order asked for.
    pub contents: Vec<u8>,
    /// When it came.
    pub at: Nanos,
}

/// The conversation with one agent.
#[derive(Debug)]
pub(crate) struct Talk {
    link: AgentLink,
    task: AgentTask,
    inbox: Receiver<Heard>,
    /// Number of the latest order.
    number: u64,
    /// When its last report was taken, or it was greeted.
    heard_at: Nanos,
    /// How long it may be silent.
    patience: Duration,
    /// Whether starts that wait were told to end.
    is_stopped: bool,
    lost: Option<String>,
}

/// Pings an agent until it is dropped.
#[derive(Debug)]
pub(crate) struct KeepAlive {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Talk {
    /// A conversation over this link.
    pub fn new(task: AgentTask, link: AgentLink, inbox: Receiver<Heard>) -> Self {
        let (heard_at, patience) = (clock::now(), FIRST_PATIENCE);
        Self { link, task, inbox, number: 0, heard_at, patience, is_stopped: false, lost: None }
    }

    /// Tells the agent this version. Waits for nothing, so that several agents start at the same time.
    pub fn greet(&mut self) {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        self.link.send(OrderKind::Hello(Hello { protocol: PROTOCOL, version }));
        self.heard_at = clock::now();
    }

    /// Waits for the agent's greeting.
    ///
    /// # Errors
    /// When nobody answers, or the agent speaks another version: why.
    pub fn greeted(&mut self) -> Result<(), String> {
        let (greeting, _) = self.wait(None, |report| match report {
            ReportKind::Greeting(greeting) => Some(greeting),
            _ => None,
        })?;
        if greeting.protocol == PROTOCOL {
            return Ok(());
        }
        let (theirs, version) = (greeting.protocol, greeting.version);
        Err(ProtocolError::Version { theirs, version }.to_string())
    }

    /// Pings the agent from now on, in a thread of its own.
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
        // Without a thread to spare the agent ends after its patience, and the next order says so.
        let thread = Builder::new().name("pings".to_owned()).spawn(ping).ok();
        KeepAlive { end: Some(end), thread }
    }

    /// Gives an order, and returns its number. Its answer is passed over, unless it is waited for.
    pub fn give(&mut self, order: &impl Serialize, contents: Vec<u8>) -> u64 {
        self.number += 1;
        let order = serde_json::to_string(order).unwrap_or_default();
        let order = RunOrder { number: self.number, order, contents };
        self.link.send(match self.task {
            AgentTask::Servers => OrderKind::Servers(order),
            AgentTask::Load => OrderKind::Load(order),
        });
        self.number
    }

    /// Waits for the answer to an order. `cancelled` ends what the agent does, and it answers.
    ///
    /// # Errors
    /// When the agent is lost: why.
    pub fn answer<R: DeserializeOwned>(
        &mut self,
        number: u64,
        cancelled: Option<&AtomicBool>,
    ) -> Result<Answer<R>, String> {
        if let Some(reason) = &self.lost {
            return Err(reason.clone());
        }
        let answer = self.wait(cancelled, |report| match report {
            ReportKind::Run(report) if report.number == number => Some(report),
            _ => None,
        });
        let read = |(RunReport { report, sample, contents, .. }, at)| match serde_json::from_str(&report) {
            Ok(report) => Ok(Answer { report, sample, contents, at }),
            Err(error) => Err(format!("an answer that cannot be read: {error}")),
        };
        answer.and_then(read).inspect_err(|reason| self.lost = Some(reason.clone()))
    }

    /// Gives an order and waits for its answer.
    ///
    /// # Errors
    /// When the agent is lost: why.
    pub fn call<R: DeserializeOwned>(
        &mut self,
        order: &impl Serialize,
        contents: Vec<u8>,
        cancelled: Option<&AtomicBool>,
    ) -> Result<R, String> {
        let number = self.give(order, contents);
        self.answer(number, cancelled).map(|answer| answer.report)
    }

    /// Why the agent is lost; `None` while it is there. Looks at what has come meanwhile.
    pub fn why_lost(&mut self) -> Option<String> {
        while self.lost.is_none() {
            let Ok(heard) = self.inbox.try_recv() else { break };
            self.heard_at = clock::now();
            self.lost = heard.said.err();
        }
        self.lost.clone()
    }

    /// The report that is wanted, and when it came.
    fn wait<T>(
        &mut self,
        cancelled: Option<&AtomicBool>,
        wanted: impl Fn(ReportKind) -> Option<T>,
    ) -> Result<(T, Nanos), String> {
        loop {
            match self.inbox.recv_timeout(LOOK_EVERY) {
                Ok(Heard { said: Err(reason), .. }) => return Err(reason),
                Ok(Heard { said: Ok(Report { kind: None }), .. }) => return Err(ProtocolError::UnknownKind.to_string()),
                Ok(Heard { said: Ok(Report { kind: Some(ReportKind::Failed(failure)) }), .. }) => {
                    return Err(failure.reason);
                }
                Ok(Heard { said: Ok(Report { kind: Some(kind) }), at, .. }) => {
                    // Not when it came: reports that nobody took meanwhile are old, and newer ones are behind them.
                    (self.heard_at, self.patience) = (clock::now(), PATIENCE);
                    if let Some(found) = wanted(kind) {
                        return Ok((found, at));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err("its pipes ended".to_owned()),
                Err(RecvTimeoutError::Timeout) if clock::now() > self.heard_at + self.patience => {
                    let seconds = self.patience.as_secs();
                    return Err(format!("it has said nothing for {seconds} s; is the network cut?"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if !self.is_stopped && cancelled.is_some_and(|cancelled| cancelled.load(Ordering::Relaxed)) {
                self.is_stopped = true;
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
