//! A server with known behaviour. It answers the contract of the suites' servers, with planted delays, costs and faults, so
//! that a measurement can be checked. It is single-threaded, on loopback only, and supports HTTP/1.1 keep-alive and
//! WebSocket.

mod body;
mod connection;
mod contract;
mod error;
mod fault;
mod ledger;
mod options;
mod planted_costs;
mod request;
mod running;
mod server;
mod timers;
mod websocket;

pub use error::ReferenceError;
pub use fault::FaultKind;
pub use ledger::Served;
pub use options::Options;
pub use running::Running;
pub use server::{Stop, serve_until_stopped};
