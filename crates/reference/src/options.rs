//! The planted behaviour of a reference server: a plain struct that a command line fills from its flags.

use std::net::IpAddr;

use clap::{Args as _, FromArgMatches as _};

/// The behaviour of a reference server. By default it answers everything at once and never fails.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct Options {
    /// Address to listen on.
    #[arg(long, env = "TARE_ADDRESS", default_value = "127.0.0.1")]
    pub address: IpAddr,
    /// Its port; 0 for any.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Routes served, from /path0 on.
    #[arg(long, default_value_t = 128)]
    pub routes: u64,
    /// CPU time used per request, in nanoseconds.
    #[arg(long, default_value_t = 0)]
    pub spin_ns: u64,
    /// CPU time per request to which --spin-percent adds, in nanoseconds.
    #[arg(long, default_value_t = 0)]
    pub base_ns: u64,
    /// The planted slowdown, in percent of --base-ns.
    #[arg(long, default_value_t = 0.0)]
    pub spin_percent: f64,
    /// Delay of every answer in microseconds, without CPU use.
    #[arg(long, default_value_t = 0)]
    pub delay_us: u64,
    /// Share of the requests, 0 to 1, that is answered after --slow-us instead. They are evenly spaced, not random.
    #[arg(long, default_value_t = 0.0)]
    pub slow_share: f64,
    /// Delay of that share, in microseconds.
    #[arg(long, default_value_t = 0)]
    pub slow_us: u64,
    /// The whole server stalls once per this many seconds, in the middle of each period; 0 for never.
    #[arg(long, default_value_t = 0.0)]
    pub stall_every_s: f64,
    /// Length of a stall in milliseconds.
    #[arg(long, default_value_t = 0)]
    pub stall_ms: u64,
    /// Length of every correct answer to a GET; 0 for the contract's length.
    #[arg(long, default_value_t = 0)]
    pub answer_bytes: usize,
    /// Time from one message to the next on the WebSocket /ws/ts, in milliseconds.
    #[arg(long, default_value_t = 100)]
    pub push_period_ms: u64,
    /// How far the stamps of these messages are ahead of the clock, in nanoseconds; negative for behind.
    #[arg(long, default_value_t = 0, allow_hyphen_values = true)]
    pub clock_ahead_ns: i64,
    /// On /events, a stream of events: from the headers to the first event, in milliseconds.
    #[arg(long, default_value_t = 0)]
    pub first_event_ms: u64,
    /// Time from one event to the next, in milliseconds.
    #[arg(long, default_value_t = 0)]
    pub event_gap_ms: u64,
    /// Events of each stream; after 0 of them the stream stays open and silent.
    #[arg(long, default_value_t = 10)]
    pub events: u32,
    /// Keeps a list of all answers, which [`Running::finish`](crate::Running::finish) returns.
    #[arg(skip)]
    pub keeps_ledger: bool,
    /// The planted fault.
    #[arg(long)]
    pub fault: Option<FaultKind>,
    /// The number of requests before the fault, which are answered correctly.
    #[arg(long, default_value_t = 0)]
    pub fault_after: u64,
    /// Does not print the ready line.
    #[arg(long)]
    pub never_ready: bool,
    /// Announces a wrong port.
    #[arg(long)]
    pub lie_ready: bool,
    /// Ignores SIGTERM.
    #[arg(long)]
    pub ignore_sigterm: bool,
    /// Lines written to stderr at the start.
    #[arg(long, default_value_t = 0)]
    pub stderr_noise: u64,
}

/// The defaults of the flags.
impl Default for Options {
    fn default() -> Self {
        let flags = Self::augment_args(clap::Command::new("reference"));
        Self::from_arg_matches(&flags.get_matches_from(["reference"])).expect("no flag is required")
    }
}

/// The effect of a fault on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FaultKind {
    /// The process aborts.
    Crash,
    /// No answer; the connection stays open.
    Hang,
    /// The connection is closed without an answer.
    Close,
    /// The connection is closed half-way through the body.
    CloseMidBody,
    /// The body has the right length and one wrong byte.
    WrongBody,
    /// Status 500.
    #[value(name = "status-500")]
    Status500,
    /// Bytes that are not HTTP.
    Garbage,
    /// The connection is closed inside the headers.
    TruncatedHeaders,
    /// A body that never ends.
    Flood,
    /// The correct answer, one byte at a time, ten per second.
    SlowLoris,
}
