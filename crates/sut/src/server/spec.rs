//! A server to start: a command with its port filled in, the sign that it is ready, and its URL.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use regex::Regex;
use serde::{Deserialize, Serialize};
use tare_plan::plan::CounterSource;
use tare_plan::suite::{FILES, UPSTREAM};
use tare_sys::affinity::CpuSet;
use tare_sys::child::SchedulingPolicy;
use tare_sys::socket::free_port;
use tempfile::TempDir;

use crate::SutError;

/// Placeholder of the port in commands, variables and URLs.
pub const PORT: &str = "{port}";
/// Placeholder of the address to listen on, in the same places.
pub const ADDRESS: &str = "{address}";
/// The options of Java before a class path.
pub const CLASS_PATH_OPTIONS: [&str; 3] = ["-cp", "-classpath", "--class-path"];
/// A longer class path is written to a file when the JVM is started, because one argument of a command may have 128 KiB.
const LONGEST_CLASS_PATH_BYTES: usize = 100 * 1024;
/// That file of a server, beside its own.
const ARGUMENTS: &str = "tare.arguments";

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ServerSpec {
    pub name: String,
    /// The program and its arguments. It must stay in the foreground: when it returns, the server has ended.
    pub command: Vec<String>,
    /// Environment variables that are added to those of tare.
    pub env: BTreeMap<String, String>,
    /// Its working directory; that of tare if `None`.
    pub directory: Option<PathBuf>,
    /// Files that are written into a folder of their own before it starts, by name.
    pub files: BTreeMap<String, String>,
    /// Of a proxy: the server behind it, which is started before it.
    pub upstream: Option<Box<ServerSpec>>,
    /// The expression of its line when it is ready; else it is once it listens. With a group named `port`, `{port}`
    /// becomes 0 ("any").
    pub ready: Option<String>,
    /// What `{port}` becomes; tare chooses it if `None`.
    pub port: Option<u16>,
    /// Its base URL, such as `http://127.0.0.1:{port}/`; if `None`, the one port that it listens on.
    pub base_url: Option<String>,
    /// Where its runtime's counters come from, where that is not a JVM's file.
    pub counters: Option<CounterSource>,
    pub cpus: CpuSet,
    pub scheduling: SchedulingPolicy,
    /// Longest time until it is ready.
    pub startup_timeout: Duration,
    /// Longest time between SIGTERM and its end.
    pub stop_grace: Duration,
    pub log_path: PathBuf,
}

impl ServerSpec {
    /// The value of `{port}`: that given, 0 if the ready line tells it, else a free one. `None` without a placeholder.
    pub(super) fn choose_port(&self) -> Result<Option<Port>, SutError> {
        let mut given = self.command.iter().chain(self.env.values()).chain(self.files.values());
        let given_to_it = given.any(|text| text.contains(PORT));
        let asked_for = given_to_it || self.base_url.as_ref().is_some_and(|url| url.contains(PORT));
        match (asked_for, self.port, self.line_tells_port()?) {
            (false, ..) => Ok(None),
            (true, Some(port), _) => Ok(Some(Port(port))),
            (true, None, true) => Ok(Some(Port(0))),
            (true, None, false) => Port::choose()
                .map(Some)
                .map_err(|error| SutError::Other(format!("cannot find a free port on the loopback: {error}"))),
        }
    }

    pub(super) fn ready_line(&self) -> Result<Option<Regex>, SutError> {
        let wrong = |error| SutError::Other(format!("{}: its readiness line cannot be used: {error}", self.name));
        self.ready.as_deref().map(Regex::new).transpose().map_err(wrong)
    }

    pub(super) fn line_tells_port(&self) -> Result<bool, SutError> {
        Ok(self.ready_line()?.is_some_and(|line| line.capture_names().flatten().any(|name| name == "port")))
    }
}

pub(super) fn with_port(text: &str, port: Option<u16>) -> String {
    port.map_or_else(|| text.to_owned(), |port| text.replace(PORT, &port.to_string()))
}

/// What one start puts in the place of placeholders.
#[derive(Debug)]
pub(crate) struct Fillings {
    port: Option<u16>,
    upstream: Option<SocketAddr>,
    folder: Option<TempDir>,
}

impl Fillings {
    /// Writes the files of a server, which may name its port, and where the server behind it listens.
    pub(crate) fn prepare(
        spec: &ServerSpec,
        port: Option<u16>,
        upstream: Option<SocketAddr>,
    ) -> Result<Self, SutError> {
        let mut fillings = Self { port, upstream, folder: None };
        if !spec.files.is_empty() || long_class_path(&spec.command).is_some() {
            // A server that starts as root may work as another user, who must reach what lies in the folder.
            let mut folder = tempfile::Builder::new();
            folder.prefix("tare-files-").permissions(Permissions::from_mode(0o711));
            fillings.folder = Some(folder.tempdir().map_err(SutError::file("make a folder in", std::env::temp_dir()))?);
        }
        for (name, text) in &spec.files {
            let Some(folder) = &fillings.folder else { break };
            let path = folder.path().join(name);
            std::fs::write(&path, fillings.fill(text)).map_err(SutError::file("write", &path))?;
        }
        Ok(fillings)
    }

    pub(super) fn command(&self, spec: &ServerSpec) -> Result<Vec<String>, SutError> {
        let words = spec.command.iter().map(|word| self.fill(word)).collect();
        match &self.folder {
            Some(folder) => with_short_arguments(words, &folder.path().join(ARGUMENTS)),
            None => Ok(words),
        }
    }

    pub(crate) fn fill(&self, text: &str) -> String {
        let mut filled = with_port(text, self.port);
        if let Some(upstream) = self.upstream {
            filled = filled.replace(UPSTREAM, &upstream.to_string());
        }
        match &self.folder {
            Some(folder) => filled.replace(FILES, &folder.path().display().to_string()),
            None => filled,
        }
    }
}

/// Where a command has the option of a class path that is too long for an argument.
fn long_class_path(command: &[String]) -> Option<usize> {
    let is_option = |word: &String| CLASS_PATH_OPTIONS.contains(&word.as_str());
    command.windows(2).position(|pair| is_option(&pair[0]) && pair[1].len() > LONGEST_CLASS_PATH_BYTES)
}

/// A command as it can be started: a class path too long for an argument is written to `file`. Until then its files may
/// be sent elsewhere, and must not change in a run.
pub fn with_short_arguments(mut command: Vec<String>, file: &Path) -> Result<Vec<String>, SutError> {
    if let Some(at) = long_class_path(&command) {
        let class_path = command.remove(at + 1);
        std::fs::write(file, argument_file(&class_path)).map_err(SutError::file("write the class path to", file))?;
        command[at] = format!("@{}", file.display());
    }
    Ok(command)
}

/// The text of an argument file: in quotes, a backslash escapes (documentation of the `java` command).
fn argument_file(class_path: &str) -> String {
    format!("-cp\n\"{}\"\n", class_path.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The ports of servers that run or start: servers that start side by side never get the same one.
static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
/// After so many free ports that belong to other servers of tare, there is none.
const MOST_DRAWS: usize = 1_000;

/// The value of `{port}` for one server, and for no other server of this process while it lives; 0 is "any".
#[derive(Debug)]
pub(super) struct Port(u16);

impl Port {
    fn choose() -> std::io::Result<Self> {
        for _ in 0..MOST_DRAWS {
            let port = free_port()?;
            if GIVEN.lock().unwrap_or_else(PoisonError::into_inner).insert(port) {
                return Ok(Self(port));
            }
        }
        Err(std::io::ErrorKind::AddrInUse.into())
    }

    pub(super) const fn number(&self) -> u16 {
        self.0
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        GIVEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// Host and port of `http://HOST[:PORT][/…]`.
pub(super) fn host_and_port(url: &str) -> Result<(String, u16), SutError> {
    let wrong = |reason: &str| {
        SutError::Other(format!("base_url \"{url}\": {reason}; write it like \"http://127.0.0.1:{{port}}\""))
    };
    let rest = url.strip_prefix("http://").ok_or_else(|| wrong("it must begin with http://"))?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            (host, port.parse().map_err(|_| wrong("its port is not a number from 1 to 65535"))?)
        }
        _ => (authority, 80),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() || port == 0 {
        return Err(wrong("it needs a host and a port above 0"));
    }
    Ok((host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_port_of_a_url_are_found() {
        for (url, host, port) in [
            ("http://127.0.0.1:8080/", "127.0.0.1", 8080),
            ("http://localhost", "localhost", 80),
            ("http://[::1]:81/a:b", "::1", 81),
            ("http://[::1]", "::1", 80),
        ] {
            assert_eq!(host_and_port(url).unwrap(), (host.to_owned(), port));
        }
        for (url, says) in
            [("https://a", "http://"), ("http://a:b", "not a number"), ("http://:8", "host"), ("http://a:0", "above 0")]
        {
            assert!(host_and_port(url).unwrap_err().to_string().contains(says));
        }
    }

    #[test]
    fn a_long_class_path_is_in_a_file_while_the_server_runs() {
        let class_path = "/lib/a.jar:".repeat(12_000);
        let command = ["java", "-classpath", &class_path, "Main", "{port}"].map(str::to_owned).to_vec();
        let spec = ServerSpec { command, ..ServerSpec::default() };
        let fillings = Fillings::prepare(&spec, Some(81), None).unwrap();
        let started = fillings.command(&spec).unwrap();
        let file = PathBuf::from(started[1].strip_prefix('@').unwrap());
        assert_eq!((started[0].as_str(), &started[2..]), ("java", &["Main".to_owned(), "81".to_owned()][..]));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("-cp\n\"{class_path}\"\n"));
        drop(fillings);
        assert!(!file.exists());
        assert_eq!(argument_file("a\\b\"c"), "-cp\n\"a\\\\b\\\"c\"\n");
        let short = vec!["java".to_owned(), "-cp".to_owned(), "a.jar".to_owned()];
        assert_eq!(with_short_arguments(short.clone(), Path::new("/no/such/folder/file")).unwrap(), short);
    }

    #[test]
    fn the_port_is_filled_in_everywhere_it_is_named() {
        assert_eq!(with_port("--port={port} {port}", Some(81)), "--port=81 81");
        assert_eq!(with_port("{port}", None), "{port}");
    }
}
