//! Runs a tool to its end, a deadline or Ctrl-C, and keeps what it prints.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tare_sys::affinity::CpuSet;
use tare_sys::child::{How, Program, run_to_end};

/// How much of the end of its output an error shows.
const SHOWN_LINES: usize = 5;

/// Runs a command on these CPUs and returns what it printed; in words, why it failed.
pub(super) fn run(
    command: &[String],
    cpus: Option<CpuSet>,
    timeout: Duration,
    cancelled: &AtomicBool,
) -> Result<String, String> {
    match run_until_exit(command, cpus, timeout, cancelled)? {
        (How::Code(0), text) => Ok(text),
        (how, text) => Err(format!("it ended with {how}: {}", last_lines(&text))),
    }
}

/// Runs a command until it exits, with any status. The error says why it did not exit.
pub(super) fn run_until_exit(
    command: &[String],
    cpus: Option<CpuSet>,
    timeout: Duration,
    cancelled: &AtomicBool,
) -> Result<(How, String), String> {
    let (program, arguments) = command.split_first().ok_or("its command is empty")?;
    let program = Program { cpus, ..Program::new(program).args(arguments) };
    match run_to_end(program, timeout, cancelled).map_err(|error| error.to_string())? {
        (Some(how), text) => Ok((how, text)),
        (None, _) if cancelled.load(Ordering::Relaxed) => Err("given up as asked".to_owned()),
        (None, text) => Err(format!("it did not end within {} s: {}", timeout.as_secs(), last_lines(&text))),
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("; ")
}
