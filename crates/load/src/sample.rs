//! What a slice has shown: raw counts and histograms, nothing derived but the plainest rate.

use std::fmt;

use tare_stats::LatencyHistogram;

use crate::messages::Messages;

/// Bytes of foreign text that an example quotes.
const EXAMPLE_BYTES: usize = 80;

/// What went wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorClass {
    /// No connection could be opened.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// The WebSocket handshake failed.
    Upgrade,
    /// The request could not be sent.
    Write,
    /// The connection was reset, or closed before the end of the answer.
    Read,
    /// No complete answer within the timeout of the intended start, or before the drain ended.
    Timeout,
    /// A status other than the expected one.
    Status,
    /// Not an answer in HTTP, bytes that nobody asked for, or a flood.
    Protocol,
    /// The right status with wrong headers or a wrong body.
    Validation,
}

impl ErrorClass {
    /// All classes, in the order in which a request can meet them.
    pub const ALL: [Self; 9] = [
        Self::Connect,
        Self::Tls,
        Self::Upgrade,
        Self::Write,
        Self::Read,
        Self::Timeout,
        Self::Status,
        Self::Protocol,
        Self::Validation,
    ];

    /// The name under which it is recorded.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Upgrade => "upgrade",
            Self::Write => "write",
            Self::Read => "read",
            Self::Timeout => "timeout",
            Self::Status => "status",
            Self::Protocol => "protocol",
            Self::Validation => "validation",
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The errors of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorTally {
    /// How many.
    pub count: u64,
    /// What the first one looked like: escaped, of bounded length; empty when there was none.
    pub example: String,
}

/// The errors of all classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorTallies([ErrorTally; ErrorClass::ALL.len()]);

impl ErrorTallies {
    /// The errors of one class.
    pub fn of(&self, class: ErrorClass) -> &ErrorTally {
        &self.0[class as usize]
    }

    /// The classes that occurred.
    pub fn iter(&self) -> impl Iterator<Item = (ErrorClass, &ErrorTally)> {
        ErrorClass::ALL.into_iter().zip(&self.0).filter(|(_, tally)| tally.count > 0)
    }

    /// Errors of all classes together.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|tally| tally.count).sum()
    }

    pub(crate) fn add(&mut self, class: ErrorClass, text: &str) {
        let tally = &mut self.0[class as usize];
        tally.count += 1;
        if tally.count == 1 {
            tally.example = text.to_owned();
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            if mine.count == 0 {
                mine.example.clone_from(&theirs.example);
            }
            mine.count += theirs.count;
        }
    }
}

/// The times of one request, on the monotonic clock in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedRequest {
    /// When the schedule wanted it to leave.
    pub intended_ns: u64,
    /// When it left; `None` if it never did.
    pub sent_ns: Option<u64>,
    /// When its answer was complete, or when it failed.
    pub ended_ns: u64,
}

/// One slice, over all workers.
///
/// The *window* is `[start + discarded head, end)`. A request belongs to the slice's requests when its **intended
/// start** lies in the window, and then everything about it is here, also what was learnt only in the drain:
/// `offered = ok + failed`, and `response`, `service`, `send_lag` and `failed_time` hold these requests and no others.
/// Throughput, bytes and CPU belong to the window by the time at which they **happened**.
#[derive(Clone, Debug, Default)]
pub struct SliceSample {
    /// Start of the slice on the monotonic clock, before the discarded head, in nanoseconds.
    pub start_ns: u64,
    /// Length of the head that is not part of the window, in nanoseconds.
    pub discarded_head_ns: u64,
    /// Length of the window in nanoseconds.
    pub window_ns: u64,
    /// The length of the ticks in which requests left, in nanoseconds; 0 when each left at its intended start.
    pub tick_ns: u64,
    /// Worker threads that made the load.
    pub workers: usize,
    /// Requests whose intended start lies in the window.
    pub offered: u64,
    /// Of these, how many left.
    pub sent: u64,
    /// Of these, how many were answered as expected.
    pub ok: u64,
    /// Of these, how many failed, each in one class of `errors`.
    pub failed: u64,
    /// Expected answers that arrived in the window, whenever they had been asked for: over `window_ns`, the throughput.
    pub completed: u64,
    /// Expected answers of the whole slice, head and drain included: what a server's CPU time between the calls before
    /// and after the slice has been spent on.
    pub completed_in_slice: u64,
    /// Errors by class: those of `failed`, and those of connections that carried no request, during the window.
    pub errors: ErrorTallies,
    /// Bytes received in the window.
    pub bytes_in: u64,
    /// Bytes of the requests sent in the window.
    pub bytes_out: u64,
    /// Intended start to the end of the expected answer.
    pub response: LatencyHistogram,
    /// Actual send to the end of the expected answer.
    pub service: LatencyHistogram,
    /// Intended start to actual send.
    pub send_lag: LatencyHistogram,
    /// How much later than it arrived the end of an answer may have been stamped, at most: what waking up took
    /// of late, or what was being worked off meanwhile. It is part of `response` and `service`.
    pub stamp_lag: LatencyHistogram,
    /// Intended start to the failure, for failed requests: kept apart so that an early refusal does not make the
    /// latency look better, and so that nothing is left out.
    pub failed_time: LatencyHistogram,
    /// CPU time that the worker threads made load with within the window, in nanoseconds.
    pub generator_cpu_ns: u64,
    /// CPU time beside it that [`Sending::Spinning`](crate::Sending::Spinning) looked in vain with, in nanoseconds.
    pub generator_spin_ns: u64,
    /// Open loop: requests of the window that had to wait because no connection was free.
    pub blocked: u64,
    /// How long these waited, together, in nanoseconds.
    pub blocked_ns: u64,
    /// Connections that were opened for the slice, before and during it.
    pub connections_opened: u64,
    /// Connections that ended unannounced since the slice before, those given up at a deadline included.
    pub connections_lost: u64,
    /// TLS handshakes that succeeded, for the slice, before and during it.
    pub tls_handshakes: u64,
    /// Of these, how many resumed an earlier session.
    pub tls_resumed: u64,
    /// What is known of WebSockets' messages beyond all this.
    pub messages: Messages,
    /// Whether the slice was cut short: its window ended before the stop rule, or requests were cut off.
    pub cancelled: bool,
    /// Requests of the window without an answer when the short drain of a cancelled slice ended. They are in no other
    /// number, neither offered nor failed, since nobody waited for them as long as was promised. The counts of a
    /// cancelled sample stand by themselves; its latencies lack these, and they may have been the slowest.
    pub cut_off: u64,
    /// The first requests of each worker, as many as [`SliceSpec::trace`](crate::SliceSpec::trace) asked for, in the
    /// order in which they ended.
    pub trace: Vec<TracedRequest>,
}

impl SliceSample {
    /// Expected answers per second of the window; 0 for an empty window.
    pub fn throughput_per_s(&self) -> f64 {
        if self.window_ns == 0 { 0.0 } else { self.completed as f64 * 1e9 / self.window_ns as f64 }
    }

    /// The workers' share of the CPU time that they could have used, from 0 to 1.
    pub fn generator_cpu_share(&self) -> f64 {
        let available_ns = self.window_ns as f64 * self.workers as f64;
        if available_ns == 0.0 { 0.0 } else { self.generator_cpu_ns as f64 / available_ns }
    }

    /// Adds another worker's sample of the same slice, or of the same part of it.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.window_ns = self.window_ns.max(other.window_ns);
        self.workers += other.workers;
        self.add(other);
    }

    /// Adds the part of the slice that followed.
    pub fn append(&mut self, later: &Self) {
        self.window_ns += later.window_ns;
        self.workers = self.workers.max(later.workers);
        self.add(later);
    }

    fn add(&mut self, other: &Self) {
        self.cancelled |= other.cancelled;
        self.errors.merge(&other.errors);
        self.messages.add(&other.messages);
        self.trace.extend_from_slice(&other.trace);
        for (mine, theirs) in [
            (&mut self.response, &other.response),
            (&mut self.service, &other.service),
            (&mut self.send_lag, &other.send_lag),
            (&mut self.stamp_lag, &other.stamp_lag),
            (&mut self.failed_time, &other.failed_time),
        ] {
            mine.merge(theirs);
        }
        for (mine, theirs) in [
            (&mut self.offered, other.offered),
            (&mut self.sent, other.sent),
            (&mut self.ok, other.ok),
            (&mut self.failed, other.failed),
            (&mut self.completed, other.completed),
            (&mut self.completed_in_slice, other.completed_in_slice),
            (&mut self.bytes_in, other.bytes_in),
            (&mut self.bytes_out, other.bytes_out),
            (&mut self.generator_cpu_ns, other.generator_cpu_ns),
            (&mut self.generator_spin_ns, other.generator_spin_ns),
            (&mut self.blocked, other.blocked),
            (&mut self.blocked_ns, other.blocked_ns),
            (&mut self.connections_opened, other.connections_opened),
            (&mut self.connections_lost, other.connections_lost),
            (&mut self.tls_handshakes, other.tls_handshakes),
            (&mut self.tls_resumed, other.tls_resumed),
            (&mut self.cut_off, other.cut_off),
        ] {
            *mine += theirs;
        }
    }
}

/// The beginning of foreign bytes as printable text: what a server says is never let through as it is.
pub(crate) fn escape(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(EXAMPLE_BYTES)];
    let ellipsis = if shown.len() < bytes.len() { "…" } else { "" };
    format!("{}{ellipsis}", shown.escape_ascii())
}
