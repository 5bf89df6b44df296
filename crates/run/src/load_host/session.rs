//! The generator's settings for a scenario: the server, the requests, and the checks of the responses.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tare_load::{Check, GrpcCode, Identity, LoadSession, RequestSpec, SessionSpec, Share, TlsSpec, method_named};
use tare_plan::contract::{Contract, Expect, ExpectBody, GrpcStatus, HexBody, Request, SameAs, bytes_of_hex};
use tare_plan::plan::{NamedScenario, Protocol, Transport};
use tare_plan::{Plan, PlanError, ServerClock};
use tare_sut::contract::GivenAnswer;
use tare_sys::affinity::CpuSet;
use tare_units::Span;

use crate::error::RunError;
use crate::prepare::{DrivenServer, resolve};
use crate::server_host::ServerId;

/// The longest that a connect may take, however long an answer may.
const CONNECT: Duration = Duration::from_secs(5);

/// A session with one server under one scenario: all that a generator must know, on whichever machine it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionOrder {
    pub server: ServerId,
    pub destination: Destination,
    /// The scenario with what this server is held to.
    pub named: NamedScenario,
    pub transport: Transport,
    /// Connections of all generators together; each carries as many requests as the transport says.
    pub connections: u32,
    pub timeout: Span,
    /// TCP congestion control of the sockets, where the plan names one.
    pub congestion: Option<String>,
    /// Whose clock stamps pushed messages.
    pub server_clock: ServerClock,
    pub is_search: bool,
}

impl SessionOrder {
    /// That of a plan. The server is held to `agreed`, its baseline's answer, unless another is expected or stated.
    pub(crate) fn of(
        plan: &Plan,
        id: ServerId,
        server: &DrivenServer<'_>,
        named: &NamedScenario,
        agreed: Option<&GivenAnswer>,
    ) -> Self {
        let transport = server.variant.program.transport();
        let mut held = scenario_for_server(&server.contract, &server.variant.identity(), named);
        if let Some(agreed) = agreed.filter(|_| held.scenario.compares_answers()) {
            agreed.add_to(&mut held.scenario.expect);
        }
        Self {
            server: id,
            destination: Destination::of(server),
            named: held,
            connections: plan.connections(&named.scenario).div_ceil(transport.protocol.depth()),
            transport,
            timeout: plan.load.timeout,
            congestion: Some(plan.load.congestion.clone()).filter(|name| name != "default"),
            server_clock: plan.load.server_clock,
            is_search: plan.slo.is_some(),
        }
    }

    /// Prepares a generator on these cores for this part of the session's load.
    pub fn open(&self, cpus: &CpuSet, share: Share) -> Result<LoadSession, RunError> {
        Ok(LoadSession::open(&SessionSpec {
            connections: self.connections as usize,
            cpus: cpus.clone(),
            timeout: self.timeout.0,
            connect_timeout: self.timeout.0.min(CONNECT),
            congestion: self.congestion.clone(),
            host: self.destination.host.clone(),
            protocol: protocol(&self.named, &self.transport, self.is_search),
            tls: tls_spec(&self.transport, &self.destination),
            server_clock: self.server_clock,
            share,
            ..SessionSpec::new(self.destination.resolve()?, vec![request(&self.named)?])
        })?)
    }
}

/// The fewest users with which each of these workers has a connection in every session, as far as there are enough.
pub fn users_for_workers<'a>(sessions: impl IntoIterator<Item = &'a SessionOrder>, workers: u32) -> u32 {
    let (mut deepest, mut most_users) = (1, u32::MAX);
    for SessionOrder { transport, connections, .. } in sessions {
        deepest = deepest.max(transport.protocol.depth());
        most_users = most_users.min(connections.saturating_mul(transport.protocol.depth()));
    }
    workers.max(1).saturating_mul(deepest).min(most_users)
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Destination {
    /// `0.0.0.0` where the name is to be resolved on the machine of the generator.
    pub address: SocketAddr,
    /// The `Host` header, where it is not the address.
    pub host: Option<String>,
}

impl Destination {
    pub(crate) fn of(server: &DrivenServer<'_>) -> Self {
        Self { address: server.address, host: server.launch.host() }
    }

    pub fn resolve(&self) -> Result<SocketAddr, PlanError> {
        match &self.host {
            Some(host) if self.address.ip().is_unspecified() => {
                resolve(host).map_err(|message| PlanError::value("the url of a server", message))
            }
            _ => Ok(self.address),
        }
    }
}

/// The scenario with what the contract expects of this server.
fn scenario_for_server(contract: &Contract, server: &str, named: &NamedScenario) -> NamedScenario {
    let mut named = named.clone();
    if let Some(exchange) = contract.exchange(server, &named.name) {
        named.scenario.expect = exchange.expect;
    }
    named
}

/// That of the transport, unless the server sends. In a search users read what it sends for as long as a try lasts.
fn protocol(named: &NamedScenario, transport: &Transport, is_search: bool) -> Protocol {
    let Some(push) = &named.scenario.push else { return transport.protocol };
    let messages = (!is_search).then_some(u64::from(push.messages));
    match named.scenario.is_event_stream() {
        true => Protocol::Events { messages, streams: transport.is_http2().then(|| transport.protocol.depth()) },
        false => Protocol::Push { period: push.period, messages },
    }
}

/// TLS with a server, as a suite states it; `None` without.
pub(crate) fn tls_spec(transport: &Transport, destination: &Destination) -> Option<TlsSpec> {
    let keys = transport.tls.as_ref()?;
    let of_host = || match &destination.host {
        // The brackets of an IPv6 address belong to the URL, not to the name.
        Some(host) => host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name).trim_matches(['[', ']']).to_owned(),
        None => destination.address.ip().to_string(),
    };
    let name = keys.server_name.clone().unwrap_or_else(of_host);
    let identity = keys.certificate.as_ref().zip(keys.key.as_ref());
    Some(TlsSpec {
        trust: keys.trust(),
        identity: identity.map(|(certificate, key)| Identity { certificate: certificate.into(), key: key.into() }),
        resumption: !transport.full_handshakes,
        ..TlsSpec::new(&name)
    })
}

fn request(NamedScenario { name, scenario }: &NamedScenario) -> Result<RequestSpec, PlanError> {
    sent_and_checked(&format!("[scenarios.{name}]"), &scenario.request, &scenario.expect)
}

/// A request of a suite as the generator sends it and checks its answer. `place` names it in errors.
pub fn sent_and_checked(place: &str, wanted: &Request, expect: &Expect) -> Result<RequestSpec, PlanError> {
    let method =
        method_named(&wanted.method).map_err(|error| PlanError::value(format!("{place} method"), error.to_string()))?;
    let mut request = RequestSpec::new(method, &wanted.path).expecting(Check::status(expect.status));
    request.headers = wanted.header_list();
    request.checks.extend(expect.headers.iter().map(|(name, value)| Check::header_is(name, value)));
    request.checks.extend(expect.body.as_ref().map(|body| match body {
        ExpectBody::Exact(text) => Check::body_is(text.as_bytes()),
        ExpectBody::Length { bytes } => Check::length(*bytes),
        ExpectBody::Hex(HexBody { hex }) => Check::body_is(bytes_of_hex(hex).unwrap_or_default()),
        ExpectBody::Same { same_as: SameAs::Request } => Check::body_is(&*wanted.message_bytes()),
    }));
    if wanted.grpc.is_some() {
        let code = expect.grpc_status.map_or(GrpcCode::OK, |GrpcStatus(code)| code);
        request.checks.push(Check::grpc_status(code));
    }
    Ok(request.body(wanted.body_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::scenario;

    #[test]
    fn a_request_is_sent_and_checked_as_the_scenario_says() {
        let mut named = scenario("Post", None);
        named.scenario.request = Request {
            method: "POST".to_owned(),
            path: "/echo?a=1".to_owned(),
            grpc: None,
            headers: [("accept".to_owned(), "text/plain".to_owned())].into(),
            body: None,
        };
        for (body, checks) in [
            (None, 2),
            (Some(ExpectBody::Exact("4".to_owned())), 3),
            (Some(ExpectBody::Length { bytes: 9 }), 3),
            (Some(ExpectBody::Same { same_as: SameAs::Request }), 3),
        ] {
            let headers = [("content-type".to_owned(), "text/plain".to_owned())].into();
            named.scenario.expect = Expect { status: 201, headers, body, grpc_status: None };
            let request = request(&named).unwrap();
            assert_eq!((request.method, request.path.as_str()), (tare_load::Method::POST, "/echo?a=1"));
            assert_eq!(request.headers, [("accept".to_owned(), "text/plain".to_owned())]);
            assert_eq!(request.checks.len(), checks, "status, header, and the body where it is checked");
        }
    }

    #[test]
    fn each_worker_has_a_connection_in_every_session_and_no_session_has_more_users_than_fit() {
        let order = |connections, pipeline| SessionOrder {
            server: ServerId(0),
            destination: Destination { address: "127.0.0.1:80".parse().unwrap(), host: None },
            named: scenario("Get", None),
            transport: Transport { protocol: Protocol::Http1 { pipeline }, ..Transport::default() },
            connections,
            timeout: Span::from_secs(1),
            congestion: None,
            server_clock: ServerClock::default(),
            is_search: false,
        };
        for (sessions, workers, expected) in [
            (vec![order(8, 1)], 2, 2),
            (vec![order(8, 1)], 9, 8),
            (vec![order(2, 8)], 2, 16),
            (vec![order(2, 8), order(10, 1)], 2, 10),
            (Vec::new(), 0, 1),
        ] {
            assert_eq!(users_for_workers(&sessions, workers), expected, "{workers} workers");
        }
    }

    #[test]
    fn a_name_is_resolved_where_the_load_is_made() {
        let destination = |address: &str, host: Option<&str>| Destination {
            address: address.parse().unwrap(),
            host: host.map(str::to_owned),
        };
        let resolved = destination("0.0.0.0:80", Some("localhost:80")).resolve().unwrap();
        assert!(resolved.ip().is_loopback() && resolved.port() == 80);
        let known = destination("10.0.0.7:80", Some("no-such-host.invalid:80"));
        assert_eq!(known.resolve().unwrap().to_string(), "10.0.0.7:80", "it was resolved already");
        let unknown = destination("0.0.0.0:80", Some("no-such-host.invalid:80")).resolve().unwrap_err().to_string();
        assert!(unknown.starts_with("the url of a server: \"no-such-host.invalid:80\" cannot be found"), "{unknown}");
    }

    #[test]
    fn a_method_that_is_none_names_its_scenario() {
        let mut named = scenario("Get", None);
        named.scenario.request.method = "G ET".to_owned();
        let error = request(&named).unwrap_err();
        assert!(matches!(error, PlanError::Value { origin, .. } if origin == "[scenarios.Get] method"));
    }

    #[test]
    fn listeners_read_so_many_messages_and_in_a_search_until_it_ends() {
        let push = tare_plan::contract::Push { period: Span::from_millis(100), messages: 20 };
        let named = scenario("Push", Some(push));
        for (is_search, expected) in [(false, Some(20)), (true, None)] {
            let spoken = protocol(&named, &Transport::default(), is_search);
            assert_eq!(spoken, Protocol::Push { period: Span::from_millis(100), messages: expected });
        }
        let mut stream = scenario("Events", named.scenario.push);
        stream.scenario.expect.status = 200;
        let http2 = Transport { protocol: Protocol::Http2 { streams: 8 }, ..Transport::default() };
        for (transport, expected) in [(Transport::default(), None), (http2, Some(8))] {
            let spoken = protocol(&stream, &transport, false);
            assert_eq!(spoken, Protocol::Events { messages: Some(20), streams: expected });
        }
    }
}
