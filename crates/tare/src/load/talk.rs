//! What is said on a WebSocket, from the flags; and which flags mean nothing there.

use anyhow::bail;
use tare_load::{Body, Check, Conversation, Push, Requests, Stamp, StopRule};
use url::Url;

use crate::args::LoadArgs;

/// How the two ends talk; `None` where the URL is one of HTTP.
///
/// # Errors
/// When a flag has no meaning with this URL, which one, and what to do instead.
pub fn talk(url: &Url, args: &LoadArgs) -> anyhow::Result<Option<Conversation>> {
    let (model, connection, websocket) = (&args.model, &args.connection, &args.websocket);
    if !matches!(url.scheme(), "ws" | "wss") {
        if websocket.echo.is_some() || websocket.messages.is_some() {
            bail!("--echo and --messages are for WebSockets; give a URL that begins with ws:// or wss://");
        }
        return Ok(None);
    }
    for (given, flag, remedy) in [
        (connection.http2, "--http2", "leave it out: a WebSocket is opened in HTTP/1.1"),
        (connection.pipeline > 1, "--pipeline", "use more connections (-c)"),
        (connection.no_keepalive, "--no-keepalive", "use --messages, after which each user hangs up"),
        (args.request.method.is_some(), "-X", "leave it out: a WebSocket is opened by GET"),
    ] {
        if given {
            bail!("{flag} means nothing on a WebSocket; {remedy}");
        }
    }
    let offers = args.request.header.iter().any(|line| line.to_ascii_lowercase().starts_with("sec-websocket-ext"));
    if offers {
        bail!("tare speaks no extensions of WebSocket (permessage-deflate); do not offer any with -H");
    }
    if websocket.echo.is_some() || args.request.has_body() {
        if websocket.messages.is_some() {
            bail!("--messages is for what a server pushes; -n counts the messages that are sent and answered");
        }
        return Ok(Some(Conversation::Exchanges));
    }
    if model.rate.is_some() || !model.stages.is_empty() || !model.user_stages.is_empty() {
        bail!("a server pushes at its own rate; -r and stages need something to send: --echo BYTES or --data TEXT");
    }
    Ok(Some(Conversation::Push(Push {
        messages_per_user: websocket.messages.unwrap_or(u64::MAX),
        period: websocket.period.0,
        stamp: Stamp::Unix,
    })))
}

/// Has the requests send so many bytes of text, and expect them back.
pub fn echo(requests: &mut Requests, bytes: u64) {
    let message = "tare ".bytes().cycle().take(bytes as usize).collect::<Vec<u8>>();
    for request in &mut requests.list {
        request.body = Body::from(&message[..]);
        request.checks.push(Check::body_is(&message[..]));
    }
}

/// Where so many messages are wanted, every user's subscription is one thing to count.
pub fn stop(conversation: Conversation, args: &LoadArgs, otherwise: StopRule) -> StopRule {
    match conversation {
        Conversation::Push(push) if push.messages_per_user < u64::MAX => StopRule::Count {
            requests: args.model.requests.unwrap_or(args.model.connections.into()),
            at_most: args.model.duration.map_or(super::job::LONGEST, |span| span.0),
        },
        _ => otherwise,
    }
}
