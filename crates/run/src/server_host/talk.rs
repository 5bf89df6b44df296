//! The conversation with the agent on the machine of the servers: orders with numbers, answers to them, and pings that
//! keep it alive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use tare_agent::{
    Hello, OrderKind, PROTOCOL, Ping, ProtocolError, Report, ReportKind, ServersOrder, ServersReport, Stop,
};
use tare_sys::clock::{self, Nanos};

use super::message::{HostOrder, HostReport};
use crate::agents::link::{AgentLink, Heard};

/// How often a waiting caller looks for Ctrl-C and for silence.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How often the agent is pinged: it ends when it hears nothing for half a minute.
const PING_EVERY: Duration = Duration::from_secs(1);
/// An agent that does not even answer pings for this long is lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// The conversation with one agent.
#[derive(Debug)]
pub(super) struct Talk {
    link: AgentLink,
    inbox: Receiver<Heard>,
    /// Number of the latest order.
    number: u64,
    heard_at: Nanos,
    /// Whether starts that wait were told to end.
    is_stopped: bool,
    lost: Option<String>,
}

/// Pings an agent until it is dropped.
#[derive(Debug)]
pub(super) struct KeepAlive {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Talk {
    /// A conversation over this link.
    pub fn new(link: AgentLink, inbox: Receiver<Heard>) -> Self {
        Self { link, inbox, number: 0, heard_at: clock::now(), is_stopped: false, lost: None }
    }

    /// Tells the versions to one another.
    ///
    /// # Errors
    /// When nobody answers, or the agent speaks another version: why.
    pub fn greet(&mut self) -> Result<(), String> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        self.link.send(OrderKind::Hello(Hello { protocol: PROTOCOL, version }));
        let greeting = self.wait(None, |report| match report {
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

    /// Gives an order. Its answer is passed over, unless it is waited for.
    pub fn give(&mut self, order: &HostOrder, contents: Vec<u8>) {
        self.number += 1;
        let order = serde_json::to_string(order).unwrap_or_default();
        self.link.send(OrderKind::Servers(ServersOrder { number: self.number, order, contents }));
    }

    /// Gives an order and waits for its answer. `cancelled` ends starts that wait.
    ///
    /// # Errors
    /// When the agent is lost: why.
    pub fn call(
        &mut self,
        order: &HostOrder,
        contents: Vec<u8>,
        cancelled: Option<&AtomicBool>,
    ) -> Result<HostReport, String> {
        if let Some(reason) = &self.lost {
            return Err(reason.clone());
        }
        self.give(order, contents);
        let number = self.number;
        let answer = self.wait(cancelled, |report| match report {
            ReportKind::Servers(report) if report.number == number => Some(report),
            _ => None,
        });
        let read = |ServersReport { report, .. }| {
            serde_json::from_str(&report).map_err(|error| format!("an answer that cannot be read: {error}"))
        };
        answer.and_then(read).inspect_err(|reason| self.lost = Some(reason.clone()))
    }

    /// Why the agent is lost; `None` while it is there. Looks at what has come meanwhile.
    pub fn why_lost(&mut self) -> Option<String> {
        while self.lost.is_none() {
            let Ok(heard) = self.inbox.try_recv() else { break };
            self.heard_at = heard.at;
            self.lost = heard.said.err();
        }
        self.lost.clone()
    }

    fn wait<T>(
        &mut self,
        cancelled: Option<&AtomicBool>,
        wanted: impl Fn(ReportKind) -> Option<T>,
    ) -> Result<T, String> {
        loop {
            match self.inbox.recv_timeout(LOOK_EVERY) {
                Ok(Heard { said: Err(reason), .. }) => return Err(reason),
                Ok(Heard { said: Ok(Report { kind: None }), .. }) => return Err(ProtocolError::UnknownKind.to_string()),
                Ok(Heard { said: Ok(Report { kind: Some(ReportKind::Failed(failure)) }), .. }) => {
                    return Err(failure.reason);
                }
                Ok(Heard { said: Ok(Report { kind: Some(kind) }), at, .. }) => {
                    self.heard_at = at;
                    if let Some(found) = wanted(kind) {
                        return Ok(found);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err("its pipes ended".to_owned()),
                Err(RecvTimeoutError::Timeout) if clock::now() > self.heard_at + PATIENCE => {
                    return Err(format!("it has said nothing for {} s; is the network cut?", PATIENCE.as_secs()));
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
