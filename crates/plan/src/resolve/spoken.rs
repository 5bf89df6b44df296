//! What is spoken with servers: what the server states, or the scenario, or else what the run asks all in.

use tare_units::{distinct, enumerate, grouped_by};

use super::Inputs;
use crate::PlanError;
use crate::contract::Scenario;
use crate::inventory::KnownServer;
use crate::plan::{
    CommandServer, Group, HttpVersion, Plan, Role, Setting, Source, TlsKeys, Transport, TransportKeys, Variant,
};

const CERTIFIED_NAME: &str = "localhost";

/// The place of `streams` in [`TransportKeys::NAMES`].
const STREAMS: usize = 1;

/// Whether a server of the catalog speaks what it is asked in. The error says what it does speak.
pub(super) fn check_spoken(known: &KnownServer, asked: Option<HttpVersion>) -> Result<(), String> {
    let Some(asked) = asked.filter(|asked| *asked != HttpVersion::Http1 && !known.protocols.contains(asked)) else {
        return Ok(());
    };
    let spoken: Vec<&str> = known.protocols.iter().map(|one| one.name()).collect();
    let spoken = ["http1"].into_iter().chain(spoken).collect::<Vec<_>>().join(", ");
    let because = known.only_http1.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    Err(format!("\"{asked}\" is not spoken by {}; it speaks {spoken}{because}", known.name))
}

/// What all servers are asked in where neither they nor the scenario state it.
fn of_run(inputs: &Inputs<'_>) -> TransportKeys {
    let (flags, suite) = (inputs.flags, &inputs.suite.run);
    TransportKeys {
        protocol: flags.protocol.or(suite.protocol),
        streams: flags.streams.or(suite.streams),
        resumption: flags.resumption.or(suite.resumption),
        tls: None,
    }
}

fn of_server(inputs: &Inputs<'_>, server: &str) -> TransportKeys {
    inputs.suite.servers.get(server).map(CommandServer::transport_keys).unwrap_or_default()
}

/// A server may not state another value than a scenario that it is asked.
pub(super) fn check_agreement(
    inputs: &Inputs<'_>,
    servers: &[&String],
    (name, scenario): (&str, &Scenario),
) -> Result<(), PlanError> {
    let of_scenario = scenario.transport_keys().texts();
    for server in servers {
        let of_server = of_server(inputs, server).texts();
        for (key, (theirs, ours)) in TransportKeys::NAMES.iter().zip(of_server.iter().zip(&of_scenario)) {
            let (Some(theirs), Some(ours)) = (theirs, ours) else { continue };
            if theirs != ours {
                let message = format!(
                    "\"{ours}\" contradicts [servers.{server}] {key} = \"{theirs}\"; leave out one of them, or say in \
                     [[groups]] which servers get which scenarios"
                );
                return Err(PlanError::value(format!("{}: [scenarios.{name}] {key}", inputs.suite.file), message));
            }
        }
    }
    Ok(())
}

/// A server with what it is asked in, in a scenario that states this.
pub(super) fn asked(inputs: &Inputs<'_>, server: &CommandServer, of_scenario: &TransportKeys) -> CommandServer {
    let mut keys = server.transport_keys().or(of_scenario.clone()).or(of_run(inputs));
    // What is said of all servers, or of a scenario, is said of those that can follow.
    let is_secure = keys.protocol == Some(HttpVersion::H2)
        || keys.tls.is_some()
        || server.url.as_ref().is_some_and(|url| url.starts_with("https://"));
    let is_http2 = keys.protocol.is_some_and(|protocol| protocol != HttpVersion::Http1);
    keys.streams = keys.streams.filter(|_| is_http2 || server.streams.is_some());
    keys.resumption = keys.resumption.filter(|_| is_secure || server.resumption.is_some());
    server.clone().asked_in(keys)
}

/// What is spoken with a server that is like one of the catalog. Over TLS that has the catalog's certificate, unless
/// the suite names another. Errors: in words, where it does not speak that, or what is stated contradicts itself.
pub(super) fn with_catalog(inputs: &Inputs<'_>, like: &str, server: &CommandServer) -> Result<Transport, String> {
    check_spoken(inputs.inventory.get(like).ok_or("is not known")?, server.protocol)?;
    let of_catalog = |tls: TlsKeys| TlsKeys {
        ca: inputs.inventory.certificate.clone(),
        server_name: Some(CERTIFIED_NAME.to_owned()),
        ..tls
    };
    let speaks_tls = server.protocol == Some(HttpVersion::H2);
    let tls = server.tls.clone().or_else(|| speaks_tls.then(TlsKeys::default));
    let tls = tls.map(|tls| if tls.trusts_as_usual() { of_catalog(tls) } else { tls });
    CommandServer { tls, ..server.clone() }.transport().map_err(|(key, message)| format!("{key} {message}"))
}

/// Where a value of the connections to a server is stated: the flag, or file and key. `None` where nothing states it.
fn place(inputs: &Inputs<'_>, server: &str, group: &Group, key: usize) -> Option<(Source, String)> {
    let (name, file) = (TransportKeys::NAMES[key], &inputs.suite.file);
    let has_key = |keys: TransportKeys| keys.texts()[key].is_some();
    if has_key(of_server(inputs, server)) {
        return Some((Source::Suite, format!("{file}: [servers.{server}] {name}")));
    }
    if let Some(named) = group.scenarios.iter().find(|named| has_key(named.scenario.transport_keys())) {
        return Some((Source::Suite, format!("{file}: [scenarios.{}] {name}", named.name)));
    }
    let origin = inputs.suite.origin_of(name, inputs.flags);
    let source = if origin.starts_with("--") { Source::Flag } else { Source::Suite };
    has_key(of_run(inputs)).then_some((source, origin))
}

fn with_groups(plan: &Plan) -> impl Iterator<Item = (&Group, &Variant, Transport)> {
    plan.groups
        .iter()
        .flat_map(|group| group.variants.iter().map(move |variant| (group, variant, variant.program.transport())))
}

/// As many requests must be under way on every server, however many a connection carries. What is said of all servers must
/// be true of one.
pub(super) fn check(plan: &Plan, inputs: &Inputs<'_>) -> Result<(), PlanError> {
    let of_run = of_run(inputs);
    let wrong = |key, message| Err(PlanError::value(inputs.suite.origin_of(key, inputs.flags), message));
    if of_run.streams.is_some() && !with_groups(plan).any(|(.., transport)| transport.is_http2()) {
        return wrong("streams", "are of HTTP/2, and no server is asked in it; give protocol = \"h2c\" or \"h2\" too");
    }
    if of_run.resumption.is_some() && !with_groups(plan).any(|(.., transport)| transport.tls.is_some()) {
        let message = "is of TLS, and no server is asked over it; give protocol = \"h2\", tls or https:// too";
        return wrong("resumption", message);
    }
    for (group, variant, transport) in with_groups(plan) {
        let streams = transport.protocol.depth();
        if !plan.load.users.is_multiple_of(streams) {
            let place = place(inputs, &variant.server, group, STREAMS).map_or_else(String::new, |(_, place)| place);
            let users = plan.load.users.next_multiple_of(streams);
            let message =
                format!("{streams} on a connection do not divide {} users; write users = {users}", plan.load.users);
            return Err(PlanError::value(place, message));
        }
        // A call of gRPC needs HTTP/2.
        let call = group.scenarios.iter().find(|named| named.scenario.request.grpc.is_some() && !transport.is_http2());
        if let Some(call) = call {
            let message = format!(
                "{} is a gRPC call, and is sent over HTTP/2; write protocol = \"h2c\", or \"h2\" over TLS",
                call.name
            );
            let origin = format!("{}: [servers.{}] protocol", plan.suite_file, variant.server);
            return Err(PlanError::value(origin, message));
        }
    }
    Ok(())
}

/// Lists what is spoken with the variants, and where that is stated.
pub(super) fn list(plan: &mut Plan, inputs: &Inputs<'_>) {
    let variants = with_groups(plan).filter(|(_, variant, _)| variant.role != Role::Control);
    let stated = variants.flat_map(|(group, variant, transport)| {
        let values = transport.keys().texts().into_iter().enumerate();
        values.filter_map(move |(key, value)| {
            let stated = place(inputs, &variant.server, group, key);
            let (source, place) = stated.unwrap_or((Source::Default, String::new()));
            Some(((key, value?, source, place), variant.name.clone()))
        })
    });
    let mut rows = grouped_by(stated);
    rows.sort_by_key(|((key, ..), _)| *key);
    let rows = rows.into_iter().map(|((key, value, source, place), names)| {
        let by = if place.is_empty() { place } else { format!(", by {place}") };
        let meaning = format!("of {}{by}", enumerate(&distinct(names)));
        Setting::new("connections", TransportKeys::NAMES[key], value, source, &meaning)
    });
    let after = plan.settings.iter().take_while(|setting| setting.section == "what").count();
    plan.settings.splice(after..after, rows.collect::<Vec<_>>());
}
