//! The contract: what each server must answer. One plain-data file drives the verifier and the load.

mod body;
mod call;
mod exchange;
mod may_differ;
pub(crate) mod transport_keys;
mod user_setup;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tare_units::Span;

use crate::PlanError;
use crate::document;

pub use body::{Alphabet, BodySpec, GeneratedBody, HexBody, bytes_of_hex};
pub use call::GrpcStatus;
pub use exchange::Exchange;
pub use may_differ::{MayDiffer, may_differ_line};
pub use transport_keys::{HttpVersion, TlsKeys, TlsTrust, TransportKeys};
pub use user_setup::{SetupRequest, UserSetup};

pub type Scenarios = BTreeMap<String, Scenario>;

/// The contract of a set of servers, as written in `contract.toml`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Version of the format; 1.
    pub schema: u32,
    /// What is timed, by name.
    #[serde(default)]
    pub scenarios: Scenarios,
    /// What is verified and never timed.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// Where a server legitimately answers otherwise, and why.
    #[serde(default)]
    pub differences: Vec<Difference>,
    /// Scenarios that a server cannot answer at all, and why.
    #[serde(default)]
    pub lacks: Vec<Lack>,
}

/// One exchange that is timed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// One line for people.
    #[serde(default)]
    pub title: String,
    /// The least number of routes a server must have to be asked this.
    #[serde(default = "one")]
    pub routes: u32,
    pub request: Request,
    pub expect: Expect,
    /// What two answers need not have in common. Where `expect` states no body, all servers must answer alike otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_differ: Vec<MayDiffer>,
    /// Where the request opens a WebSocket, or the response is a stream of events: what the server then sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push: Option<Push>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<HttpVersion>,
    /// Requests that a connection of HTTP/2 carries at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<u32>,
    /// Whether a new connection over TLS may resume the session of an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumption: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsKeys>,
}

/// One exchange that is verified before anything is timed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// A sentence: what holds when the check passes.
    pub name: String,
    /// The least number of routes a server must have to be asked this.
    #[serde(default = "one")]
    pub routes: u32,
    pub request: Request,
    pub expect: Expect,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    #[serde(default = "get")]
    pub method: String,
    /// Path and query; that of the method where `grpc` names one.
    #[serde(default)]
    pub path: String,
    /// The method of a unary gRPC call, `package.Service/Method`. The body is its message. Path, HTTP method and headers
    /// follow from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grpc: Option<String>,
    /// Headers in addition to `Host` and `Content-Length`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<BodySpec>,
}

/// What must come back. What is absent is not checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Status code; 200 when absent.
    #[serde(default = "ok")]
    pub status: u16,
    /// Headers that matter: names without regard to case, values exact.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The status of a gRPC call; OK when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grpc_status: Option<GrpcStatus>,
    /// The body, or the message of a gRPC call: exactly, or only its length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<ExpectBody>,
}

/// What is demanded of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "an expected body is a string, { bytes = LENGTH }, { hex = \"0a02\" } or { same_as = \"request\" }"
)]
pub enum ExpectBody {
    /// Byte for byte.
    Exact(String),
    /// Only its length.
    Length { bytes: u64 },
    /// Byte for byte, in hex.
    Hex(HexBody),
    /// What was sent, byte for byte.
    Same { same_as: SameAs },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SameAs {
    Request,
}

/// The messages that come once a WebSocket is open, or the events of a response, and how many of them a user reads. Each message of
/// a WebSocket says when it was sent: milli-, micro- or nanoseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// From one message to the next, as far as that is known.
    pub period: Span,
    pub messages: u32,
}

impl Push {
    /// How long a user reads.
    pub fn span(&self) -> Span {
        Span(self.period.0 * self.messages)
    }

    /// Why these messages cannot be pushed; `None` if they can.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        if self.period.0.is_zero() {
            Some("period must be above 0")
        } else if self.messages < 2 {
            Some("messages must be at least 2: jitter is about the time between two")
        } else if self.messages > MOST_MESSAGES {
            Some("messages must be at most 1000000")
        } else {
            None
        }
    }
}

/// An allowed difference: another answer is expected of these servers, and `tare verify` shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Globs over server names (`http4s.*`), or over names with versions (`http4s.Tapir@1.8.*`).
    pub servers: Vec<String>,
    /// Name of the check or scenario.
    pub check: String,
    /// Why the library answers otherwise.
    pub because: String,
    /// What these servers must answer instead.
    pub expect: Expect,
}

/// Something that a server's library does not have. The server gets no requests of these scenarios, and the plan says why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lack {
    /// Globs over server names, or over names with versions, as in [`Difference::servers`].
    pub servers: Vec<String>,
    /// Globs over scenarios.
    pub scenarios: Vec<String>,
    /// What is not there.
    pub because: String,
}

/// The status of a successful WebSocket handshake.
const SWITCHING_PROTOCOLS: u16 = 101;

const LONG_BODY: u64 = 64 * 1024;

/// A user reads no more, as with `--messages`.
const MOST_MESSAGES: u32 = 1_000_000;

impl Scenario {
    /// Whether request or response have a long body.
    pub fn is_long(&self) -> bool {
        let sent = self.request.body.as_ref().map_or(0, |body| body.length() as u64);
        let received = match &self.expect.body {
            Some(ExpectBody::Length { bytes }) => *bytes,
            Some(ExpectBody::Exact(text)) => text.len() as u64,
            Some(ExpectBody::Hex(HexBody { hex })) => hex.len() as u64 / 2,
            Some(ExpectBody::Same { .. }) | None => 0,
        };
        sent.max(received) >= LONG_BODY
    }
}

fn one() -> u32 {
    1
}

fn ok() -> u16 {
    200
}

fn get() -> String {
    "GET".to_owned()
}

impl Contract {
    /// Reads a contract; `file` names the place of an error. Errors: [`PlanError::Document`] with the line, or
    /// [`PlanError::Value`] for another schema or a path without `/`.
    pub fn parse(file: &str, text: &str) -> Result<Self, PlanError> {
        let mut contract: Self = document::parse_document(file, text)?;
        let wrong = |message: String| PlanError::value(file, message);
        if contract.schema != 1 {
            return Err(wrong(format!("schema = {} is unknown to this tare; write schema = 1", contract.schema)));
        }
        complete_all(file, &mut contract.scenarios, &mut contract.checks)?;
        for Difference { check: name, expect, .. } in &contract.differences {
            let of_check = contract.checks.iter().find(|check| check.name == *name).map(|check| &check.request);
            let request = of_check.or_else(|| contract.scenarios.get(name).map(|scenario| &scenario.request));
            let Some(request) = request else {
                let message = format!("[[differences]] names \"{name}\", which is neither a check nor a scenario");
                return Err(wrong(message));
            };
            expect
                .check(request)
                .map_err(|message| wrong(format!("[[differences]] of \"{name}\": expect: {message}")))?;
        }
        Ok(contract)
    }
}

pub fn requests_mut<'a>(
    scenarios: &'a mut Scenarios,
    checks: &'a mut [Check],
) -> impl Iterator<Item = &'a mut Request> {
    let of_scenarios = scenarios.values_mut().map(|scenario| &mut scenario.request);
    of_scenarios.chain(checks.iter_mut().map(|check| &mut check.request))
}

/// Completes all requests of `file`, or says which of them could not be sent.
pub(crate) fn complete_all(file: &str, scenarios: &mut Scenarios, checks: &mut [Check]) -> Result<(), PlanError> {
    let wrong = |key: String, message: String| PlanError::value(format!("{file}: {key}"), message);
    for (name, scenario) in &mut *scenarios {
        scenario.complete(file).map_err(|(key, message)| wrong(format!("[scenarios.{name}] {key}"), message))?;
    }
    let mut names = BTreeSet::new();
    for check in checks {
        let named = format!("[[checks]] \"{}\"", check.name);
        if !names.insert(check.name.clone()) {
            return Err(wrong(named, "two checks have this name; give one of them another".to_owned()));
        }
        check.complete(scenarios).map_err(|message| wrong(named, message))?;
    }
    Ok(())
}

impl Check {
    /// Completes the request. Refuses what could not be sent or come back, and the name of a scenario: by the name, what must
    /// come back is found.
    pub(crate) fn complete(&mut self, scenarios: &Scenarios) -> Result<(), String> {
        if scenarios.contains_key(&self.name) {
            return Err("is the name of a scenario too; give the check another one".to_owned());
        }
        self.request.complete()?;
        self.expect.check(&self.request).map_err(|message| format!("expect: {message}"))
    }
}

impl Expect {
    /// Refuses what could not come back on this request.
    fn check(&self, request: &Request) -> Result<(), String> {
        if let Some(ExpectBody::Hex(HexBody { hex })) = &self.body {
            bytes_of_hex(hex)?;
        }
        match self.grpc_status {
            Some(_) if request.grpc.is_none() => {
                Err("grpc_status is that of a gRPC call; write request = { grpc = … }".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl Scenario {
    /// Whether the answers of all servers must be alike, because nothing says which body is right.
    pub fn compares_answers(&self) -> bool {
        self.expect.body.is_none() && self.push.is_none()
    }

    /// Whether the response is a stream of events, and not a WebSocket.
    pub fn is_event_stream(&self) -> bool {
        self.push.is_some() && self.expect.status != SWITCHING_PROTOCOLS
    }

    /// What it states of the connections that it is sent on.
    pub fn transport_keys(&self) -> TransportKeys {
        let Self { protocol, streams, resumption, tls, .. } = self;
        TransportKeys { protocol: *protocol, streams: *streams, resumption: *resumption, tls: tls.clone() }
    }

    /// Completes the request, and the paths of `file`, which has the scenario. Refuses what could not be sent, pushes that cannot
    /// be, and a body that is stated and may differ. An error names the key.
    pub(crate) fn complete(&mut self, file: &str) -> Result<(), (&'static str, String)> {
        self.request.complete().map_err(|message| ("request", message))?;
        self.transport_keys().contradiction().map_or(Ok(()), Err)?;
        self.tls = self.tls.take().map(|tls| tls.beside(file));
        self.expect.check(&self.request).map_err(|message| ("expect", message))?;
        if let Some(wrong) = self.push.as_ref().and_then(Push::contradiction) {
            return Err(("push", wrong.to_owned()));
        }
        if self.is_event_stream() && (self.expect.body.is_some() || self.request.grpc.is_some()) {
            let message = "push asks for a stream of events, which has no body to compare; leave out one of them";
            return Err(("expect", message.to_owned()));
        }
        if self.expect.body.is_some() && self.may_differ.contains(&MayDiffer::Body) {
            let message = "names the body, and expect states what it must be; leave out one of them".to_owned();
            return Err(("may_differ", message));
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests;
