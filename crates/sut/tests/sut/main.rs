//! Servers built, started and verified: one test program for all, so that one is linked.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod build;
mod catalog;
mod contract;
mod cpu;
mod protocols;
mod server;
#[path = "../helper/spec.rs"]
mod spec;
mod starting;
