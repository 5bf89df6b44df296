//! The order to start a server, valid on any machine: its files are there already, and its log has a name without a folder.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf, absolute};
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use tare_plan::plan::CounterSource;
use tare_sut::SutError;
use tare_sut::probe::hiccup::inside;
use tare_sut::probe::jvm::stops;
use tare_sut::server::{ADDRESS, Server, ServerSpec};

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
    /// The agent with the meter of hiccups, for the JVMs among its processes.
    pub meter: Option<PathBuf>,
    /// Whether the JVMs among its processes log their stops.
    pub logs_stops: bool,
    /// Where it shall listen.
    pub address: IpAddr,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum StartOrigin {
    /// tare starts it, and its texts have `{address}`.
    Ours(Box<ServerSpec>),
    External(SocketAddr),
}

impl StartOrder {
    /// Starts the server on this machine if it is ours to start, with its log in `logs`, and waits until it is ready or
    /// `cancelled` is set. Returns where it listens. A server elsewhere is assumed to run; its verification shows whether
    /// it answers.
    pub fn start(&self, logs: &Path, cancelled: &AtomicBool) -> Result<(SocketAddr, Option<Server>), SutError> {
        match &self.origin {
            StartOrigin::External(address) => Ok((*address, None)),
            StartOrigin::Ours(spec) => {
                let server = Server::start(&self.placed(spec, logs)?, cancelled)?;
                Ok((server.address(), Some(server)))
            }
        }
    }

    /// The source of its runtime's counters, where that is not a JVM's file. Of a chain, the first one that has any.
    pub fn counters(&self) -> Option<CounterSource> {
        self.starts().find_map(|spec| spec.counters)
    }

    /// The servers that tare starts: it, and those behind it.
    pub fn starts(&self) -> impl Iterator<Item = &ServerSpec> {
        let own = match &self.origin {
            StartOrigin::Ours(spec) => Some(&**spec),
            StartOrigin::External(_) => None,
        };
        std::iter::successors(own, |spec| spec.upstream.as_deref())
    }

    pub fn name(&self) -> String {
        match &self.origin {
            StartOrigin::Ours(spec) => spec.name.clone(),
            StartOrigin::External(address) => address.to_string(),
        }
    }

    /// What is started on this machine, with the log in `logs`.
    pub fn placed(&self, spec: &ServerSpec, logs: &Path) -> Result<ServerSpec, SutError> {
        let fill = |text: &String| text.replace(ADDRESS, &self.address.to_string());
        let log_path = logs.join(&spec.log_path);
        let env = self.environment(spec, &log_path)?;
        let upstream = spec.upstream.as_ref().map(|next| self.placed(next, logs)).transpose()?;
        Ok(ServerSpec {
            command: spec.command.iter().map(fill).collect(),
            env: env.iter().map(|(key, value)| (key.clone(), fill(value))).collect(),
            files: spec.files.iter().map(|(file, text)| (file.clone(), fill(text))).collect(),
            upstream: upstream.map(Box::new),
            base_url: spec.base_url.as_ref().map(fill),
            log_path,
            ..spec.clone()
        })
    }

    /// Its own environment, with the address, what its counters need, and the JVM options for meter and stops, whose
    /// files are beside the log.
    fn environment(&self, spec: &ServerSpec, log_path: &Path) -> Result<BTreeMap<String, String>, SutError> {
        let mut env = counters::environment(&spec.env, spec.counters)?;
        env.entry(ADDRESS_VARIABLE.to_owned()).or_insert_with(|| ADDRESS.to_owned());
        // The server may work in another folder than tare.
        let Some(folder) = log_path.parent().and_then(|folder| absolute(folder).ok()) else { return Ok(env) };
        if changes_user(&spec.command) {
            return Ok(env);
        }
        let meter = self.meter.as_ref().map(|meter| inside::jvm_option(meter, &folder));
        let stops = if self.logs_stops { stops::jvm_option(&folder) } else { None };
        for (variable, option) in [(inside::VARIABLE, meter), (stops::VARIABLE, stops)] {
            option.into_iter().for_each(|option| counters::add_option(&mut env, variable, option));
        }
        Ok(env)
    }
}

fn changes_user(command: &[String]) -> bool {
    let mut words = command.iter().flat_map(|word| word.split_whitespace());
    words.any(|word| USER_CHANGERS.contains(&word.rsplit('/').next().unwrap_or(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(env: &[(&str, &str)]) -> ServerSpec {
        ServerSpec {
            name: "a".to_owned(),
            log_path: "a.log".into(),
            files: [("a.conf".to_owned(), "listen {address}".to_owned())].into(),
            command: ["serve", "--listen", "{address}:{port}"].map(str::to_owned).to_vec(),
            env: env.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            ..ServerSpec::default()
        }
    }

    /// A server of these variables as it is placed, with this meter and a log of its stops where that is wanted.
    fn placed(spec: ServerSpec, meter: Option<&str>, logs_stops: bool, logs: &Path) -> ServerSpec {
        let order = StartOrder {
            id: ServerId(0),
            origin: StartOrigin::Ours(Box::new(spec.clone())),
            open_files: 0,
            meter: meter.map(PathBuf::from),
            logs_stops,
            address: "10.0.0.7".parse().unwrap(),
        };
        order.placed(&spec, logs).unwrap()
    }

    #[test]
    fn a_server_is_told_where_to_listen() {
        let started = placed(spec(&[]), None, false, Path::new("/logs"));
        assert_eq!(started.command, ["serve", "--listen", "10.0.0.7:{port}"]);
        assert_eq!((started.files["a.conf"].as_str(), started.log_path), ("listen 10.0.0.7", "/logs/a.log".into()));
        assert_eq!(started.env["TARE_ADDRESS"], "10.0.0.7");
        let other = placed(spec(&[("TARE_ADDRESS", "0.0.0.0")]), None, false, Path::new(""));
        assert_eq!(other.env["TARE_ADDRESS"], "0.0.0.0", "its own value stands");
    }

    #[test]
    fn a_server_behind_a_proxy_is_placed_too() {
        let proxy = ServerSpec { upstream: Some(Box::new(spec(&[]))), log_path: "p.log".into(), ..spec(&[]) };
        let behind = placed(proxy, None, false, Path::new("/logs")).upstream.unwrap();
        assert_eq!((behind.log_path, behind.env["TARE_ADDRESS"].as_str()), ("/logs/a.log".into(), "10.0.0.7"));
    }

    #[test]
    fn the_option_for_the_meter_is_added_to_those_that_a_server_brings() {
        let brought = spec(&[(inside::VARIABLE, "-Xmx1g")]);
        let options = &placed(brought, Some("/agent.jar"), false, Path::new("/logs")).env[inside::VARIABLE];
        assert!(options.starts_with("-Xmx1g ") && options.contains("/agent.jar=/logs"), "{options}");
    }

    #[test]
    fn a_jvm_logs_its_stops_beside_its_log_where_it_can_be_told_to() {
        let folder = tempfile::tempdir().unwrap();
        let logging = |logs: &Path| placed(spec(&[(stops::VARIABLE, "-Xmx1g")]), None, true, logs).env;
        let options = logging(folder.path())[stops::VARIABLE].clone();
        assert!(options.starts_with("-Xmx1g \"-Xlog:safepoint:file="), "{options}");
        let nowhere = logging(&folder.path().join("is not there"));
        assert_eq!(nowhere[stops::VARIABLE], "-Xmx1g", "a JVM that cannot write its log would not start");
        for command in [&["/sbin/runuser", "-u", "nobody", "--", "java"][..], &["sh", "-c", "exec gosu nobody java"]] {
            let command = command.iter().map(|word| (*word).to_owned()).collect();
            let other = ServerSpec { command, ..spec(&[]) };
            let env = placed(other, Some("/private/agent.jar"), true, folder.path()).env;
            assert!(!env.contains_key(stops::VARIABLE), "another user may not write there");
            assert!(!env.contains_key(inside::VARIABLE), "another user may not read the agent");
        }
    }

    #[test]
    fn a_jvm_that_works_in_another_folder_finds_that_of_its_log() {
        let env = placed(spec(&[]), Some("/agent.jar"), true, Path::new(".")).env;
        let here = std::env::current_dir().unwrap().display().to_string();
        for variable in [inside::VARIABLE, stops::VARIABLE] {
            assert!(env[variable].contains(&format!("={here}")), "{}", env[variable]);
        }
    }
}
