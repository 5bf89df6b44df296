//! The pipes to one agent. A thread writes orders, one reads reports, and one keeps the end of its standard error.

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use crate::protocol::{LONGEST_ORDER, LONGEST_REPORT, Order, Report, encode_frame, read_frame};
use tare_sys::clock::{self, Nanos};
use tare_sys::threads;

use super::pipe_tail::{ERROR_BYTES, PipeTail, last_line};

/// Finds out why an agent ended, from a source that knows more than its pipe.
pub(crate) type ExplainEnd = Box<dyn FnOnce() -> Option<String> + Send>;

/// The most messages that wait to be processed. Then the agent waits too: it may send faster than the coordinator reads.
const MOST_WAITING_MESSAGES: usize = 64;
/// An agent without another order is pinged this often: it ends when it hears nothing for half a minute.
const PING_EVERY: Duration = Duration::from_secs(1);
/// The number of pings whose answers only show that an agent is alive.
pub(super) const KEEP_ALIVE_PING: u64 = 0;

/// A report of an agent, or why no more reports come from it.
#[derive(Debug)]
pub(crate) struct AgentMessage {
    pub(crate) agent: usize,
    pub(crate) received_at: Nanos,
    pub(crate) report: Result<Report, String>,
}

pub(crate) fn message_channel() -> (SyncSender<AgentMessage>, Receiver<AgentMessage>) {
    sync_channel(MOST_WAITING_MESSAGES)
}

/// The coordinator's end of the pipes to one agent. The agent ends when it is dropped.
#[derive(Debug)]
pub(crate) struct AgentLink {
    orders: Option<Sender<Order>>,
    process: Option<Child>,
    /// Whether the coordinator ended it. Its end then needs no explanation.
    ended_by_coordinator: Arc<AtomicBool>,
}

impl AgentLink {
    /// Starts an agent and the threads that serve its pipes. Ctrl-C does not reach it: the coordinator stops it. If the pipe
    /// ends, `explain` finds out why.
    pub(crate) fn start(
        agent: usize,
        command: &mut Command,
        messages: &SyncSender<AgentMessage>,
        explain: ExplainEnd,
    ) -> io::Result<Self> {
        use std::os::unix::process::CommandExt;
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut process = piped.spawn()?;
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(orders), Some(reports), Some(stderr)) = pipes else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let mut link = Self::from_pipes(agent, (orders, reports, stderr), messages, explain)?;
        link.process = Some(process);
        Ok(link)
    }

    pub(super) fn from_pipes(
        agent: usize,
        pipes: (impl Write + Send + 'static, impl Read + Send + 'static, impl Read + Send + 'static),
        messages: &SyncSender<AgentMessage>,
        explain: ExplainEnd,
    ) -> io::Result<Self> {
        let (orders, reports, stderr) = pipes;
        let (order_sender, order_receiver) = channel();
        let ended_by_coordinator = Arc::new(AtomicBool::new(false));
        let stderr = PipeTail::collect(stderr, ERROR_BYTES)?;
        let failures = messages.clone();
        let report_failure = move |reason| {
            drop(failures.send(AgentMessage { agent, received_at: clock::now(), report: Err(reason) }));
        };
        let write = move || write_orders(&order_receiver, LONGEST_ORDER, orders, report_failure);
        threads::spawn(&format!("orders-{agent}"), write)?;
        let (messages, ended) = (messages.clone(), Arc::clone(&ended_by_coordinator));
        let read = move || read_reports(agent, reports, &stderr, &messages, &ended, explain);
        threads::spawn(&format!("reports-{agent}"), read)?;
        Ok(Self { orders: Some(order_sender), process: None, ended_by_coordinator })
    }

    /// Sends an order. If the agent is gone, the thread that reads reports notices.
    pub(crate) fn send(&self, order: Order) {
        if let Some(orders) = &self.orders {
            let _ = orders.send(order);
        }
    }

    /// Ends the agent: its standard input ends, and its process is killed.
    pub(crate) fn end(&mut self) {
        self.ended_by_coordinator.store(true, Ordering::Relaxed);
        self.orders = None;
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Drop for AgentLink {
    fn drop(&mut self) {
        self.end();
    }
}

/// Writes orders, and pings once the first is written, until the link is dropped, the agent is gone, or an order is
/// longer than `limit`; `report_failure` gets the reason of the last. Then the pipe ends.
fn write_orders(orders: &Receiver<Order>, limit: u64, mut pipe: impl Write, report_failure: impl FnOnce(String)) {
    let mut next = orders.recv().ok();
    while let Some(order) = next {
        let frame = match encode_frame(&order, limit) {
            Ok(frame) => frame,
            Err(error) => return report_failure(format!("it cannot be sent its order: {error}")),
        };
        if pipe.write_all(&frame).and_then(|()| pipe.flush()).is_err() {
            return;
        }
        next = match orders.recv_timeout(PING_EVERY) {
            Ok(order) => Some(order),
            Err(RecvTimeoutError::Timeout) => Some(Order::Ping { number: KEEP_ALIVE_PING }),
            Err(RecvTimeoutError::Disconnected) => None,
        };
    }
}

fn read_reports(
    agent: usize,
    mut pipe: impl Read,
    stderr: &PipeTail,
    messages: &SyncSender<AgentMessage>,
    ended_by_coordinator: &AtomicBool,
    explain: impl FnOnce() -> Option<String>,
) {
    // Sending fails when the fleet is gone. Processes that an agent started may write to its pipe after its end.
    let send = |received_at, report| {
        !ended_by_coordinator.load(Ordering::Relaxed)
            && messages.send(AgentMessage { agent, received_at, report }).is_ok()
    };
    let reason = loop {
        match read_frame::<Report>(&mut pipe, LONGEST_REPORT) {
            Ok(Some(report)) => {
                if !send(clock::now(), Ok(report)) {
                    return;
                }
            }
            Ok(None) => break why_it_ended(&stderr.text()),
            Err(error) => break error.to_string(),
        }
    };
    let ended = clock::now();
    let explained = if ended_by_coordinator.load(Ordering::Relaxed) { None } else { explain() };
    send(ended, Err(explained.unwrap_or(reason)));
}

/// Why an agent's process ended, from the end of its standard error, or of ssh's.
fn why_it_ended(stderr: &str) -> String {
    let ended = "its process ended";
    let with_line = |line| format!("{ended}: {line}{}", remedy_of(stderr));
    last_line(stderr).map_or_else(|| ended.to_owned(), with_line)
}

/// What to do about a program that cannot run there.
fn remedy_of(stderr: &str) -> &'static str {
    if stderr.contains("Exec format error") || stderr.contains("cannot execute binary file") {
        return "; that machine has another processor architecture, and needs the same";
    }
    if stderr.contains("GLIBC_") || stderr.contains("ld-linux") {
        return "; its C library is older than this program needs; use the static program";
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_that_is_too_long_is_reported() {
        let (sender, orders) = channel();
        sender.send(Order::Ping { number: 1 }).unwrap();
        let mut refusal = String::new();
        write_orders(&orders, 4, Vec::new(), |reason| refusal = reason);
        assert!(refusal.starts_with("it cannot be sent its order: a message of 21 bytes, more than 4"), "{refusal}");
        assert!(refusal.ends_with("are the files of its requests too large?"), "{refusal}");
    }

    #[test]
    fn an_end_is_explained_unless_the_coordinator_ended_the_agent() {
        for (explained, ended_by_coordinator, says) in [
            (Some("its pod was evicted"), false, Some("its pod was evicted")),
            (None, false, Some("its process ended: EOF")),
            (Some("its pod was evicted"), true, None),
        ] {
            let (messages, inbox) = message_channel();
            let stderr = PipeTail::collect(&b"EOF"[..], ERROR_BYTES).unwrap();
            let ended_by_coordinator = AtomicBool::new(ended_by_coordinator);
            let explain = || explained.map(str::to_owned);
            read_reports(0, &b""[..], &stderr, &messages, &ended_by_coordinator, explain);
            let end = inbox.try_iter().next().map(|message| message.report.unwrap_err());
            assert_eq!(end.as_deref(), says);
        }
    }

    #[test]
    fn a_program_that_cannot_run_there_says_what_to_do() {
        for (words, says) in [
            ("", "its process ended"),
            ("hello\nkilled\n", "its process ended: killed"),
            ("sh: 1: exec: /home/ada/.cache/tare/agent-ab: Exec format error\n", "another processor architecture"),
            ("agent-ab: /lib/libc.so.6: version `GLIBC_2.39' not found\n", "use the static program"),
        ] {
            let why = why_it_ended(words);
            assert!(why.starts_with("its process ended") && why.contains(says), "{why}");
        }
    }
}
