//! `tare reference`: the built-in server with known behaviour, for tests, benchmarks and preflight's self-test.

use std::sync::Arc;

use tare_reference::{Options, serve_until_stopped};

use crate::failure::Outcome;
use crate::{console, interrupt};

pub fn reference(options: &Options) -> anyhow::Result<Outcome> {
    // A signal without a handler ends a process, but not the first one of a container.
    let stop = match std::process::id() {
        1 if !options.ignore_sigterm => interrupt::flag()?,
        _ => Arc::default(),
    };
    serve_until_stopped(options, &stop, |address| console::print_text(&format!("tare: ready on {address}\n")))?;
    Ok(Outcome::Done)
}
