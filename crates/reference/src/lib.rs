//! A server with known behaviour. It answers the contract of the suites' servers, with planted delays, costs and faults, so
//! that a measurement can be checked. It is single-threaded, and speaks HTTP/1.1, WebSocket, HTTP/2 without TLS and unary
//! gRPC.

mod body;
mod connection;
mod contract;
mod fault;
mod http2;
mod ledger;
mod options;
mod planted_costs;
mod request;
mod running;
mod server;
mod timers;
mod websocket;

pub use fault::FaultKind;
pub use ledger::Served;
pub use options::Options;
pub use running::Running;
pub use server::{ReferenceError, serve_until_stopped};
