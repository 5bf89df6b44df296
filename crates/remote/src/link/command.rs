//! Runs a short command, such as one call of ssh or kubectl, until it exits, is cancelled, or makes no progress for too long.

use std::fs::File;
use std::io::{self, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use tare_load::Cancel;
use tare_run::{RunError, plain_line};
use tare_sys::clock;

use super::pipe_tail::{ERROR_BYTES, PipeTail, last_line};

const CHECK_EVERY: Duration = Duration::from_millis(20);

const MOST_OUTPUT: usize = 64 << 20;

#[derive(Debug)]
pub(super) struct Exited {
    pub status: ExitStatus,
    pub stdout: String,
    /// The end of its standard error.
    pub stderr: String,
}

#[derive(Debug)]
pub(super) enum CommandError {
    Cancelled,
    /// The reason and what to do, in one sentence.
    Failed(String),
}

impl CommandError {
    /// The error of a run, about the agents of this place.
    pub fn at(self, place: &str) -> RunError {
        match self {
            Self::Cancelled => RunError::Interrupted,
            Self::Failed(reason) => RunError::Agent { agent: place.to_owned(), reason },
        }
    }

    pub fn reason(self) -> String {
        match self {
            Self::Cancelled => "it was interrupted".to_owned(),
            Self::Failed(reason) => reason,
        }
    }
}

/// Runs `command` with this standard input. Kills it when it has neither exited nor read input for `idle_limit`, and after
/// `cancel`. The error then names `by_hand`, a command that the user can try.
pub(super) fn run_command(
    command: &mut Command,
    input: Option<File>,
    idle_limit: Duration,
    by_hand: &str,
    cancel: &Cancel,
) -> Result<Exited, CommandError> {
    let program = command.get_program().display().to_string();
    let cannot_run = |error: io::Error| {
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        let remedy = if is_missing { format!("; install {program}") } else { String::new() };
        CommandError::Failed(format!("cannot run {program}: {error}{remedy}"))
    };
    // Both handles share one file position, so this one shows how far the process has read.
    let mut read_position = input.as_ref().map(File::try_clone).transpose().map_err(cannot_run)?;
    let stdin = input.map_or_else(Stdio::null, Stdio::from);
    let piped = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = piped.spawn().map_err(cannot_run)?;
    let tails = tails_of(&mut process).inspect_err(|_| kill(&mut process));
    let (stdout, stderr) = tails.map_err(cannot_run)?;
    let (mut at, mut since) = (0, clock::now());
    loop {
        if let Some(status) = process.try_wait().map_err(cannot_run)? {
            return Ok(Exited { status, stdout: stdout.text(), stderr: stderr.text() });
        }
        if cancel.is_cancelled() {
            kill(&mut process);
            return Err(CommandError::Cancelled);
        }
        let now = clock::now();
        let position = read_position.as_mut().and_then(|file| file.stream_position().ok()).unwrap_or(at);
        if position != at {
            (at, since) = (position, now);
        }
        if now.since(since) > idle_limit.as_nanos() as u64 {
            kill(&mut process);
            let stuck = stuck_text(&program, idle_limit, &stderr.text());
            return Err(CommandError::Failed(format!("{stuck}; check that this works: {by_hand}")));
        }
        std::thread::park_timeout(CHECK_EVERY);
    }
}

fn tails_of(process: &mut Child) -> io::Result<(PipeTail, PipeTail)> {
    let (Some(stdout), Some(stderr)) = (process.stdout.take(), process.stderr.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    Ok((PipeTail::collect(stdout, MOST_OUTPUT)?, PipeTail::collect(stderr, ERROR_BYTES)?))
}

fn kill(process: &mut Child) {
    let _ = process.kill();
    let _ = process.wait();
}

fn stuck_text(program: &str, waited: Duration, stderr: &str) -> String {
    let last = last_line(stderr).map_or_else(String::new, |last| format!(" (its last output: {})", plain_line(last)));
    format!("{program} made no progress for {} s{last}", waited.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_shell(
        script: &str,
        input: Option<File>,
        idle_limit: Duration,
        cancel: &Cancel,
    ) -> Result<Exited, CommandError> {
        run_command(Command::new("sh").args(["-c", script]), input, idle_limit, "sh -c true", cancel)
    }

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_command_without_progress_is_killed() {
        let waits = "echo so >&2; exec sleep 1000";
        let why = run_shell(waits, None, Duration::ZERO, &Cancel::default()).unwrap_err().reason();
        assert!(why.starts_with("sh made no progress for 0 s") && why.ends_with("this works: sh -c true"), "{why}");
        let cancel = Cancel::default();
        cancel.cancel();
        let end = run_shell(waits, None, HOUR, &cancel);
        assert!(matches!(end, Err(CommandError::Cancelled)), "{end:?}");
    }

    #[test]
    fn a_command_that_hangs_says_what_it_waits_for() {
        let why = stuck_text("kubectl", Duration::from_secs(30), "Open this page\u{1b} to log in\n\n");
        assert_eq!(why, "kubectl made no progress for 30 s (its last output: Open this page  to log in)");
    }

    #[test]
    fn a_program_that_is_not_there_is_to_be_installed() {
        let missing = run_command(&mut Command::new("no-such-ssh"), None, HOUR, "true", &Cancel::default());
        let why = missing.unwrap_err().reason();
        assert!(why.starts_with("cannot run no-such-ssh: ") && why.ends_with("; install no-such-ssh"), "{why}");
    }

    #[test]
    fn a_command_reads_its_input_and_may_write_much() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "x".repeat(300_000)).unwrap();
        let input = File::open(folder.path().join("file")).unwrap();
        let copies_input = "cat >&2; echo >&2; echo over >&2; exit 3";
        let Exited { status, stderr, .. } = run_shell(copies_input, Some(input), HOUR, &Cancel::default()).unwrap();
        assert_eq!((status.code(), stderr.ends_with("x\nover\n")), (Some(3), true), "{stderr}");
    }

    #[test]
    fn the_output_of_a_command_is_whole() {
        let ended = run_shell("seq 100000", None, HOUR, &Cancel::default()).unwrap();
        assert_eq!(ended.stdout.lines().count(), 100_000);
    }
}
