//! Agents on other machines over the system's ssh, with its usual configuration, keys, ssh-agent, jump hosts and known hosts.
//! Copies the program into a folder of its own if it is missing there.

use std::fmt::Display;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tare_load::Cancel;
use tare_plan::agent_place::AgentPlace;

use super::command::{CommandError, run_command};
use super::pipe_tail::last_line;
use tare_run::RunError;

/// How long ssh may take to connect and to check whether the program is there.
const CHECK_IDLE_LIMIT: Duration = Duration::from_secs(30);
/// How long a copy may read no input. On a slow network, ssh sends what it has read much later.
const COPY_IDLE_LIMIT: Duration = Duration::from_secs(120);

const EXIT_MISSING: i32 = 97;
const EXIT_CANNOT_CONNECT: i32 = 255;

/// This program as it is copied to other machines.
#[derive(Debug)]
pub(crate) struct Program {
    file: PathBuf,
    /// SHA-256 in hex; empty where the program is not copied.
    hash: String,
}

impl Program {
    /// The running program. Its hash is needed only where it is copied.
    pub(crate) fn of_this_process(is_copied: bool) -> io::Result<Self> {
        let file = std::env::current_exe()?;
        if !is_copied {
            return Ok(Self { file, hash: String::new() });
        }
        let hash = Sha256::digest(std::fs::read(&file)?).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { file, hash })
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.file);
        command.arg("agent");
        command
    }
}

#[derive(Debug)]
pub(crate) struct SshHost {
    /// As users write it.
    pub(crate) name: String,
    destination: String,
    port: Option<u16>,
}

impl SshHost {
    pub(crate) fn of(place: &AgentPlace) -> Option<Self> {
        let AgentPlace::Ssh { destination, port } = place else { return None };
        Some(Self { name: place.to_string(), destination: destination.clone(), port: *port })
    }

    pub(crate) fn lacks(&self, program: &Program, cancel: &Cancel) -> Result<bool, RunError> {
        let script = format!("{}; {} || exit {EXIT_MISSING}", set_path_variables(program), hash_test(program, "$f"));
        let status = self.run_script(&script, None, CHECK_IDLE_LIMIT, "cannot look for the program there", cancel)?;
        Ok(status.code() == Some(EXIT_MISSING))
    }

    /// Copies to a temporary file first: a partial copy, as after Ctrl-C, replaces nothing.
    pub(crate) fn copy(&self, program: &Program, cancel: &Cancel) -> Result<(), RunError> {
        let script = format!(
            "{}; umask 077; mkdir -p \"$d\" && t=\"$f.$$\" && cat > \"$t\" && {} && chmod 700 \"$t\" && mv \"$t\" \"$f\" || \
             {{ rm -f \"$t\"; exit 98; }}",
            set_path_variables(program),
            hash_test(program, "$t")
        );
        let failure = "cannot copy tare to ~/.cache/tare there (is the disk full?)";
        self.run_script(&script, Some(&program.file), COPY_IDLE_LIMIT, failure, cancel).map(drop)
    }

    pub(crate) fn agent(&self, program: &Program) -> Command {
        self.command(&format!("{}; exec \"$f\" agent", set_path_variables(program)))
    }

    /// Runs a script on the host. Returns its status: success, or [`EXIT_MISSING`]. An error begins with `failure`.
    fn run_script(
        &self,
        script: &str,
        input: Option<&Path>,
        idle_limit: Duration,
        failure: &str,
        cancel: &Cancel,
    ) -> Result<ExitStatus, RunError> {
        let failed = |reason: &dyn Display| self.error(format!("{failure}: {reason}"));
        let input = input.map(File::open).transpose().map_err(|error| failed(&error))?;
        let by_hand = format!("{} true", self.command_for_users("ssh"));
        let ended = run_command(&mut self.command(script), input, idle_limit, &by_hand, cancel);
        let ended = ended.map_err(|error| match error {
            CommandError::Cancelled => RunError::Interrupted,
            CommandError::Failed(reason) => failed(&reason),
        })?;
        let is_done = ended.status.success() || ended.status.code() == Some(EXIT_MISSING);
        if is_done { Ok(ended.status) } else { Err(self.script_error(ended.status, &ended.stderr, failure)) }
    }

    /// `script` has no single quotes, so any shell takes it as one word. ssh never asks the user, so it may have a process group
    /// of its own; Ctrl-C does not reach it.
    fn command(&self, script: &str) -> Command {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new("ssh");
        for option in ["BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3"] {
            command.args(["-o", option]);
        }
        if let Some(port) = self.port {
            command.args(["-p", &port.to_string()]);
        }
        command.args(["--", self.destination.as_str()]).arg(format!("sh -c '{script}'")).process_group(0);
        command
    }

    fn script_error(&self, status: ExitStatus, stderr: &str, failure: &str) -> RunError {
        let last = last_line(stderr).map_or("it gave no reason", |line| line.trim_end_matches('.'));
        if status.code() == Some(EXIT_CANNOT_CONNECT) {
            return self.error(format!("ssh cannot connect: {last}; {}", self.remedy(stderr)));
        }
        self.error(format!("{failure}: {last}"))
    }

    fn remedy(&self, stderr: &str) -> String {
        let has = |part: &str| stderr.contains(part);
        let by_hand = self.command_for_users("ssh");
        if has("REMOTE HOST IDENTIFICATION HAS CHANGED") {
            let host = self.known_hosts_name();
            return format!(
                "the key of this host has changed. If that is right, remove the old one (ssh-keygen -R {host}) and connect once by hand: {by_hand}"
            );
        }
        if has("Host key verification failed") {
            return format!("ssh does not know this host. Connect once by hand and check its key: {by_hand}");
        }
        if has("Permission denied") {
            let copy = self.command_for_users("ssh-copy-id");
            return format!("ssh would have to ask for a password, and tare does not let it. Let it use a key: {copy}");
        }
        format!("check that this works: {by_hand} true")
    }

    /// The command line of a program of ssh for this host, for messages.
    fn command_for_users(&self, program: &str) -> String {
        let port = self.port.map_or_else(String::new, |port| format!(" -p {port}"));
        format!("{program}{port} {}", self.destination)
    }

    /// The name of the host in ssh's list of known hosts, for messages.
    fn known_hosts_name(&self) -> String {
        let host = self.destination.rsplit('@').next().unwrap_or_default();
        match self.port {
            None | Some(22) => host.to_owned(),
            Some(port) => format!("'[{host}]:{port}'"),
        }
    }

    fn error(&self, reason: String) -> RunError {
        RunError::Agent { agent: self.name.to_owned(), reason }
    }
}

/// Shell code that sets `d` and `f` to the folder and the file of the program.
fn set_path_variables(program: &Program) -> String {
    format!("d=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/tare\"; f=\"$d/agent-{}\"", program.hash)
}

/// Shell code that tests whether this file is the program.
fn hash_test(program: &Program, file: &str) -> String {
    format!("test \"$({{ sha256sum < \"{file}\"; }} 2>/dev/null | cut -c1-64)\" = {}", program.hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(place: &str) -> SshHost {
        SshHost::of(&place.parse().unwrap()).unwrap()
    }

    fn program() -> Program {
        Program { file: PathBuf::from("/bin/tare"), hash: "ab".repeat(32) }
    }

    #[test]
    fn ssh_never_asks_and_the_script_is_one_word_of_any_shell() {
        let command = host("ssh://ada@bench1:2222").agent(&program());
        let args: Vec<String> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
        assert_eq!(args[..2], ["-o", "BatchMode=yes"]);
        assert_eq!(args[8..12], ["-p", "2222", "--", "ada@bench1"]);
        let script = args.last().unwrap().strip_prefix("sh -c '").unwrap().strip_suffix('\'').unwrap();
        assert!(!script.contains('\'') && script.ends_with("exec \"$f\" agent"), "{script}");
    }

    #[test]
    fn a_refusal_of_ssh_says_what_to_do() {
        use std::os::unix::process::ExitStatusExt;
        let script_error = |host: &SshHost, code: i32, text: &str| {
            host.script_error(ExitStatus::from_raw(code << 8), text, "cannot copy tare").to_string()
        };
        let (host, plain) = (host("ssh://ada@bench1:2222"), host("ssh://bench1"));
        let changed = "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.";
        for (text, says, says_without_port) in [
            (
                "ada@bench1: Permission denied (publickey,password).",
                "(publickey,password); ssh would have to ask for a password, and tare does not let it. Let it use a key: \
                 ssh-copy-id -p 2222 ada@bench1",
                "ssh-copy-id bench1",
            ),
            (
                "Host key verification failed.",
                "verification failed; ssh does not know this host. Connect once by hand and check its key: ssh -p 2222 \
                 ada@bench1",
                "its key: ssh bench1",
            ),
            (changed, "(ssh-keygen -R '[bench1]:2222') and connect once by hand: ssh -p 2222 ada@bench1", "-R bench1)"),
            (
                "ssh: connect to host bench1 port 2222: Connection refused",
                "check that this works: ssh -p 2222 ada@bench1 true",
                "ssh bench1 true",
            ),
        ] {
            let why = script_error(&host, EXIT_CANNOT_CONNECT, text);
            assert!(
                why.starts_with("agent ssh://ada@bench1:2222: ssh cannot connect: ") && why.ends_with(says),
                "{why}"
            );
            let why = script_error(&plain, EXIT_CANNOT_CONNECT, text);
            assert!(why.contains(says_without_port), "{why}");
        }
        let full = script_error(&host, 98, "cat: write error: No space left on device");
        assert_eq!(full, "agent ssh://ada@bench1:2222: cannot copy tare: cat: write error: No space left on device");
    }
}
