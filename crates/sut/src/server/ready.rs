//! From "started" to "ready": the ready line, then a socket of the server's own processes, then a connection.

use std::collections::{BTreeSet, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tare_sys::child::Child;
use tare_sys::clock::{self, Nanos};
use tare_sys::procfs::net::{self, Owner};
use tare_sys::procfs::tree::process_tree;

use super::log::{Log, ReadyLine};
use super::spec::{ServerSpec, host_and_port, with_port};
use crate::SutError;

/// How often a waiting start checks whether the server has ended or the user has cancelled.
const TICK: Duration = Duration::from_millis(10);
/// How long after the ready line the socket may appear.
const LINE_AHEAD: Duration = Duration::from_secs(2);
/// How long a port must be the only open one before it is the server's: some open a management port first. And how long
/// another process's before it is lost: one that forks hands its sockets over, or only looks for a free port.
const SETTLED: Duration = Duration::from_millis(200);
/// The longest rest between two looks at a server that starts.
const LONGEST_REST: Duration = Duration::from_millis(250);

/// The rest after a look at a server that has been starting for so long. A look through the kernel's table of sockets takes
/// milliseconds of CPU, which the server needs. The time of the start is known to a fiftieth.
fn rest_after(waited: Duration) -> Duration {
    (waited / 50).clamp(TICK, LONGEST_REST)
}

pub(super) fn refuse_taken_port(spec: &ServerSpec, port: Option<u16>) -> Result<(), SutError> {
    if spec.line_tells_port()? {
        return Ok(());
    }
    let Some(url) = &spec.base_url else { return Ok(()) };
    let (_, wanted) = host_and_port(&with_port(url, port))?;
    port_holder(wanted)?.map_or(Ok(()), |owner| Err(port_taken_error(spec, wanted, owner)))
}

/// The program that listens on a port of this machine: `PID 4711 (nginx)`; `None` if none does.
pub fn port_holder(port: u16) -> Result<Option<String>, SutError> {
    let inodes: HashSet<u64> = net::listeners_on(port)?.into_iter().map(|l| l.inode).collect();
    Ok((!inodes.is_empty()).then(|| describe_owner(net::socket_owner(&inodes))))
}

/// Whether a start failed because another process took the port that tare had chosen.
pub(super) fn has_lost_port(error: &SutError, port: u16) -> bool {
    match error {
        // A fixed one of its URL is another program's for good.
        SutError::PortTaken { port: taken, .. } => *taken == port,
        // All its processes are gone. Where tare cannot listen now, the server could not either.
        SutError::ExitedBeforeReady { .. } => TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_err(),
        _ => false,
    }
}

fn describe_owner(owner: Option<Owner>) -> String {
    let unseen = || "a process that tare may not see (of another user or container), or that has just ended".to_owned();
    owner.map_or_else(unseen, |owner| format!("PID {} ({})", owner.pid, owner.comm))
}

fn port_taken_error(spec: &ServerSpec, port: u16, owner: String) -> SutError {
    SutError::PortTaken { server: spec.name.clone(), port, owner }
}

pub(super) struct Wait<'a> {
    pub(super) spec: &'a ServerSpec,
    pub(super) port: Option<u16>,
    pub(super) child: &'a mut Child,
    pub(super) log: &'a Log,
    pub(super) cancelled: &'a AtomicBool,
    pub(super) begun: Nanos,
}

impl Wait<'_> {
    /// Waits through all stages. Returns the address at which the server accepts connections.
    pub(super) fn until_ready(mut self) -> Result<SocketAddr, SutError> {
        let line = self.wait_for_ready_line()?;
        let port = self.expected_port(line)?;
        let listening = match port {
            Some(port) => self.wait_for_port(port, line.is_some())?,
            None => self.wait_for_any_port()?,
        };
        self.wait_for_connection(&listening)
    }

    /// Repeats `attempt` until it returns a value, the server has ended, or the time is over.
    fn poll_until<T>(
        &mut self,
        waited_for: &str,
        mut attempt: impl FnMut(&mut Self) -> Result<Option<T>, SutError>,
    ) -> Result<T, SutError> {
        loop {
            let exited = self.child.try_wait();
            if let Some(found) = attempt(self)? {
                return Ok(found);
            }
            if self.cancelled.load(Ordering::Relaxed) {
                return Err(SutError::Cancelled { server: self.name() });
            }
            if let Some(how) = exited {
                // Its last output may still be in the pipe.
                let _ended = self.child.kill_tree();
                self.log.finish();
                let chooses_port = self.port.is_none() && !self.spec.line_tells_port()?;
                let (server, log) = (self.name(), self.log.end());
                return Err(SutError::ExitedBeforeReady { server, how, chooses_port, log });
            }
            if self.waited() >= self.spec.startup_timeout {
                let (server, seconds) = (&self.spec.name, self.spec.startup_timeout.as_secs_f64());
                let elsewhere = listening_addresses(self.child.program_pid()).unwrap_or_default();
                let remedy = match (&self.spec.ready, elsewhere.as_slice()) {
                    (None, []) => "give it longer: startup_timeout = \"2m\" under [run]".to_owned(),
                    (None, at) => format!("it listens on {}: does it read its port?", join_addresses(at)),
                    (Some(_), _) => {
                        "is its ready rule right? Else give it longer: startup_timeout = \"2m\" under [run]".to_owned()
                    }
                };
                return Err(self.not_ready(format!("{server} was not ready after {seconds}s: {waited_for}; {remedy}")));
            }
        }
    }

    fn wait_for_ready_line(&mut self) -> Result<Option<ReadyLine>, SutError> {
        let Some(pattern) = &self.spec.ready else { return Ok(None) };
        self.poll_until(&format!("no line matched /{pattern}/"), |wait| Ok(wait.log.ready(TICK))).map(Some)
    }

    /// The port that the server must listen on; `None` if the ready line and the URL state none, and `{port}` occurs nowhere.
    fn expected_port(&self, line: Option<ReadyLine>) -> Result<Option<u16>, SutError> {
        if self.spec.line_tells_port()? {
            let port = line.and_then(|line| line.port).filter(|&port| port != 0);
            let wrong = "its ready line matched, but its (?<port>…) is not a port number; correct ready in the suite";
            return port.map(Some).ok_or_else(|| self.not_ready(format!("{}: {wrong}", self.spec.name)));
        }
        match &self.spec.base_url {
            Some(url) => host_and_port(&with_port(url, self.port)).map(|(_, port)| Some(port)),
            None => Ok(self.port),
        }
    }

    fn wait_for_port(&mut self, port: u16, by_its_line: bool) -> Result<Vec<SocketAddr>, SutError> {
        let line_expires = clock::now() + LINE_AHEAD;
        let what = format!("no program listens on port {port}");
        let mut foreign_since: Option<Nanos> = None;
        self.poll_until(&what, |wait| {
            match find_holder(port, wait.child.program_pid())? {
                Holder::Ours(addresses) => return Ok(Some(addresses)),
                Holder::Foreign(owner) => {
                    let since = *foreign_since.get_or_insert_with(clock::now);
                    if clock::now() < since + SETTLED {
                        wait.child.wait(TICK);
                        return Ok(None);
                    }
                    let owner = describe_owner(owner);
                    return Err(match wait.spec.line_tells_port()? {
                        true => wait.wrong_port_error(port, format!("{owner} does")),
                        false => port_taken_error(wait.spec, port, owner),
                    });
                }
                Holder::Nobody if by_its_line && clock::now() >= line_expires => {
                    let elsewhere = listening_addresses(wait.child.program_pid())?;
                    return Err(wait.wrong_port_error(port, format!("it listens on {}", join_addresses(&elsewhere))));
                }
                Holder::Nobody => foreign_since = None,
            }
            wait.rest();
            Ok(None)
        })
    }

    fn wait_for_any_port(&mut self) -> Result<Vec<SocketAddr>, SutError> {
        let mut alone: Option<(u16, Nanos)> = None;
        self.poll_until("it listens nowhere", |wait| {
            let found = listening_addresses(wait.child.program_pid())?;
            let ports: BTreeSet<u16> = found.iter().map(SocketAddr::port).collect();
            if ports.len() > 1 {
                let (server, count, ports) = (&wait.spec.name, ports.len(), join_addresses(&found));
                let remedy = "say which with base_url or a group (?<port>…) in ready";
                return Err(SutError::Other(format!("{server} listens on {count} ports ({ports}); {remedy}")));
            }
            let (port, now) = (ports.first().copied(), clock::now());
            alone = port.map(|port| alone.filter(|(known, _)| *known == port).unwrap_or((port, now)));
            if alone.is_some_and(|(_, since)| now >= since + SETTLED) {
                return Ok(Some(found));
            }
            wait.rest();
            Ok(None)
        })
    }

    /// Connects to the host of the base URL, or to the address that the server listens on.
    fn wait_for_connection(&mut self, listening: &[SocketAddr]) -> Result<SocketAddr, SutError> {
        let candidates: Vec<SocketAddr> = match &self.spec.base_url {
            Some(url) => {
                let port = listening.first().map(SocketAddr::port);
                host_and_port(&with_port(url, port))?.to_socket_addrs().map(Iterator::collect).unwrap_or_default()
            }
            None => listening.iter().map(|&address| connect_address(address)).collect(),
        };
        self.poll_until(&format!("it accepts no connection at {}", join_addresses(&candidates)), |wait| {
            let accepted =
                candidates.iter().find(|address| TcpStream::connect_timeout(address, Duration::from_secs(1)).is_ok());
            if accepted.is_none() {
                wait.rest();
            }
            Ok(accepted.copied())
        })
    }

    fn waited(&self) -> Duration {
        Duration::from_nanos(clock::now().since(self.begun))
    }

    fn rest(&mut self) {
        self.child.wait(rest_after(self.waited()));
    }

    /// It announced a port on which it does not listen; `found` is where it does, or who listens there.
    fn wrong_port_error(&self, port: u16, found: String) -> SutError {
        let server = &self.spec.name;
        self.not_ready(format!("{server} says that it listens on port {port}, but no process of it does ({found})"))
    }

    fn not_ready(&self, said: String) -> SutError {
        SutError::NotReady { said, log: self.log.end() }
    }

    fn name(&self) -> String {
        self.spec.name.clone()
    }
}

/// The address to connect to: the loopback for "any", and IPv4 where a JVM listens on IPv6 sockets for it too.
fn connect_address(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip().to_canonical() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(ip, address.port())
}

fn join_addresses(addresses: &[SocketAddr]) -> String {
    if addresses.is_empty() {
        return "no port".to_owned();
    }
    addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Who listens on a port.
enum Holder {
    Nobody,
    /// The server's own processes, at these addresses.
    Ours(Vec<SocketAddr>),
    /// Another process, even if the server listens on the port too.
    Foreign(Option<Owner>),
}

/// The owner of `port`, of which another program's figures would be wrong. The tree of `pid` is the server's own.
fn find_holder(port: u16, pid: u32) -> Result<Holder, SutError> {
    let listening = net::listeners_on(port)?;
    if listening.is_empty() {
        return Ok(Holder::Nobody);
    }
    let ours = sockets_of_tree(pid)?;
    let foreign: HashSet<u64> = listening.iter().map(|l| l.inode).filter(|inode| !ours.contains(inode)).collect();
    if foreign.is_empty() {
        return Ok(Holder::Ours(listening.into_iter().map(|l| l.address).collect()));
    }
    Ok(Holder::Foreign(net::socket_owner(&foreign)))
}

/// Every address that the process tree of `pid` listens on.
fn listening_addresses(pid: u32) -> Result<Vec<SocketAddr>, SutError> {
    let ours = sockets_of_tree(pid)?;
    Ok(net::listeners()?.into_iter().filter(|l| ours.contains(&l.inode)).map(|l| l.address).collect())
}

fn sockets_of_tree(pid: u32) -> Result<HashSet<u64>, SutError> {
    Ok(process_tree(pid)?.into_iter().flat_map(net::sockets_of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_takes_long_to_start_is_looked_at_ever_less_often() {
        let (mut waited, mut looks) = (Duration::ZERO, 0);
        while waited < Duration::from_secs(30) {
            waited += rest_after(waited);
            looks += 1;
        }
        assert!(looks < 300, "{looks} looks in 30 s");
        assert_eq!(rest_after(Duration::from_millis(400)), TICK, "a quick start is timed as exactly as ever");
    }

    #[test]
    fn a_listening_address_becomes_one_to_connect_to() {
        for (listened, reached) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("[::ffff:127.0.0.1]:80", "127.0.0.1:80"),
            ("127.0.0.2:80", "127.0.0.2:80"),
        ] {
            assert_eq!(connect_address(listened.parse().unwrap()), reached.parse().unwrap());
        }
    }
}
