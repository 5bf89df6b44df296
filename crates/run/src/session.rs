//! What the generator is told of a scenario: whom to connect to, what to send, and what must come back.

use std::time::Duration;

use tare_load::{Check, Conversation, LoadSession, Method, Protocol, RequestSpec, SessionSpec, Stamp};
use tare_plan::contract::{Contract, ExpectBody, SameAs};
use tare_plan::plan::NamedScenario;

use crate::error::RunError;
use crate::fleet::Member;
use crate::fork::Trial;

/// The longest that a connect may take, however long an answer may.
const CONNECT: Duration = Duration::from_secs(5);

/// A session with one server under one scenario.
pub(crate) fn open(trial: &Trial<'_>, member: &Member<'_>, named: &NamedScenario) -> Result<LoadSession, RunError> {
    let plan = trial.yard.plan;
    let contract = member.launch.contract(trial.yard.contract);
    let request = request(contract, &member.variant.identity(), named)?;
    Ok(LoadSession::open(&SessionSpec {
        connections: plan.connections(&named.scenario) as usize,
        cpus: trial.cores.load.clone(),
        timeout: plan.load.timeout.0,
        connect_timeout: plan.load.timeout.0.min(CONNECT),
        congestion: Some(plan.load.congestion.clone()).filter(|name| name != "default"),
        host: member.launch.host(),
        protocol: protocol(named, plan.slo.is_some()),
        server_clock: plan.load.server_clock,
        ..SessionSpec::new(member.host.address(), vec![request])
    })?)
}

/// What is spoken: HTTP/1.1, or a WebSocket over it that all users listen on, in the tries of a search for as long as a
/// try lasts.
fn protocol(named: &NamedScenario, is_search: bool) -> Protocol {
    named.scenario.push.as_ref().map_or_else(Protocol::default, |push| {
        Protocol::WebSocket(Conversation::Push(tare_load::Push {
            messages_per_user: if is_search { u64::MAX } else { u64::from(push.messages) },
            period: push.period.0,
            stamp: Stamp::Unix,
        }))
    })
}

/// The scenario as the generator sends and checks it, with what this server is held to.
fn request(contract: &Contract, server: &str, named: &NamedScenario) -> Result<RequestSpec, RunError> {
    let expect = contract.exchange(server, &named.name).map_or(&named.scenario.expect, |exchange| exchange.expect);
    let wanted = &named.scenario.request;
    let method = Method::named(&wanted.method).map_err(|error| RunError::Plan {
        key: format!("[scenarios.{}] method", named.name),
        message: error.to_string(),
    })?;
    let mut request = RequestSpec::new(method, &wanted.path).expecting(Check::status(expect.status));
    request.headers.extend(wanted.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
    request.checks.extend(expect.headers.iter().map(|(name, value)| Check::header_is(name, value)));
    request.checks.extend(expect.body.as_ref().map(|body| match body {
        ExpectBody::Exact(text) => Check::body_is(text.as_bytes()),
        ExpectBody::Length { bytes } => Check::length(*bytes),
        ExpectBody::Same { same_as: SameAs::Request } => Check::body_is(&*wanted.body_bytes()),
    }));
    Ok(match &wanted.body {
        None => request,
        Some(body) => request.body(body.bytes()),
    })
}
