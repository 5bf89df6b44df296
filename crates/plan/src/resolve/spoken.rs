//! What is spoken with servers: what each states, or else what the run asks all of them in.

use super::Inputs;
use crate::inventory::KnownServer;
use crate::plan::{CommandServer, HttpVersion, TlsKeys, Transport};

/// The name in the certificate of the catalog.
const CERTIFIED_NAME: &str = "localhost";

/// Whether a server of the catalog speaks what it is asked in. The error says what it does speak.
pub(super) fn check(known: &KnownServer, asked: Option<HttpVersion>) -> Result<(), String> {
    let Some(asked) = asked.filter(|asked| *asked != HttpVersion::Http1 && !known.protocols.contains(asked)) else {
        return Ok(());
    };
    let spoken: Vec<&str> = known.protocols.iter().map(|one| one.name()).collect();
    let spoken = ["http1"].into_iter().chain(spoken).collect::<Vec<_>>().join(", ");
    let because = known.only_http1.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    Err(format!("\"{asked}\" is not spoken by {}; it speaks {spoken}{because}", known.name))
}

/// What all servers are asked in that do not state it: protocol and streams.
pub(super) fn of_run(inputs: &Inputs<'_>) -> (Option<HttpVersion>, Option<u32>) {
    let (flags, suite) = (inputs.flags, &inputs.suite.run);
    (flags.protocol.or(suite.protocol), flags.streams.or(suite.streams))
}

/// A server with what it is asked in.
pub(super) fn asked(inputs: &Inputs<'_>, server: &CommandServer) -> CommandServer {
    let (protocol, streams) = of_run(inputs);
    let protocol = server.protocol.or(protocol);
    let is_http2 = protocol.is_some_and(|protocol| protocol != HttpVersion::Http1);
    CommandServer { protocol, streams: server.streams.or(streams.filter(|_| is_http2)), ..server.clone() }
}

/// What is spoken with a server that is like one of the catalog. Over TLS that has the catalog's certificate, unless the
/// suite names another.
///
/// # Errors
/// In words, where it does not speak that, or what is stated contradicts itself.
pub(super) fn with_catalog(inputs: &Inputs<'_>, like: &str, server: &CommandServer) -> Result<Transport, String> {
    check(inputs.inventory.get(like).ok_or("is not known")?, server.protocol)?;
    let of_catalog = || TlsKeys {
        ca: inputs.inventory.certificate.clone(),
        server_name: Some(CERTIFIED_NAME.to_owned()),
        ..TlsKeys::default()
    };
    let speaks_tls = server.protocol == Some(HttpVersion::H2);
    let tls = server.tls.clone().or_else(|| speaks_tls.then(of_catalog));
    CommandServer { tls, ..server.clone() }.transport().map_err(|(key, message)| format!("{key} {message}"))
}
