//! Settings of a session.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tare_sample::ServerClock;
use tare_sys::affinity::{CpuSet, allowed_cpus};
use tare_sys::socket::Target;

use super::spec_error;
use crate::error::LoadError;
use crate::input::request::Requests;
use crate::protocol::Protocol;
use crate::protocol::tls::TlsSpec;
use crate::schedule::Share;

/// What stays the same over all slices of a session. [`SessionSpec::new`] has the defaults.
#[derive(Clone, Debug)]
pub struct SessionSpec {
    pub target: Target,
    /// Further addresses of the same server. Connections are spread evenly over all of them.
    pub further_addresses: Vec<SocketAddr>,
    /// How connections are secured; `None` for plain text.
    pub tls: Option<TlsSpec>,
    pub protocol: Protocol,
    /// The largest number of connections that a slice may use, over all workers.
    pub connections: usize,
    pub requests: Requests,
    /// The `Host` of the requests; `None` for the target's address, or `localhost` for a Unix socket.
    pub host: Option<String>,
    /// One worker thread for each of these CPUs, pinned to it.
    pub cpus: CpuSet,
    /// Time from a request's intended start to its failure, if it gets no response.
    pub timeout: Duration,
    /// Time from the start of a connect to its failure.
    pub connect_timeout: Duration,
    /// Congestion control algorithm of all sockets; `None` for the kernel's default.
    pub congestion: Option<String>,
    /// Which clock stamps pushed messages.
    pub server_clock: ServerClock,
    /// This session's part of the load. Numbers of connections, rates and counts are those of the whole load.
    pub share: Share,
}

impl SessionSpec {
    /// One connection in plain HTTP/1.1 to `target`, from the first CPU that this process may use. The timeouts are
    /// 10 s for a response and 5 s for a connect.
    pub fn new(target: impl Into<Target>, requests: impl Into<Requests>) -> Self {
        let cpus = allowed_cpus()
            .map_or_else(|_| CpuSet::from_indices([]), |allowed| CpuSet::from_indices(allowed.iter().take(1)));
        Self {
            target: target.into(),
            further_addresses: Vec::new(),
            tls: None,
            protocol: Protocol::default(),
            connections: 1,
            requests: requests.into(),
            host: None,
            cpus,
            timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(5),
            congestion: None,
            server_clock: ServerClock::default(),
            share: Share::WHOLE,
        }
    }

    /// How many of these connections this session opens itself.
    pub(super) const fn own_part_of(&self, connections: usize) -> usize {
        self.share.part_of(connections as u64) as usize
    }

    pub(super) fn targets(&self) -> Arc<[Target]> {
        let further = self.further_addresses.iter().map(|address| Target::Tcp(*address));
        std::iter::once(self.target.clone()).chain(further).collect()
    }

    pub(super) fn host(&self) -> String {
        let of_target = || self.target.tcp_address().map_or("localhost".to_owned(), |address| address.to_string());
        self.host.clone().unwrap_or_else(of_target)
    }

    pub(super) fn base(&self) -> String {
        let scheme = match self.protocol {
            Protocol::Exchange | Protocol::Push { .. } => "ws",
            Protocol::Http1 { .. } | Protocol::Http2 { .. } | Protocol::Events { .. } => "http",
        };
        let secured = if self.tls.is_some() { "s" } else { "" };
        format!("{scheme}{secured}://{}", self.host())
    }

    /// Rejects settings that contradict one another, for any requests.
    pub(super) fn check(&self) -> Result<(), LoadError> {
        if self.share.worker >= self.share.workers {
            return Err(spec_error("a share that does not exist", "count shares from 0"));
        }
        if self.own_part_of(self.connections) == 0 || self.cpus.is_empty() {
            return Err(spec_error("a session without connections or CPUs", "give at least one of each"));
        }
        if self.protocol.depth() == 0 {
            return Err(spec_error("connections that carry no request", "let each carry at least one at a time"));
        }
        Ok(())
    }
}
