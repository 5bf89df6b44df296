//! The order to start a server, valid on any machine: its files are there already, and its log has a name without a folder.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf, absolute};
use std::sync::atomic::AtomicBool;

use regex::Regex;
use serde::{Deserialize, Serialize};
use tare_plan::plan::{CommandServer, CounterSource};
use tare_sut::SutError;
use tare_sut::probe::hiccup::inside;
use tare_sut::probe::jvm::stops;
use tare_sut::server::{ADDRESS, Server, ServerSpec};
use tare_sys::affinity::CpuSet;
use tare_units::{SchedulingPolicy, Span};

use crate::server_host::ServerId;
use crate::server_host::local::counters;

const ADDRESS_VARIABLE: &str = "TARE_ADDRESS";

/// Programs that start another one as another user, who may not write where tare does, nor read its agent. A JVM that cannot
/// open what an option names does not start.
const USER_CHANGERS: [&str; 7] = ["runuser", "su", "sudo", "doas", "setpriv", "gosu", "su-exec"];

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StartOrder {
    pub id: ServerId,
    pub origin: StartOrigin,
    /// Open files that its process must be allowed, one for each connection among them.
    pub open_files: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum StartOrigin {
    Ours(Box<OwnStart>),
    External(SocketAddr),
}

/// A server that tare starts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OwnStart {
    pub name: String,
    pub log_name: String,
    /// Of a proxy: the server behind it.
    pub upstream: Option<Box<OwnStart>>,
    /// Its command, environment, files and URL, with `{port}` and `{address}`.
    pub server: CommandServer,
    pub cpus: CpuSet,
    pub scheduling: SchedulingPolicy,
    pub startup_timeout: Span,
    pub stop_grace: Span,
    /// The agent with the meter of hiccups, for the JVMs among its processes.
    pub meter: Option<PathBuf>,
    /// Whether the JVMs among its processes log their stops.
    pub logs_stops: bool,
    pub address: IpAddr,
}

impl StartOrder {
    /// Starts the server on this machine if it is ours to start, with its log in `logs`, and waits until it is ready or
    /// `cancelled` is set. Returns where it listens. A server elsewhere is assumed to run; its verification shows whether
    /// it answers.
    pub fn start(&self, logs: &Path, cancelled: &AtomicBool) -> Result<(SocketAddr, Option<Server>), SutError> {
        match &self.origin {
            StartOrigin::External(address) => Ok((*address, None)),
            StartOrigin::Ours(own) => {
                let server = Server::start(&own.spec(logs)?, cancelled)?;
                Ok((server.address(), Some(server)))
            }
        }
    }

    /// The source of its runtime's counters, where that is not a JVM's file. Of a chain, the first one that has any.
    pub fn counters(&self) -> Option<CounterSource> {
        self.starts().find_map(|own| own.server.counters)
    }

    /// The servers that tare starts: it, and those behind it.
    pub fn starts(&self) -> impl Iterator<Item = &OwnStart> {
        let own = match &self.origin {
            StartOrigin::Ours(own) => Some(&**own),
            StartOrigin::External(_) => None,
        };
        std::iter::successors(own, |own| own.upstream.as_deref())
    }

    pub fn name(&self) -> String {
        match &self.origin {
            StartOrigin::Ours(own) => own.name.clone(),
            StartOrigin::External(address) => address.to_string(),
        }
    }
}

impl OwnStart {
    /// What is started on this machine, with the log in `logs`.
    pub fn spec(&self, logs: &Path) -> Result<ServerSpec, SutError> {
        let (name, log_path) = (&self.name, logs.join(&self.log_name));
        let behind = self.upstream.as_ref().map(|next| next.spec(logs));
        let wrong = |error| SutError::Other(format!("{name}: its readiness line cannot be used: {error}"));
        let CommandServer { command, files, ready, base_url, cwd, .. } = &self.server;
        let ready = ready.as_deref().map(Regex::new).transpose().map_err(wrong)?;
        let fill = |text: &String| text.replace(ADDRESS, &self.address.to_string());
        let env = self.environment(&log_path)?;
        Ok(ServerSpec {
            name: name.clone(),
            command: command.iter().map(fill).collect(),
            env: env.iter().map(|(key, value)| (key.clone(), fill(value))).collect(),
            directory: cwd.as_ref().map(PathBuf::from),
            files: files.iter().map(|(file, text)| (file.clone(), fill(text))).collect(),
            upstream: behind.transpose()?.map(Box::new),
            ready,
            port: None,
            base_url: base_url.as_ref().map(fill),
            cpus: self.cpus.clone(),
            scheduling: self.scheduling,
            startup_timeout: self.startup_timeout.0,
            stop_grace: self.stop_grace.0,
            log_path,
        })
    }

    /// Its own environment, with the address, what its counters need, and the JVM options for meter and stops, whose
    /// files are beside the log.
    fn environment(&self, log_path: &Path) -> Result<BTreeMap<String, String>, SutError> {
        let mut env = counters::environment(&self.server.env, self.server.counters)?;
        env.entry(ADDRESS_VARIABLE.to_owned()).or_insert_with(|| ADDRESS.to_owned());
        // The server may work in another folder than tare.
        let Some(folder) = log_path.parent().and_then(|folder| absolute(folder).ok()) else { return Ok(env) };
        if self.changes_user() {
            return Ok(env);
        }
        let meter = self.meter.as_ref().map(|meter| inside::jvm_option(meter, &folder));
        let stops = if self.logs_stops { stops::jvm_option(&folder) } else { None };
        for (variable, option) in [(inside::VARIABLE, meter), (stops::VARIABLE, stops)] {
            option.into_iter().for_each(|option| counters::add_option(&mut env, variable, option));
        }
        Ok(env)
    }

    fn changes_user(&self) -> bool {
        let mut words = self.server.command.iter().flat_map(|word| word.split_whitespace());
        words.any(|word| USER_CHANGERS.contains(&word.rsplit('/').next().unwrap_or(word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(env: &[(&str, &str)]) -> OwnStart {
        OwnStart {
            name: "a".to_owned(),
            log_name: "a.log".to_owned(),
            upstream: None,
            server: CommandServer {
                files: [("a.conf".to_owned(), "listen {address}".to_owned())].into(),
                command: ["serve", "--listen", "{address}:{port}"].map(str::to_owned).to_vec(),
                env: env.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
                ..CommandServer::default()
            },
            cpus: CpuSet::from_indices([0]),
            scheduling: SchedulingPolicy::Normal,
            startup_timeout: Span::from_secs(1),
            stop_grace: Span::from_secs(1),
            meter: None,
            logs_stops: false,
            address: "10.0.0.7".parse().unwrap(),
        }
    }

    #[test]
    fn a_server_is_told_where_to_listen() {
        let spec = own(&[]).spec(Path::new("/logs")).unwrap();
        assert_eq!(spec.command, ["serve", "--listen", "10.0.0.7:{port}"]);
        assert_eq!((spec.files["a.conf"].as_str(), spec.log_path), ("listen 10.0.0.7", "/logs/a.log".into()));
        assert_eq!(spec.env["TARE_ADDRESS"], "10.0.0.7");
        let other = own(&[("TARE_ADDRESS", "0.0.0.0")]).spec(Path::new("")).unwrap();
        assert_eq!(other.env["TARE_ADDRESS"], "0.0.0.0", "its own value stands");
    }

    #[test]
    fn the_option_for_the_meter_is_added_to_those_that_a_server_brings() {
        let metered = OwnStart { meter: Some(PathBuf::from("/agent.jar")), ..own(&[(inside::VARIABLE, "-Xmx1g")]) };
        let options = &metered.spec(Path::new("/logs")).unwrap().env[inside::VARIABLE];
        assert!(options.starts_with("-Xmx1g ") && options.contains("/agent.jar=/logs"), "{options}");
    }

    #[test]
    fn a_jvm_logs_its_stops_beside_its_log_where_it_can_be_told_to() {
        let folder = tempfile::tempdir().unwrap();
        let logging =
            |logs: &Path| OwnStart { logs_stops: true, ..own(&[(stops::VARIABLE, "-Xmx1g")]) }.spec(logs).unwrap().env;
        let options = logging(folder.path())[stops::VARIABLE].clone();
        assert!(options.starts_with("-Xmx1g \"-Xlog:safepoint:file="), "{options}");
        let nowhere = logging(&folder.path().join("is not there"));
        assert_eq!(nowhere[stops::VARIABLE], "-Xmx1g", "a JVM that cannot write its log would not start");
        for command in [&["/sbin/runuser", "-u", "nobody", "--", "java"][..], &["sh", "-c", "exec gosu nobody java"]] {
            let mut other = OwnStart { logs_stops: true, meter: Some(PathBuf::from("/private/agent.jar")), ..own(&[]) };
            other.server.command = command.iter().map(|word| (*word).to_owned()).collect();
            let env = other.spec(folder.path()).unwrap().env;
            assert!(!env.contains_key(stops::VARIABLE), "{command:?}: another user may not write there");
            assert!(!env.contains_key(inside::VARIABLE), "{command:?}: another user may not read the agent");
        }
    }

    #[test]
    fn a_jvm_that_works_in_another_folder_finds_that_of_its_log() {
        let jvm = OwnStart { logs_stops: true, meter: Some(PathBuf::from("/agent.jar")), ..own(&[]) };
        let env = jvm.spec(Path::new(".")).unwrap().env;
        let here = std::env::current_dir().unwrap().display().to_string();
        for variable in [inside::VARIABLE, stops::VARIABLE] {
            assert!(env[variable].contains(&format!("={here}")), "{}", env[variable]);
        }
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let mut broken = own(&[]);
        broken.server.ready = Some("(".to_owned());
        let error = broken.spec(Path::new("")).unwrap_err().to_string();
        assert!(error.starts_with("a: its readiness line cannot be used"), "{error}");
    }
}
