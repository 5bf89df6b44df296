//! The flags of `tare reference`: one for each thing that can be planted.

use std::net::IpAddr;

use clap::Args;

/// Flags of `tare reference`: what is planted. See `tare_reference::Options`.
#[derive(Debug, Args)]
pub struct ReferenceArgs {
    /// Address to listen on.
    #[arg(long, env = "TARE_ADDRESS", default_value = "127.0.0.1")]
    pub address: IpAddr,
    /// Its port; 0 for any.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Routes served.
    #[arg(long, default_value_t = 128)]
    pub routes: u64,
    /// CPU burnt per request, in nanoseconds.
    #[arg(long, default_value_t = 0)]
    pub spin_ns: u64,
    /// CPU per request to which --spin-percent adds, in nanoseconds.
    #[arg(long, default_value_t = 0)]
    pub base_ns: u64,
    /// The planted slowdown, in percent of --base-ns.
    #[arg(long, default_value_t = 0.0)]
    pub spin_percent: f64,
    /// Every answer leaves so much later, in microseconds.
    #[arg(long, default_value_t = 0)]
    pub delay_us: u64,
    /// Share of requests (0–1) that is answered after --slow-us instead.
    #[arg(long, default_value_t = 0.0)]
    pub slow_share: f64,
    /// Delay of that share, in microseconds.
    #[arg(long, default_value_t = 0)]
    pub slow_us: u64,
    /// The whole server freezes once in this number of seconds.
    #[arg(long, default_value_t = 0.0)]
    pub stall_every_s: f64,
    /// How long it freezes, in milliseconds.
    #[arg(long, default_value_t = 0)]
    pub stall_ms: u64,
    /// Length of every right answer to a GET, in bytes; 0 for what the contract says.
    #[arg(long, default_value_t = 0)]
    pub answer_bytes: usize,
    /// From one message to the next on the WebSocket /ws/ts, in milliseconds.
    #[arg(long, default_value_t = 100)]
    pub push_period_ms: u64,
    /// How far the stamps of its messages are ahead of the clock, in nanoseconds; below zero behind.
    #[arg(long, default_value_t = 0, allow_hyphen_values = true)]
    pub clock_ahead_ns: i64,
    /// The fault that occurs.
    #[arg(long)]
    pub fault: Option<String>,
    /// The number of requests before the fault.
    #[arg(long, default_value_t = 0)]
    pub fault_after: u64,
    /// Never print the readiness line.
    #[arg(long)]
    pub never_ready: bool,
    /// Announce a wrong port.
    #[arg(long)]
    pub lie_ready: bool,
    /// Ignore SIGTERM.
    #[arg(long)]
    pub ignore_sigterm: bool,
    /// Lines written to stderr at the start.
    #[arg(long, default_value_t = 0)]
    pub stderr_noise: u64,
}
