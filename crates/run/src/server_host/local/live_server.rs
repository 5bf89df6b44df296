//! A running server: our own child process, or one that was started outside tare and only gets load.

use std::net::SocketAddr;

use tare_sut::SutError;
use tare_sut::server::{Server, Status};
use tare_sys::affinity::CpuSet;

/// A server that accepts connections.
#[derive(Debug)]
pub struct LiveServer {
    pub address: SocketAddr,
    /// Started by tare; dropping it ends it. `None` if it was started outside tare.
    own: Option<Box<Server>>,
}

impl LiveServer {
    pub fn ours(server: Server) -> Self {
        Self { address: server.address(), own: Some(Box::new(server)) }
    }

    /// One that was started outside tare: its processes cannot be seen, and it is left running.
    pub fn external(address: SocketAddr) -> Self {
        Self { address, own: None }
    }

    /// The time from its start until it was ready; 0 for one that ran already.
    pub fn startup_ns(&self) -> u64 {
        self.own.as_ref().map_or(0, |server| server.startup_ns())
    }

    pub fn pid(&self) -> Option<u32> {
        self.chain().next().map(Server::pid)
    }

    /// The servers that tare started: it, and those behind it.
    pub fn chain(&self) -> impl Iterator<Item = &Server> {
        self.own.iter().flat_map(|server| server.chain())
    }

    pub fn status(&self) -> Status {
        self.own.as_ref().map_or(Status::Running, |server| server.status())
    }

    /// The last lines of its log, where it is ours and has said anything; of a proxy also those of what is behind it.
    pub fn log_tail(&self, lines: usize) -> Option<String> {
        let is_chain = self.chain().count() > 1;
        let of_server = |server: &Server| {
            let name = is_chain.then(|| format!("{}:", server.name()));
            let said = server.last_lines(lines);
            if said.is_empty() { Vec::new() } else { name.into_iter().chain(said).collect() }
        };
        let all: Vec<String> = self.chain().flat_map(of_server).collect();
        (!all.is_empty()).then(|| all.join("\n"))
    }

    pub fn set_cpus(&self, cpus: &CpuSet) -> Result<(), SutError> {
        self.own.as_ref().map_or(Ok(()), |server| server.set_cpus(cpus))
    }

    /// Ends it, where it is ours, and says how it ended.
    pub fn stop(self) -> String {
        let Some(server) = self.own else { return "external: left running".to_owned() };
        server.stop().unwrap_or_else(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_elsewhere_is_driven_and_left_alone() {
        let address: SocketAddr = "192.0.2.1:80".parse().unwrap();
        let live = LiveServer::external(address);
        assert_eq!((live.address, live.pid(), live.log_tail(5)), (address, None, None));
        assert!(matches!(live.status(), Status::Running));
        live.set_cpus(&"0".parse().unwrap()).unwrap();
        assert_eq!(live.stop(), "external: left running");
    }
}
