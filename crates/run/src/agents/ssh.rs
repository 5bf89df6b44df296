//! Agents on other machines, by the system's ssh: its configuration, keys, agents, jump hosts and known hosts work as
//! users know them. The program is copied into a folder of its own if it is not there.

use std::env::consts::OS;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use sha2::{Digest, Sha256};

use crate::error::RunError;

/// What the remote shell answers when the program is not there or differs.
const IS_MISSING: i32 = 97;
/// What ssh answers when it cannot connect.
const CANNOT_CONNECT: i32 = 255;

/// This program as it is copied to other machines.
#[derive(Debug)]
pub(crate) struct Program {
    file: PathBuf,
    /// SHA-256 in hex; empty where the program is not copied.
    hash: String,
}

impl Program {
    /// The running program. Its hash is needed only where it is copied.
    ///
    /// # Errors
    /// When its file cannot be read, or it is to be copied and is not for Linux.
    pub(crate) fn of_this_process(is_copied: bool) -> io::Result<Self> {
        let file = std::env::current_exe()?;
        if !is_copied {
            return Ok(Self { file, hash: String::new() });
        }
        if OS != "linux" {
            let reason = format!("other machines need Linux, and a tare for Linux to copy there; this one is for {OS}");
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
        let hash = Sha256::digest(std::fs::read(&file)?).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { file, hash })
    }

    /// The command of an agent on this machine.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.file);
        command.arg("agent");
        command
    }
}

/// A host, as ssh takes it.
#[derive(Debug)]
pub(crate) struct SshHost<'a> {
    pub(crate) name: &'a str,
    pub(crate) destination: &'a str,
    pub(crate) port: Option<u16>,
}

impl SshHost<'_> {
    /// Copies the program to the host unless it is there.
    ///
    /// # Errors
    /// When ssh cannot connect without asking, or the host cannot hold the program: what to do.
    pub(crate) fn bring(&self, program: &Program) -> Result<(), RunError> {
        let there = self.output(&format!("{}; {} || exit {IS_MISSING}", place_of(program), check(program)), None)?;
        match there.status.code() {
            Some(0) => Ok(()),
            Some(IS_MISSING) => self.copy(program),
            _ => Err(self.problem(&there, "cannot look for the program there")),
        }
    }

    fn copy(&self, program: &Program) -> Result<(), RunError> {
        let script = format!(
            "{}; umask 077; mkdir -p \"$d\" && t=\"$f.$$\" && cat > \"$t\" && chmod 700 \"$t\" && mv \"$t\" \"$f\" || \
             {{ rm -f \"$t\"; exit 98; }}; {} || exit {IS_MISSING}",
            place_of(program),
            check(program)
        );
        let copied = self.output(&script, Some(&program.file))?;
        if copied.status.success() {
            return Ok(());
        }
        Err(self.problem(&copied, "cannot copy tare to ~/.cache/tare there (is the disk full?)"))
    }

    /// The command that runs an agent there.
    pub(crate) fn agent(&self, program: &Program) -> Command {
        self.command(&format!("{}; exec \"$f\" agent", place_of(program)))
    }

    fn output(&self, script: &str, stdin: Option<&Path>) -> Result<Output, RunError> {
        let failed = |error: io::Error| {
            let remedy = if error.kind() == io::ErrorKind::NotFound { "; install an ssh client" } else { "" };
            self.error(format!("cannot run ssh: {error}{remedy}"))
        };
        let stdin = stdin.map(File::open).transpose().map_err(failed)?;
        let stdin = stdin.map_or_else(Stdio::null, Stdio::from);
        self.command(script).stdin(stdin).output().map_err(failed)
    }

    /// `script` has no single quotes, so any shell takes it as one word.
    fn command(&self, script: &str) -> Command {
        let mut command = Command::new("ssh");
        for option in ["BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3"] {
            command.args(["-o", option]);
        }
        if let Some(port) = self.port {
            command.args(["-p", &port.to_string()]);
        }
        command.args(["--", self.destination]).arg(format!("sh -c '{script}'"));
        command
    }

    fn problem(&self, output: &Output, what: &str) -> RunError {
        let text = String::from_utf8_lossy(&output.stderr);
        let last = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it gave no reason");
        if output.status.code() == Some(CANNOT_CONNECT) {
            let remedy = self.remedy(&text);
            return self.error(format!("ssh cannot connect: {last}; {remedy}"));
        }
        self.error(format!("{what}: {last}"))
    }

    /// What to do about ssh's refusal.
    fn remedy(&self, text: &str) -> String {
        let destination = self.destination;
        let has = |part: &str| text.contains(part);
        if has("REMOTE HOST IDENTIFICATION HAS CHANGED") {
            return format!(
                "the key of this host has changed. If that is right, remove the old one (ssh-keygen -R {destination}) and connect once by hand"
            );
        }
        if has("Host key verification failed") {
            return format!("ssh does not know this host. Connect once by hand and check its key: ssh {destination}");
        }
        if has("Permission denied") {
            return format!(
                "ssh would have to ask for a password, and tare does not let it. Let it use a key: ssh-copy-id {destination}"
            );
        }
        format!("check that this works: ssh {destination} true")
    }

    fn error(&self, reason: String) -> RunError {
        RunError::Agent { agent: self.name.to_owned(), reason }
    }
}

/// Sets `d` and `f` to the folder and the file of the program.
fn place_of(program: &Program) -> String {
    format!("d=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/tare\"; f=\"$d/agent-{}\"", program.hash)
}

/// Is the file there what it is called?
fn check(program: &Program) -> String {
    format!("test \"$({{ sha256sum < \"$f\"; }} 2>/dev/null | cut -c1-64)\" = {}", program.hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> SshHost<'static> {
        SshHost { name: "ssh://ada@bench1:2222", destination: "ada@bench1", port: Some(2222) }
    }

    fn program() -> Program {
        Program { file: PathBuf::from("/bin/tare"), hash: "ab".repeat(32) }
    }

    #[test]
    fn ssh_never_asks_and_the_script_is_one_word_of_any_shell() {
        let command = host().agent(&program());
        let args: Vec<String> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
        assert_eq!(args[..2], ["-o", "BatchMode=yes"]);
        assert_eq!(args[8..12], ["-p", "2222", "--", "ada@bench1"]);
        let script = args.last().unwrap().strip_prefix("sh -c '").unwrap().strip_suffix('\'').unwrap();
        assert!(!script.contains('\'') && script.ends_with("exec \"$f\" agent"), "{script}");
    }

    #[test]
    fn a_refusal_of_ssh_says_what_to_do() {
        use std::os::unix::process::ExitStatusExt;
        let problem = |code: i32, text: &str| {
            let (status, stderr) = (std::process::ExitStatus::from_raw(code << 8), text.as_bytes().to_vec());
            host().problem(&Output { status, stdout: Vec::new(), stderr }, "cannot copy tare").to_string()
        };
        for (text, says) in [
            ("ada@bench1: Permission denied (publickey,password).", "ssh-copy-id ada@bench1"),
            ("Host key verification failed.", "Connect once by hand and check its key: ssh ada@bench1"),
            (
                "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
                "ssh-keygen -R ada@bench1",
            ),
            ("ssh: connect to host bench1 port 2222: Connection refused", "ssh ada@bench1 true"),
        ] {
            let why = problem(CANNOT_CONNECT, text);
            assert!(
                why.starts_with("agent ssh://ada@bench1:2222: ssh cannot connect: ") && why.contains(says),
                "{why}"
            );
        }
        let full = problem(98, "cat: write error: No space left on device");
        assert_eq!(full, "agent ssh://ada@bench1:2222: cannot copy tare: cat: write error: No space left on device");
    }
}
