//! What a client reads, whole and cut: one test program for all, so that one is linked.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod conformance;
mod corpus;
mod http2;
mod outcome;
mod response;
mod websocket;
