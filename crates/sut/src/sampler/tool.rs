//! Runs a program to its end, with a time limit.

use std::io::Read;
use std::time::Duration;

use tare_sys::child::{Child, How, Program};
use tare_sys::threads;

use crate::SutError;

/// Runs a program to its end and returns both of its outputs.
pub(crate) fn run(program: Program, timeout: Duration, doing: &str, remedy: &str) -> Result<String, SutError> {
    let wrong = |said: String| SutError::Sampler { doing: doing.to_owned(), said, remedy: remedy.to_owned() };
    let mut child = Child::spawn(program).map_err(|error| wrong(error.to_string()))?;
    let output = child.take_output();
    let reader = threads::spawn("output", move || {
        let mut said = Vec::new();
        // After a failed read, the output up to there counts.
        let _ = output.map(|mut output| output.read_to_end(&mut said));
        String::from_utf8_lossy(&said).trim().to_owned()
    });
    let reader = reader.map_err(|error| wrong(format!("no thread can be started to read its output: {error}")))?;
    let how = child.wait(timeout);
    // Its end closes the pipe, which ends the reader.
    child.kill_tree().map_err(|error| wrong(error.to_string()))?;
    let said = reader.join().unwrap_or_default();
    match how {
        Some(How::Code(0)) => Ok(said),
        Some(how) => Err(wrong(if said.is_empty() { how.to_string() } else { said })),
        None => Err(wrong(format!("no answer within {} s", timeout.as_secs()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, timeout: Duration) -> Result<String, SutError> {
        run(Program::new("/bin/sh").args(["-c", script]), timeout, "try", "do this")
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
        assert!(error.contains("no answer within 0 s"), "{error}");
    }
}
