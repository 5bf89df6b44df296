//! The protocol of a load, from its URL and flags; and which flags have no meaning on a WebSocket.

use anyhow::bail;
use tare_load::{Body, Check, Requests};
use tare_plan::load_plan::LoadProtocol;
use url::Url;

use crate::args::LoadArgs;

/// What is spoken on each connection.
///
/// # Errors
/// When a flag has no meaning with this URL: which one, and what to do instead.
pub fn load_protocol(url: &Url, args: &LoadArgs) -> anyhow::Result<LoadProtocol> {
    let (model, connection, websocket) = (&args.model, &args.connection, &args.websocket);
    if !matches!(url.scheme(), "ws" | "wss") {
        if websocket.echo.is_some() || websocket.messages.is_some() {
            bail!("--echo and --messages are for WebSockets; give a URL that begins with ws:// or wss://");
        }
        return Ok(match connection.http2 {
            true => LoadProtocol::Http2 { streams: connection.streams.into() },
            false => LoadProtocol::Http1 { pipeline: connection.pipeline.into() },
        });
    }
    for (given, flag, remedy) in [
        (connection.http2, "--http2", "leave it out: a WebSocket is opened over HTTP/1.1"),
        (connection.pipeline > 1, "--pipeline", "use more connections (-c)"),
        (connection.no_keepalive, "--no-keepalive", "use --messages: each user closes its WebSocket after them"),
        (args.request.method.is_some(), "-X", "leave it out: a WebSocket is opened with GET"),
    ] {
        if given {
            bail!("{flag} has no meaning on a WebSocket; {remedy}");
        }
    }
    let offers = args.request.header.iter().any(|line| line.to_ascii_lowercase().starts_with("sec-websocket-ext"));
    if offers {
        bail!("tare supports no WebSocket extensions (permessage-deflate); remove the header from -H");
    }
    if websocket.echo.is_some() || args.request.has_body() {
        if websocket.messages.is_some() {
            bail!("--messages counts pushed messages; use -n to count messages that are sent and answered");
        }
        return Ok(LoadProtocol::Exchange);
    }
    if model.rate.is_some() || !model.stages.is_empty() || !model.user_stages.is_empty() {
        bail!(
            "the server decides when it pushes; -r and stages need something to send: add --echo BYTES or --data TEXT"
        );
    }
    if model.requests.is_some() && websocket.messages.is_none() {
        bail!("-n counts requests, and nothing is sent here; use --messages N for each user, or -d SPAN");
    }
    Ok(LoadProtocol::Push { period: websocket.period, messages: websocket.messages })
}

/// Makes each request send `bytes` bytes of text and expect them back.
pub fn send_echo_messages(requests: &mut Requests, bytes: u64) {
    let message = "tare ".bytes().cycle().take(bytes as usize).collect::<Vec<u8>>();
    for request in &mut requests.list {
        request.body = Body::from(&message[..]);
        request.checks.push(Check::body_is(&message[..]));
    }
}
