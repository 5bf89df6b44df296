//! Servers on this machine: starting them, and reading what they and other programs use.

pub(crate) mod counters;
pub mod live_server;
pub(crate) mod other_programs;
pub(crate) mod running_server;
pub(crate) mod server_id;
pub(crate) mod watch;
