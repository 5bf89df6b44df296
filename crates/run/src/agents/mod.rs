//! Agents as processes: where they run, how they are started, and the pipes to them. `load::fleet`, `load_host` and `server_host`
//! define the orders and reports.

pub(crate) mod client;
mod command;
pub(crate) mod kubernetes;
pub(crate) mod link;
pub(crate) mod order_handler;
pub(crate) mod place;
pub(crate) mod ssh;
pub(crate) mod starting;
mod stderr_tail;
#[cfg(test)]
pub(crate) mod tests;
