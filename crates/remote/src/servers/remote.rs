//! Another machine on which servers run: the connection to the agent there, and the tasks that it gets.

use std::cell::{RefCell, RefMut};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_load::Cancel;
use tare_plan::PlanError;
use tare_plan::agent_place::{AgentPlace, PASSWORD_ERROR};
use tare_record::EventRecord;
use tare_record::environment::{FactSection, NetworkBandwidth};
use tare_run::RunError;
use tare_run::machine_state::section;
use tare_run::server_host::{ServerHost, ServerMachine};
use tare_sut::jdk::Jdk;
use tare_sys::affinity::CpuSet;

use super::files::{BundleFile, bundle_files, bundle_hash, name_of};
use super::network_path::NetworkPath;
use super::remote_servers::RemoteServers;
use crate::link::group::AgentGroup;
use crate::link::starting::{AgentsOrder, PodOrder, start_agents};
use crate::protocol::{Answer, Bytes, FilePart, MachineFacts, ServersTask, Task, answer_of, label_event};

/// Bytes of a file in one message.
pub(crate) const CHUNK: usize = 1 << 20;

/// The machine on which the servers of a run are, behind an agent of tare that was started there. The agent and all its
/// servers end when this is dropped, or this process ends in any other way.
#[derive(Debug)]
pub struct RemoteHost {
    place: AgentPlace,
    agent: RefCell<AgentGroup>,
    facts: MachineFacts,
    address: IpAddr,
    network_path: NetworkPath,
}

/// Which machine, as users write it.
#[derive(Debug, Clone, Copy)]
pub struct HostChoice<'a> {
    /// `ssh://user@host:22`, or `local:` for an agent on this machine.
    pub place: &'a str,
    /// The address on which its servers listen; that at which ssh reached it if `None`.
    pub address: Option<&'a str>,
    /// The home of the JDK of the servers; the newest one there if `None`.
    pub java: Option<&'a Path>,
}

impl RemoteHost {
    /// Starts an agent on a machine and measures the network path to it. Copies this program there if it is not there.
    /// `progress` gets a line for each wait. [`RunError::Plan`] for what is no machine or no address.
    pub fn connect(choice: HostChoice<'_>, cancel: &Cancel, progress: &mut dyn FnMut(&str)) -> Result<Self, RunError> {
        let order = AgentsOrder {
            places: &[read_place(choice.place)?],
            pods: &PodOrder::default(),
            longest: Duration::ZERO,
            local_cpus: &CpuSet::from_indices([]),
        };
        let (mut agent, _) = start_agents(&order, cancel, progress)?;
        agent.greet(cancel)?;
        Self::with_agent(choice, agent)
    }

    pub(crate) fn with_agent(choice: HostChoice<'_>, mut agent: AgentGroup) -> Result<Self, RunError> {
        let place = read_place(choice.place)?;
        let describe = Task::Describe { java: choice.java.map(PathBuf::from) };
        let facts = agent.call_first(describe, None, answer_of!(Facts))?.plain();
        let (address, network_path) = (Ipv4Addr::LOCALHOST.into(), NetworkPath::default());
        let mut this = Self { place, agent: RefCell::new(agent), facts, address, network_path };
        this.address = this.address_of_servers(choice.address)?;
        this.network_path = NetworkPath::measure(&this)?;
        Ok(this)
    }

    pub(super) fn agent(&self) -> RefMut<'_, AgentGroup> {
        self.agent.borrow_mut()
    }

    pub const fn jdk(&self) -> Option<u32> {
        self.facts.jdk
    }

    fn send_file(&self, hash: &str, file: &BundleFile) -> Result<(), RunError> {
        let unread = |error: std::io::Error| self.error(format!("cannot send {}: {error}", file.source.display()));
        let contents = std::fs::read(&file.source).map_err(unread)?;
        // An empty file has a part, too.
        for from in (0..contents.len().max(1)).step_by(CHUNK) {
            let contents = Bytes(contents[from..].iter().copied().take(CHUNK).collect());
            let (path, is_executable) = (file.path.clone(), file.is_executable);
            let part = FilePart { path, is_executable, is_first: from == 0, contents };
            self.ask(ServersTask::Keep { hash: hash.to_owned(), part }, Some)?;
        }
        Ok(())
    }

    /// Gives the agent a task, and returns what `pick` finds in the answer.
    pub(crate) fn ask<T>(&self, task: ServersTask, pick: impl Fn(Answer) -> Option<T>) -> Result<T, RunError> {
        self.agent().call_first(Task::Servers(task), None, pick)
    }

    pub(crate) fn error(&self, reason: String) -> RunError {
        RunError::Agent { agent: self.to_string(), reason }
    }

    fn address_of_servers(&self, given: Option<&str>) -> Result<IpAddr, RunError> {
        let look_up = |host: &str| (host, 0).to_socket_addrs().ok()?.next().map(|address| address.ip().to_canonical());
        if let Some(given) = given {
            let message = format!("\"{given}\" is no address; write one of that machine, such as 10.0.0.7");
            return look_up(given).ok_or(PlanError::value("--server-address", message).into());
        }
        let AgentPlace::Ssh { destination, .. } = &self.place else { return Ok(Ipv4Addr::LOCALHOST.into()) };
        let host = destination.rsplit('@').next().unwrap_or_default();
        let unknown = || self.error(format!("the address of {host} is unknown; say --server-address"));
        self.facts.ssh_address.map(|address| address.to_canonical()).or_else(|| look_up(host)).ok_or_else(unknown)
    }
}

impl ServerMachine for RemoteHost {
    fn address(&self) -> IpAddr {
        self.address
    }

    fn cpus(&self) -> CpuSet {
        self.facts.cpus.clone()
    }

    fn is_another_machine(&self) -> bool {
        !matches!(self.place, AgentPlace::Local { .. })
    }

    fn bandwidth(&self) -> NetworkBandwidth {
        self.network_path.bandwidth
    }

    fn sections(&self) -> Vec<FactSection> {
        let host = ("host", Some(self.to_string()));
        let address = ("address of the servers", Some(self.address.to_string()));
        let [round_trip, bandwidth] = self.network_path.facts();
        let facts = section("Server host", [host, address, round_trip, bandwidth]);
        std::iter::once(facts).chain(self.facts.sections.clone()).collect()
    }

    fn find_java(&self, minimum: u32, home: Option<&Path>) -> Result<Jdk, RunError> {
        self.ask(ServersTask::FindJava { minimum, home: home.map(PathBuf::from) }, answer_of!(Java))
    }

    fn disturbances(&self, cpus: &CpuSet) -> Result<Vec<EventRecord>, RunError> {
        let found = self.ask(ServersTask::Disturbances { cpus: cpus.clone() }, answer_of!(Disturbances))?;
        Ok(found.iter().map(|event| label_event(event, &self.to_string())).collect())
    }

    fn send_if_missing(&self, path: &Path) -> Result<PathBuf, RunError> {
        let unread = |error: std::io::Error| self.error(format!("cannot send {}: {error}", path.display()));
        let files = bundle_files(path).map_err(unread)?;
        let name = name_of(path).map_err(unread)?;
        let hash = bundle_hash(&name, &files).map_err(unread)?;
        if let Some(there) =
            self.ask(ServersTask::Find { hash: hash.clone(), name: name.clone() }, answer_of!(Found))?
        {
            return Ok(there);
        }
        for file in &files {
            self.send_file(&hash, file)?;
        }
        let there = self.ask(ServersTask::Finish { hash, name }, answer_of!(Found))?;
        there.ok_or_else(|| self.error(format!("{} did not arrive", path.display())))
    }

    fn servers<'a>(
        &'a self,
        logs: &'a Path,
        profiles: &'a Path,
        cancelled: Arc<AtomicBool>,
    ) -> Box<dyn ServerHost + 'a> {
        Box::new(RemoteServers::new(self, logs, profiles, cancelled))
    }
}

impl Drop for RemoteHost {
    fn drop(&mut self) {
        // An agent that does not answer ends when its pipe ends.
        let _ = self.ask(ServersTask::End, Some);
    }
}

impl fmt::Display for RemoteHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            AgentPlace::Local { .. } => f.write_str("local"),
            place => place.fmt(f),
        }
    }
}

fn read_place(text: &str) -> Result<AgentPlace, PlanError> {
    let message = match text.parse() {
        _ if text == "local:" => return Ok(AgentPlace::Local { agents: 1 }),
        Ok(place @ AgentPlace::Ssh { .. }) => return Ok(place),
        Err(message) if message == PASSWORD_ERROR => message,
        _ => format!(
            "\"{text}\" is no machine for servers; write ssh://user@host:22, or local: for an agent on this machine"
        ),
    };
    Err(PlanError::value("--server-host", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_ssh_or_this_one() {
        assert_eq!(read_place("local:").unwrap(), AgentPlace::Local { agents: 1 });
        assert!(matches!(read_place("ssh://ada@bench1:2222"), Ok(AgentPlace::Ssh { .. })));
        for text in ["", "bench1", "local:2", "local", "k8s:3", "ssh://-oProxyCommand=x"] {
            let why = read_place(text).unwrap_err().to_string();
            assert!(why.starts_with("--server-host: ") && why.contains("write ssh://user@host:22"), "{why}");
        }
        let why = read_place("ssh://ada:S3CRET@bench1").unwrap_err().to_string();
        assert!(why.starts_with("--server-host: ") && !why.contains("S3CRET"), "{why}");
    }
}
