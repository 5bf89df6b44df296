//! A short errand of ssh. It ends by itself, after Ctrl-C, or when it has not got on for too long.

use std::fs::File;
use std::io::{self, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use tare_load::Cancel;
use tare_sys::clock;

use super::last_words::LastWords;

/// How often a running errand is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How an errand ended.
#[derive(Debug)]
pub(super) enum ErrandEnd {
    /// By itself: its status and the end of its standard error.
    Over(ExitStatus, String),
    /// It took no more of its input, and was ended: the end of its standard error.
    Stuck(String),
    /// It was cancelled, and ended.
    Cancelled,
}

/// Runs `command` with this standard input. It is given up when it has neither ended nor read from it for `patience`. Ctrl-C
/// reaches it through `cancel` alone.
///
/// # Errors
/// When it cannot be started.
pub(super) fn run_errand(
    command: &mut Command,
    input: Option<File>,
    patience: Duration,
    cancel: &Cancel,
) -> io::Result<ErrandEnd> {
    use std::os::unix::process::CommandExt;
    // Both have one position in the file, so this one tells how far the process has read.
    let mut read = input.as_ref().map(File::try_clone).transpose()?;
    let stdin = input.map_or_else(Stdio::null, Stdio::from);
    let mut process = command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0).spawn()?;
    let Some(stderr) = process.stderr.take() else { return Err(io::ErrorKind::BrokenPipe.into()) };
    let words = LastWords::of(stderr).inspect_err(|_| end(&mut process))?;
    let (mut at, mut since) = (0, clock::now());
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(ErrandEnd::Over(status, words.text()));
        }
        if cancel.is_cancelled() {
            end(&mut process);
            return Ok(ErrandEnd::Cancelled);
        }
        let now = clock::now();
        let position = read.as_mut().and_then(|file| file.stream_position().ok()).unwrap_or(at);
        if position != at {
            (at, since) = (position, now);
        }
        if now.since(since) > patience.as_nanos() as u64 {
            end(&mut process);
            return Ok(ErrandEnd::Stuck(words.text()));
        }
        std::thread::park_timeout(LOOK_EVERY);
    }
}

fn end(process: &mut Child) {
    let _ = process.kill();
    let _ = process.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn an_errand_that_does_not_get_on_is_ended() {
        let waits = "echo so >&2; exec sleep 1000";
        let end = run_errand(&mut shell(waits), None, Duration::ZERO, &Cancel::default()).unwrap();
        assert!(matches!(end, ErrandEnd::Stuck(_)), "{end:?}");
        let cancel = Cancel::default();
        cancel.cancel();
        let end = run_errand(&mut shell(waits), None, Duration::from_secs(3600), &cancel).unwrap();
        assert!(matches!(end, ErrandEnd::Cancelled), "{end:?}");
    }

    #[test]
    fn an_errand_reads_its_input_and_may_say_much() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "x".repeat(300_000)).unwrap();
        let input = File::open(folder.path().join("file")).unwrap();
        let says_all = "cat >&2; echo >&2; echo over >&2; exit 3";
        let end = run_errand(&mut shell(says_all), Some(input), Duration::from_secs(3600), &Cancel::default()).unwrap();
        let ErrandEnd::Over(status, words) = end else { panic!("{end:?}") };
        assert_eq!((status.code(), words.ends_with("x\nover\n")), (Some(3), true), "{words}");
    }
}
