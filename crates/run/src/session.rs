//! The generator's settings for a scenario: the server, the requests, and the checks of the responses.

use std::time::Duration;

use tare_load::{Check, Conversation, LoadSession, Method, Protocol, RequestSpec, SessionSpec, Stamp};
use tare_plan::Plan;
use tare_plan::contract::{Contract, ExpectBody, SameAs};
use tare_plan::plan::NamedScenario;
use tare_sys::affinity::CpuSet;

use crate::driven_server::DrivenServer;
use crate::error::RunError;

/// The longest that a connect may take, however long an answer may.
const CONNECT: Duration = Duration::from_secs(5);

/// A session with one server under one scenario.
///
/// # Errors
/// [`RunError::Plan`] for an unknown method; otherwise as [`LoadSession::open`].
pub(crate) fn open(
    plan: &Plan,
    server: &DrivenServer<'_>,
    contract: &Contract,
    load_cpus: &CpuSet,
    named: &NamedScenario,
) -> Result<LoadSession, RunError> {
    let request = request(server.launch.contract(contract), &server.variant.identity(), named)?;
    Ok(LoadSession::open(&SessionSpec {
        connections: plan.connections(&named.scenario) as usize,
        cpus: load_cpus.clone(),
        timeout: plan.load.timeout.0,
        connect_timeout: plan.load.timeout.0.min(CONNECT),
        congestion: Some(plan.load.congestion.clone()).filter(|name| name != "default"),
        host: server.launch.host(),
        protocol: protocol(named, plan.slo.is_some()),
        server_clock: plan.load.server_clock,
        ..SessionSpec::new(server.address, vec![request])
    })?)
}

/// The protocol: HTTP/1.1, or a WebSocket on which all users listen. In a search they listen for as long as a try
/// lasts.
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
    let method = Method::from_name(&wanted.method).map_err(|error| RunError::Plan {
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

#[cfg(test)]
mod tests {
    use tare_plan::contract::{Expect, Request};
    use tare_units::Span;

    use super::*;
    use crate::tests::scenario;

    #[test]
    fn a_request_is_sent_and_checked_as_the_scenario_says() {
        let mut named = scenario("Post", None);
        named.scenario.request = Request {
            method: "POST".to_owned(),
            path: "/echo?a=1".to_owned(),
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
            named.scenario.expect = Expect { status: 201, headers, body };
            let request = request(&Contract::default(), "own", &named).unwrap();
            assert_eq!((request.method, request.path.as_str()), (Method::from_name("POST").unwrap(), "/echo?a=1"));
            assert_eq!(request.headers, [("accept".to_owned(), "text/plain".to_owned())]);
            assert_eq!(request.checks.len(), checks, "status, header, and the body where it is checked");
        }
    }

    #[test]
    fn a_method_that_is_none_names_its_scenario() {
        let mut named = scenario("Get", None);
        named.scenario.request.method = "G ET".to_owned();
        let error = request(&Contract::default(), "own", &named).unwrap_err();
        assert!(matches!(error, RunError::Plan { key, .. } if key == "[scenarios.Get] method"));
    }

    #[test]
    fn listeners_read_so_many_messages_and_in_a_search_until_it_ends() {
        let push = tare_plan::push::Push { period: Span::from_millis(100), messages: 20 };
        let named = scenario("Push", Some(push));
        for (is_search, expected) in [(false, 20), (true, u64::MAX)] {
            let Protocol::WebSocket(Conversation::Push(push)) = protocol(&named, is_search) else {
                panic!("a push is a WebSocket")
            };
            assert_eq!((push.messages_per_user, push.period), (expected, Duration::from_millis(100)));
        }
        assert_eq!(format!("{:?}", protocol(&scenario("Get", None), false)), format!("{:?}", Protocol::default()));
    }
}
