//! Runs a program to its end, with a time limit, or until Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tare_sys::child::{How, Program, run_to_end};

use crate::SutError;

/// Runs a program to its end, unless `cancelled` is raised, and returns both of its outputs.
pub(crate) fn run(
    program: Program,
    timeout: Duration,
    cancelled: &AtomicBool,
    doing: &str,
    remedy: &str,
) -> Result<String, SutError> {
    output_of(program, timeout, cancelled).map_err(|said| SutError::sampler(doing, said, remedy))
}

/// The same for any purpose; in words, why it failed.
pub(crate) fn output_of(program: Program, timeout: Duration, cancelled: &AtomicBool) -> Result<String, String> {
    let (how, said) = run_to_end(program, timeout, cancelled).map_err(|error| error.to_string())?;
    let said = said.trim().to_owned();
    match how {
        Some(How::Code(0)) => Ok(said),
        Some(how) => Err(if said.is_empty() { how.to_string() } else { said }),
        None if cancelled.load(Ordering::Relaxed) => Err("given up as asked".to_owned()),
        None => Err(format!("it did not end within {} s", timeout.as_secs())),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    /// Writes a program from another process. A child that another test starts meanwhile would keep a file open that
    /// this process writes, and what is open for writing cannot be executed (ETXTBSY).
    pub(crate) fn write_program(file: &Path, text: &str) {
        let write = ["-c", "printf %s \"$1\" >\"$0\" && chmod 755 \"$0\""];
        assert!(Command::new("sh").args(write).arg(file).arg(text).status().unwrap().success());
    }

    fn shell(script: &str, timeout: Duration) -> Result<String, SutError> {
        run(Program::new("/bin/sh").args(["-c", script]), timeout, &AtomicBool::new(false), "try", "do this")
    }

    #[test]
    fn a_program_that_fails_is_quoted_with_the_remedy() {
        assert_eq!(shell("echo fine", Duration::from_secs(60)).unwrap(), "fine");
        let error = shell("echo broken >&2; exit 3", Duration::from_secs(60)).unwrap_err().to_string();
        assert_eq!(error, "cannot try: broken; do this");
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let error = shell("exec sleep 1000", Duration::from_millis(50)).unwrap_err().to_string();
        assert!(error.contains("it did not end within 0 s"), "{error}");
    }

    #[test]
    fn ctrl_c_ends_a_program_at_once() {
        let sleep = Program::new("sleep").args(["1000"]);
        let error = run(sleep, Duration::from_secs(1000), &AtomicBool::new(true), "try", "do this").unwrap_err();
        assert_eq!(error.to_string(), "cannot try: given up as asked; do this");
    }
}
