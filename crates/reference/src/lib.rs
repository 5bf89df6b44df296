//! A server with known behaviour. It answers the contract of the suites' servers, with planted delays, costs and faults, so
//! that a measurement can be checked. It is single-threaded, and speaks HTTP/1.1, WebSocket, HTTP/2 without TLS and unary
//! gRPC.

mod connection;
mod contract;
mod http2;
mod ledger;
mod options;
mod planted_costs;
mod request;
mod running;
mod server;
mod timers;
mod websocket;

pub use ledger::Served;
pub use options::{FaultKind, Options};
pub use running::Running;
pub use server::{ReferenceError, serve_until_stopped};
