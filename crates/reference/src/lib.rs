//! A server of known truth: it answers the contract of the suites' servers, with delays, costs and faults planted on
//! purpose, so that what measures can be measured. Single-threaded, HTTP/1.1 keep-alive and WebSocket, loopback only.

mod body;
mod breaking;
mod connection;
mod contract;
mod error;
mod fault;
mod ledger;
mod options;
mod push;
mod running;
mod server;
mod timers;
mod truth;
mod websocket;

pub use error::ReferenceError;
pub use fault::{Fault, FaultKind};
pub use ledger::Served;
pub use options::Options;
pub use running::Running;
pub use server::{Stop, serve};
