//! Serves until it is killed: `serve PORT`, for measuring by hand.
#![allow(clippy::print_stdout, reason = "the readiness line is what a server prints")]

use std::error::Error;

use tare_reference::{Options, Stop, serve};

fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).unwrap_or_default().parse().unwrap_or(0);
    let options = Options { port, ..Options::default() };
    serve(&options, &Stop::default(), |address| println!("tare: ready on {address}"))?;
    Ok(())
}
