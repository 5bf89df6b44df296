//! Another machine on which servers run: the connection to the agent there, and the orders that it gets.

use std::fmt;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use tare_load::Cancel;
use tare_record::EventRecord;
use tare_record::environment::{FactSection, NetworkBandwidth};
use tare_sut::jdk::Jdk;
use tare_sys::affinity::CpuSet;

use super::files::{BundleFile, bundle_files, bundle_hash, name_of};
use super::message::{HostFacts, HostOrder, HostReport};
use super::network_path::NetworkPath;
use super::remote_servers::RemoteServers;
use crate::link::client::{AgentClient, AgentTask, KeepAlive};
use crate::link::pipes::{AgentLink, message_channel};
use crate::link::ssh::{Program, SshHost};
use tare_plan::agent_place::{AgentPlace, PASSWORD_ERROR};
use tare_run::machine_state::section;
use tare_run::server_host::{ServerHost, ServerMachine};
use tare_run::{RunError, plain_line};

/// Bytes of a file in one message.
pub(crate) const CHUNK: usize = 1 << 20;

/// The machine on which the servers of a run are, behind an agent of tare that was started there. The agent and all its
/// servers end when this is dropped, and when this process ends in any other way.
#[derive(Debug)]
pub struct RemoteHost {
    /// `ssh://bench1`, or `local`.
    name: String,
    is_local: bool,
    facts: HostFacts,
    address: IpAddr,
    network_path: NetworkPath,
    /// It keeps the pipe of orders open, so it is dropped first.
    _pings: KeepAlive,
    client: Mutex<AgentClient>,
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
    /// `progress` gets a line for each wait.
    ///
    /// # Errors
    /// [`RunError::Plan`] for what is no machine or no address; [`RunError::Agent`] when it cannot be reached, and what to
    /// do; [`RunError::Interrupted`] after `cancel`.
    pub fn connect(choice: HostChoice<'_>, cancel: &Cancel, progress: &mut dyn FnMut(&str)) -> Result<Self, RunError> {
        let place = read_place(choice.place)?;
        let failed = |reason: String| RunError::Agent { agent: host_name(place.as_ref()), reason };
        let mut command = agent_command(place.as_ref(), cancel, progress)?;
        let (messages, inbox) = message_channel();
        let link = AgentLink::start(0, &mut command, &messages).map_err(|error| failed(error.to_string()))?;
        Self::with_client(choice, place.as_ref(), AgentClient::new(AgentTask::Servers, link, inbox))
    }

    /// Exchanges versions with the agent, asks for its facts, and measures the network path.
    pub(crate) fn with_client(
        choice: HostChoice<'_>,
        place: Option<&AgentPlace>,
        mut client: AgentClient,
    ) -> Result<Self, RunError> {
        let failed = |reason: String| RunError::Agent { agent: host_name(place), reason };
        client.send_hello();
        client.wait_for_greeting().map_err(failed)?;
        let mut this = Self {
            name: host_name(place),
            is_local: place.is_none(),
            facts: HostFacts::default(),
            address: Ipv4Addr::LOCALHOST.into(),
            network_path: NetworkPath::default(),
            _pings: client.keep_alive(),
            client: Mutex::new(client),
        };
        let describe = HostOrder::Describe { java: choice.java.map(PathBuf::from) };
        this.facts = this.ask(&describe, |report| match report {
            HostReport::Facts(facts) => Some(without_control_characters(facts)),
            _ => None,
        })?;
        this.address = this.address_of_servers(choice.address, place)?;
        this.network_path = NetworkPath::measure(&this)?;
        Ok(this)
    }

    /// Feature release of its JDK, where it has one.
    pub const fn jdk(&self) -> Option<u32> {
        self.facts.jdk
    }

    fn send_file(&self, hash: &str, file: &BundleFile) -> Result<(), RunError> {
        let unread = |error: std::io::Error| self.error(format!("cannot send {}: {error}", file.source.display()));
        let mut contents = std::fs::File::open(&file.source).map_err(unread)?;
        let mut is_first = true;
        loop {
            let mut chunk = Vec::new();
            contents.by_ref().take(CHUNK as u64).read_to_end(&mut chunk).map_err(unread)?;
            let is_last = chunk.len() < CHUNK;
            let (hash, path, is_executable) = (hash.to_owned(), file.path.clone(), file.is_executable);
            let order = HostOrder::Keep { hash, path, is_executable, is_first };
            self.call(&order, chunk, None).and_then(|report| self.expect_done(&report))?;
            if is_last {
                return Ok(());
            }
            is_first = false;
        }
    }

    fn expect_done(&self, report: &HostReport) -> Result<(), RunError> {
        if matches!(report, HostReport::Done) { Ok(()) } else { Err(self.wrong_answer()) }
    }

    /// Sends an order and returns what `pick` finds in the answer.
    pub(crate) fn ask<T>(&self, order: &HostOrder, pick: impl Fn(HostReport) -> Option<T>) -> Result<T, RunError> {
        let report = self.call(order, Vec::new(), None)?;
        pick(report).ok_or_else(|| self.wrong_answer())
    }

    /// Sends an order and waits for its answer. `cancelled` stops starts that wait.
    pub(crate) fn call(
        &self,
        order: &HostOrder,
        contents: Vec<u8>,
        cancelled: Option<&AtomicBool>,
    ) -> Result<HostReport, RunError> {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        let number = client.send_order(order, contents);
        let answer = client.wait_for_answer(number, cancelled).map_err(|reason| self.error(reason))?;
        let mut report: HostReport = answer.report;
        if let Some(place) = report.attached_mut() {
            *place = answer.contents;
        }
        match report {
            HostReport::Failed(reason) => Err(self.error(reason)),
            report => Ok(report),
        }
    }

    /// Sends an order without waiting for its answer.
    pub(crate) fn send_order(&self, order: &HostOrder) {
        self.client.lock().unwrap_or_else(PoisonError::into_inner).send_order(order, Vec::new());
    }

    /// Whether it can be reached.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let lost = self.client.lock().unwrap_or_else(PoisonError::into_inner).loss_reason();
        lost.map_or(Ok(()), |reason| Err(self.error(reason)))
    }

    pub(crate) fn error(&self, reason: String) -> RunError {
        RunError::Agent { agent: self.name.clone(), reason }
    }

    fn wrong_answer(&self) -> RunError {
        self.error("its answer belongs to another order; please report this".to_owned())
    }

    fn address_of_servers(&self, given: Option<&str>, place: Option<&AgentPlace>) -> Result<IpAddr, RunError> {
        let look_up = |host: &str| (host, 0).to_socket_addrs().ok()?.next().map(|address| address.ip().to_canonical());
        if let Some(given) = given {
            let message = format!("\"{given}\" is no address; write one of that machine, such as 10.0.0.7");
            return look_up(given).ok_or(RunError::Plan { key: "--server-address".to_owned(), message });
        }
        let Some(AgentPlace::Ssh { destination, .. }) = place else { return Ok(Ipv4Addr::LOCALHOST.into()) };
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
        self.facts.cpus.parse().unwrap_or_else(|_| CpuSet::from_indices([]))
    }

    fn is_another_machine(&self) -> bool {
        !self.is_local
    }

    fn bandwidth(&self) -> NetworkBandwidth {
        self.network_path.bandwidth
    }

    fn sections(&self) -> Vec<FactSection> {
        let host = ("host", Some(self.name.clone()));
        let address = ("address of the servers", Some(self.address.to_string()));
        let [round_trip, bandwidth] = self.network_path.facts();
        let facts = section("Server host", [host, address, round_trip, bandwidth]);
        std::iter::once(facts).chain(self.facts.sections.clone()).collect()
    }

    fn find_java(&self, minimum: u32, home: Option<&Path>) -> Result<Jdk, RunError> {
        self.ask(&HostOrder::FindJava { minimum, home: home.map(PathBuf::from) }, |report| match report {
            HostReport::Java(jdk) => Some(jdk),
            _ => None,
        })
    }

    fn disturbances(&self, cpus: &CpuSet) -> Result<Vec<EventRecord>, RunError> {
        let found = self.ask(&HostOrder::Disturbances { cpus: cpus.to_string() }, |report| match report {
            HostReport::Disturbances(found) => Some(found),
            _ => None,
        })?;
        let of_host =
            |event: EventRecord| EventRecord { text: plain_line(&format!("on {self}: {}", event.text)), ..event };
        Ok(found.into_iter().map(of_host).collect())
    }

    fn send_if_missing(&self, path: &Path) -> Result<PathBuf, RunError> {
        let unread = |error: std::io::Error| self.error(format!("cannot send {}: {error}", path.display()));
        let files = bundle_files(path).map_err(unread)?;
        let (hash, name) = (bundle_hash(&files).map_err(unread)?, name_of(path).map_err(unread)?);
        let found = |report| match report {
            HostReport::Found(found) => Some(found),
            _ => None,
        };
        if let Some(there) = self.ask(&HostOrder::Find { hash: hash.clone(), name: name.clone() }, found)? {
            return Ok(there);
        }
        for file in &files {
            self.send_file(&hash, file)?;
        }
        let there = self.ask(&HostOrder::Finish { hash, name }, found)?;
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
        let _ = self.call(&HostOrder::End, Vec::new(), None);
    }
}

impl fmt::Display for RemoteHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The machine that a text names; `None` for this one.
fn read_place(text: &str) -> Result<Option<AgentPlace>, RunError> {
    let key = || "--server-host".to_owned();
    match text.parse() {
        _ if text == "local:" => Ok(None),
        Ok(place @ AgentPlace::Ssh { .. }) => Ok(Some(place)),
        Err(message) if message == PASSWORD_ERROR => Err(RunError::Plan { key: key(), message }),
        _ => Err(RunError::Plan {
            key: key(),
            message: format!(
                "\"{text}\" is no machine for servers; write ssh://user@host:22, or local: for an agent on this machine"
            ),
        }),
    }
}

/// Removes control characters: the facts come from another machine and are printed.
fn without_control_characters(mut facts: HostFacts) -> HostFacts {
    let sections = facts.sections.iter_mut();
    sections.flat_map(|section| &mut section.facts).for_each(|(_, value)| value.retain(|c| !c.is_control()));
    facts
}

/// The name of the machine in messages.
fn host_name(place: Option<&AgentPlace>) -> String {
    place.map_or_else(|| "local".to_owned(), ToString::to_string)
}

/// The command that starts an agent there. Copies the program first if it is missing.
fn agent_command(
    place: Option<&AgentPlace>,
    cancel: &Cancel,
    progress: &mut dyn FnMut(&str),
) -> Result<Command, RunError> {
    let name = host_name(place);
    let failed = |error: std::io::Error| RunError::Agent { agent: name.clone(), reason: error.to_string() };
    let program = Program::of_this_process(place.is_some()).map_err(failed)?;
    let Some(AgentPlace::Ssh { destination, port }) = place else { return Ok(program.command()) };
    let host = SshHost { name: &name, destination, port: *port };
    progress(&format!("looking for tare on {name}"));
    host.copy_program_if_missing(&program, cancel, progress)?;
    Ok(host.agent(&program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_ssh_or_this_one() {
        assert_eq!(read_place("local:").unwrap(), None);
        assert!(matches!(read_place("ssh://ada@bench1:2222"), Ok(Some(AgentPlace::Ssh { .. }))));
        for text in ["", "bench1", "local:2", "local", "k8s:3", "ssh://-oProxyCommand=x"] {
            let why = read_place(text).unwrap_err().to_string();
            assert!(why.starts_with("--server-host: ") && why.contains("write ssh://user@host:22"), "{why}");
        }
        let why = read_place("ssh://ada:S3CRET@bench1").unwrap_err().to_string();
        assert!(why.starts_with("--server-host: ") && !why.contains("S3CRET"), "{why}");
    }
}
