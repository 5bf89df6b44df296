//! What is planted in a reference server: a plain struct that a command line maps its flags onto.

use crate::fault::Fault;

/// How a reference server behaves. The default answers everything at once and never fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Port on 127.0.0.1; 0 for any.
    pub port: u16,
    /// Routes served, `/path0` to `/path{routes − 1}`.
    pub routes: u64,
    /// CPU time burnt per request, in nanoseconds.
    pub spin_ns: u64,
    /// CPU time to which `spin_percent` adds, burnt per request too, in nanoseconds.
    pub base_ns: u64,
    /// Burns so many percent of `base_ns` more: the planted slowdown.
    pub spin_percent: f64,
    /// Every answer leaves this much later, in microseconds, without costing CPU.
    pub delay_us: u64,
    /// Share of the requests, 0 to 1, that is answered after `slow_us` instead; spread evenly, not at random.
    pub slow_share: f64,
    /// Delay of that share, in microseconds.
    pub slow_us: u64,
    /// The whole server freezes once in so many seconds, in the middle of each such time; 0 never.
    pub stall_every_s: f64,
    /// For so long, in milliseconds.
    pub stall_ms: u64,
    /// Length of every right answer to a GET; 0 for what the contract says.
    pub answer_bytes: usize,
    /// From one message to the next on `/ws/ts`, in milliseconds.
    pub push_period_ms: u64,
    /// How far the stamps of these messages are ahead of the clock, in nanoseconds; below zero behind.
    pub clock_ahead_ns: i64,
    /// Keeps books of every answer, for [`Running::finish`](crate::Running::finish) to hand over.
    pub keeps_ledger: bool,
    /// What breaks, and when.
    pub fault: Option<Fault>,
    /// Never prints the readiness line.
    pub never_ready: bool,
    /// Announces a port that is not its own.
    pub lie_ready: bool,
    /// Ignores SIGTERM.
    pub ignore_sigterm: bool,
    /// Lines written to stderr at the start.
    pub stderr_noise: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            port: 0,
            routes: 128,
            spin_ns: 0,
            base_ns: 0,
            spin_percent: 0.0,
            delay_us: 0,
            slow_share: 0.0,
            slow_us: 0,
            stall_every_s: 0.0,
            stall_ms: 0,
            answer_bytes: 0,
            push_period_ms: 100,
            clock_ahead_ns: 0,
            keeps_ledger: false,
            fault: None,
            never_ready: false,
            lie_ready: false,
            ignore_sigterm: false,
            stderr_noise: 0,
        }
    }
}
