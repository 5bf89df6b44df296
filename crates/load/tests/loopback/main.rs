//! The engine over real sockets on loopback, against the server of known truth.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod certificates;
mod faults;
mod http2;
mod slices;
mod support;
mod tls;
