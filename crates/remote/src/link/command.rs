//! Runs a short command, such as one call of ssh or kubectl, until it exits, is cancelled, or makes no progress for too long.

use std::fs::File;
use std::io::{self, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use tare_load::Cancel;
use tare_sys::clock;

use super::pipe_tail::PipeTail;

/// How often a running command is checked.
const CHECK_EVERY: Duration = Duration::from_millis(20);

/// The most bytes of a command's standard output.
const MOST_OUTPUT: usize = 64 << 20;

#[derive(Debug)]
pub(super) enum CommandEnd {
    Exited {
        status: ExitStatus,
        stdout: String,
        /// The end of its standard error.
        stderr: String,
    },
    /// It read no more of its input and was killed: the end of its standard error.
    Stuck(String),
    Cancelled,
}

/// Runs `command` with this standard input. Kills it when it has neither exited nor read input for `idle_limit`, and after
/// `cancel`.
pub(super) fn run_command(
    command: &mut Command,
    input: Option<File>,
    idle_limit: Duration,
    cancel: &Cancel,
) -> io::Result<CommandEnd> {
    // Both handles share one file position, so this one shows how far the process has read.
    let mut read_position = input.as_ref().map(File::try_clone).transpose()?;
    let stdin = input.map_or_else(Stdio::null, Stdio::from);
    let mut process = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (Some(stdout), Some(stderr)) = (process.stdout.take(), process.stderr.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let tails = PipeTail::collect(stdout, MOST_OUTPUT).and_then(|out| Ok((out, PipeTail::collect_errors(stderr)?)));
    let (stdout_tail, stderr_tail) = tails.inspect_err(|_| kill(&mut process))?;
    let (mut at, mut since) = (0, clock::now());
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(CommandEnd::Exited { status, stdout: stdout_tail.text(), stderr: stderr_tail.text() });
        }
        if cancel.is_cancelled() {
            kill(&mut process);
            return Ok(CommandEnd::Cancelled);
        }
        let now = clock::now();
        let position = read_position.as_mut().and_then(|file| file.stream_position().ok()).unwrap_or(at);
        if position != at {
            (at, since) = (position, now);
        }
        if now.since(since) > idle_limit.as_nanos() as u64 {
            kill(&mut process);
            return Ok(CommandEnd::Stuck(stderr_tail.text()));
        }
        std::thread::park_timeout(CHECK_EVERY);
    }
}

fn kill(process: &mut Child) {
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
    fn a_command_without_progress_is_killed() {
        let waits = "echo so >&2; exec sleep 1000";
        let end = run_command(&mut shell(waits), None, Duration::ZERO, &Cancel::default()).unwrap();
        assert!(matches!(end, CommandEnd::Stuck(_)), "{end:?}");
        let cancel = Cancel::default();
        cancel.cancel();
        let end = run_command(&mut shell(waits), None, Duration::from_secs(3600), &cancel).unwrap();
        assert!(matches!(end, CommandEnd::Cancelled), "{end:?}");
    }

    #[test]
    fn a_command_reads_its_input_and_may_write_much() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "x".repeat(300_000)).unwrap();
        let input = File::open(folder.path().join("file")).unwrap();
        let copies_input = "cat >&2; echo >&2; echo over >&2; exit 3";
        let end =
            run_command(&mut shell(copies_input), Some(input), Duration::from_secs(3600), &Cancel::default()).unwrap();
        let CommandEnd::Exited { status, stderr, .. } = end else { panic!("{end:?}") };
        assert_eq!((status.code(), stderr.ends_with("x\nover\n")), (Some(3), true), "{stderr}");
    }

    #[test]
    fn the_output_of_a_command_is_whole() {
        let end = run_command(&mut shell("seq 100000"), None, Duration::from_secs(3600), &Cancel::default()).unwrap();
        let CommandEnd::Exited { stdout, .. } = end else { panic!("{end:?}") };
        assert_eq!(stdout.lines().count(), 100_000);
    }
}
