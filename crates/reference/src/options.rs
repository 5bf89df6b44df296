//! The planted behaviour of a reference server: a plain struct that a command line fills from its flags.

use std::net::{IpAddr, Ipv4Addr};

use crate::fault::Fault;

/// The behaviour of a reference server. By default it answers everything at once and never fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The address to listen on.
    pub address: IpAddr,
    /// Its port; 0 for any.
    pub port: u16,
    /// Routes served, `/path0` to `/path{routes − 1}`.
    pub routes: u64,
    /// CPU time used per request, in nanoseconds.
    pub spin_ns: u64,
    /// CPU time per request that `spin_percent` increases, in nanoseconds.
    pub base_ns: u64,
    /// Uses this percentage of `base_ns` in addition: the planted slowdown.
    pub spin_percent: f64,
    /// Delay of every answer in microseconds, without CPU use.
    pub delay_us: u64,
    /// Share of the requests, 0 to 1, that is answered after `slow_us` instead. They are evenly spaced, not random.
    pub slow_share: f64,
    /// Delay of that share, in microseconds.
    pub slow_us: u64,
    /// The whole server stalls once per this many seconds, in the middle of each period; 0 for never.
    pub stall_every_s: f64,
    /// Length of a stall in milliseconds.
    pub stall_ms: u64,
    /// Length of every correct answer to a GET; 0 for the contract's length.
    pub answer_bytes: usize,
    /// Time from one message to the next on `/ws/ts`, in milliseconds.
    pub push_period_ms: u64,
    /// How far the stamps of these messages are ahead of the clock, in nanoseconds; negative for behind.
    pub clock_ahead_ns: i64,
    /// Keeps a list of all answers, which [`Running::finish`](crate::Running::finish) returns.
    pub keeps_ledger: bool,
    /// The planted fault.
    pub fault: Option<Fault>,
    /// Does not print the ready line.
    pub never_ready: bool,
    /// Announces a wrong port.
    pub lie_ready: bool,
    /// Ignores SIGTERM.
    pub ignore_sigterm: bool,
    /// Lines written to stderr at the start.
    pub stderr_noise: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            address: Ipv4Addr::LOCALHOST.into(),
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
