//! The pipes to one agent: a thread writes orders, a thread reads reports and stamps them when they arrive, and a thread keeps
//! the end of its standard error.

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::Builder;

use tare_agent::{LONGEST_REPORT, Order, OrderKind, Report, ReportKind, encode_frame, read_frame};
use tare_sys::clock::{self, Nanos};

use super::last_words::{LastWords, last_line};

/// Finds out what ended an agent, where more is known of that than its pipe says.
pub(crate) type Explanation = Box<dyn FnOnce() -> Option<String> + Send>;

/// The most reports that wait to be taken. Then the agent waits too: it may send faster than anybody listens.
const WAITING_REPORTS: usize = 64;

/// Something that an agent said, or why no more comes from it.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) agent: usize,
    pub(crate) at: Nanos,
    pub(crate) said: Result<Report, String>,
}

/// Where agents are heard.
pub(crate) fn inbox() -> (SyncSender<Heard>, Receiver<Heard>) {
    sync_channel(WAITING_REPORTS)
}

/// The coordinator's end of the pipes to one agent. The agent ends when it is dropped.
#[derive(Debug)]
pub(crate) struct AgentLink {
    orders: Option<Sender<OrderKind>>,
    process: Option<Child>,
    /// Whether its end is the coordinator's doing, and so needs no explanation.
    is_ended: Arc<AtomicBool>,
}

impl AgentLink {
    /// Starts an agent and listens to it. Ctrl-C does not reach it: the coordinator stops it.
    pub(crate) fn start(agent: usize, command: &mut Command, heard: &SyncSender<Heard>) -> io::Result<Self> {
        Self::start_explained(agent, command, heard, Box::new(|| None))
    }

    /// The same. If the pipe ends, `explain` is asked why.
    pub(crate) fn start_explained(
        agent: usize,
        command: &mut Command,
        heard: &SyncSender<Heard>,
        explain: Explanation,
    ) -> io::Result<Self> {
        use std::os::unix::process::CommandExt;
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut process = piped.spawn()?;
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(orders), Some(reports), Some(last_words)) = pipes else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let mut link = Self::over_explained(agent, (orders, reports, last_words), heard, explain)?;
        link.process = Some(process);
        Ok(link)
    }

    /// Listens to an agent at the other end of these pipes.
    #[cfg(test)]
    pub(crate) fn over(
        agent: usize,
        orders: impl Write + Send + 'static,
        reports: impl Read + Send + 'static,
        last_words: impl Read + Send + 'static,
        heard: &SyncSender<Heard>,
    ) -> io::Result<Self> {
        Self::over_explained(agent, (orders, reports, last_words), heard, Box::new(|| None))
    }

    fn over_explained(
        agent: usize,
        (orders, reports, last_words): (
            impl Write + Send + 'static,
            impl Read + Send + 'static,
            impl Read + Send + 'static,
        ),
        heard: &SyncSender<Heard>,
        explain: Explanation,
    ) -> io::Result<Self> {
        let (outbox, inbox) = channel();
        let heard = heard.clone();
        let is_ended = Arc::new(AtomicBool::new(false));
        let was_ended = Arc::clone(&is_ended);
        let last_words = LastWords::of(last_words)?;
        let refused = heard.clone();
        let refuse = move |reason| drop(refused.send(Heard { agent, at: clock::now(), said: Err(reason) }));
        Builder::new().name(format!("orders-{agent}")).spawn(move || write_orders(&inbox, orders, refuse))?;
        Builder::new()
            .name(format!("reports-{agent}"))
            .spawn(move || read_reports(agent, reports, &last_words, &heard, &was_ended, explain))?;
        Ok(Self { orders: Some(outbox), process: None, is_ended })
    }

    /// Sends an order. What cannot be sent any more is noticed by the reader of reports.
    pub(crate) fn send(&self, order: OrderKind) {
        if let Some(orders) = &self.orders {
            let _ = orders.send(order);
        }
    }

    /// Another way to send orders. The pipe of orders ends when this is gone too.
    pub(crate) fn sender(&self) -> Option<Sender<OrderKind>> {
        self.orders.clone()
    }

    /// Ends the agent: its standard input ends, and its process is killed.
    pub(crate) fn end(&mut self) {
        self.is_ended.store(true, Ordering::Relaxed);
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

/// Writes until the link is dropped, the agent is gone, or an order cannot be written: then `refuse` gets why. The pipe ends
/// with this function.
fn write_orders(inbox: &Receiver<OrderKind>, mut pipe: impl Write, refuse: impl FnOnce(String)) {
    for kind in inbox {
        let frame = match encode_frame(&Order::from(kind)) {
            Ok(frame) => frame,
            Err(error) => return refuse(format!("it cannot be sent its order: {error}")),
        };
        if pipe.write_all(&frame).and_then(|()| pipe.flush()).is_err() {
            return;
        }
    }
}

fn read_reports(
    agent: usize,
    mut pipe: impl Read,
    last_words: &LastWords,
    heard: &SyncSender<Heard>,
    was_ended: &AtomicBool,
    explain: impl FnOnce() -> Option<String>,
) {
    // If nobody listens any more, the fleet is gone. What an agent left behind may go on writing after its end.
    let tell_at = |at, said| !was_ended.load(Ordering::Relaxed) && heard.send(Heard { agent, at, said }).is_ok();
    let mut is_done = false;
    let reason = loop {
        match read_frame::<Report>(&mut pipe, LONGEST_REPORT) {
            Ok(Some(report)) => {
                is_done |= matches!(report.kind, Some(ReportKind::Done(_)));
                if !tell_at(clock::now(), Ok(report)) {
                    return;
                }
            }
            Ok(None) => break why_it_ended(&last_words.text()),
            Err(error) => break error.to_string(),
        }
    };
    let ended = clock::now();
    let explained = if is_done || was_ended.load(Ordering::Relaxed) { None } else { explain() };
    tell_at(ended, Err(explained.unwrap_or(reason)));
}

/// What the end of an agent's process means, from the end of its standard error, or of ssh's.
fn why_it_ended(last_words: &str) -> String {
    let ended = "its process ended";
    let said = |line| format!("{ended}: {line}{}", remedy_of(last_words));
    last_line(last_words).map_or_else(|| ended.to_owned(), said)
}

/// What to do about a program that cannot run there.
fn remedy_of(last_words: &str) -> &'static str {
    if last_words.contains("Exec format error") || last_words.contains("cannot execute binary file") {
        return "; that machine has another processor architecture, and needs the same";
    }
    if last_words.contains("GLIBC_") || last_words.contains("ld-linux") {
        return "; its C library is older than this program needs; use the static program";
    }
    ""
}

#[cfg(test)]
mod tests {
    use tare_agent::{Assignment, Done, InputFile, LONGEST_ORDER};

    use super::*;

    /// Why the end of an agent is, according to who listens to it.
    fn end_of(reports: &[ReportKind]) -> String {
        let frames = reports.iter().flat_map(|kind| encode_frame(&Report::from(kind.clone())).unwrap());
        let (heard, inbox) = inbox();
        let explain = || Some("its pod was evicted".to_owned());
        let was_ended = AtomicBool::new(false);
        let last_words = LastWords::of(&b"EOF"[..]).unwrap();
        read_reports(0, &frames.collect::<Vec<u8>>()[..], &last_words, &heard, &was_ended, explain);
        inbox.try_iter().find_map(|heard| heard.said.err()).unwrap()
    }

    #[test]
    fn an_order_that_is_too_long_is_told() {
        // Nothing writes to these pages, so they take no memory.
        let contents = vec![0; (LONGEST_ORDER + 1) as usize];
        let files = vec![InputFile { path: "large.csv".to_owned(), contents }];
        let (outbox, inbox) = channel();
        outbox.send(OrderKind::Assign(Assignment { files, ..Assignment::default() })).unwrap();
        let mut refusal = String::new();
        write_orders(&inbox, Vec::new(), |reason| refusal = reason);
        assert!(refusal.starts_with("it cannot be sent its order: a message of 5368"), "{refusal}");
        assert!(refusal.ends_with("are the files of its requests too large?"), "{refusal}");
    }

    #[test]
    fn an_end_before_the_last_report_is_explained() {
        assert_eq!(end_of(&[]), "its pod was evicted");
        assert_eq!(end_of(&[ReportKind::Done(Done::default())]), "its process ended: EOF");
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
