//! `tare reference`: the built-in server with known behaviour, for tests, benchmarks and preflight's self-test.

use std::net::SocketAddr;

use tare_reference::{Options, Stop, serve_until_stopped};

use crate::console;
use crate::failure::Outcome;

/// Serves until SIGTERM.
pub fn reference(options: &Options) -> anyhow::Result<Outcome> {
    let stop = Stop::default();
    serve_until_stopped(options, &stop, |address: SocketAddr| {
        console::print_text(&format!("tare: ready on {address}\n"))
    })?;
    Ok(Outcome::Done)
}
