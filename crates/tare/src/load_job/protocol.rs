//! The protocol of a load, from its URL and flags; and which flags have no meaning on a WebSocket or in gRPC.

use tare_load::{Body, Check, Requests};
use tare_plan::ServerClock;
use tare_plan::load_plan::Protocol;

use super::body::text_or_file;
use super::files::InputFiles;
use super::is_open_loop;
use super::place::LoadTarget;
use super::request::is_header;
use crate::args::LoadArgs;
use crate::failure::wrong_usage;

/// The forms of other tools have no words for what a server sends by itself.
pub const WITHOUT_REQUESTS: &str = "--wrk and --gatling count requests, and this load counts events or pushed messages; \
                                    use --json or --csv";

/// What is spoken on each connection. A flag that has no meaning with this URL is refused.
pub fn load_protocol(target: &LoadTarget, args: &LoadArgs) -> anyhow::Result<Protocol> {
    let protocol = wanted_protocol(target, args)?;
    if args.output.wrk && matches!(protocol, Protocol::Push { .. } | Protocol::Events { .. }) {
        return Err(wrong_usage(WITHOUT_REQUESTS));
    }
    if !matches!(protocol, Protocol::Push { .. }) {
        const REMEDY: &str = "leave it out, or give a ws:// or wss:// URL without --echo and without a body";
        let flags = [
            (!args.websocket.has_usual_period(), "--period", REMEDY),
            (args.websocket.server_clock != ServerClock::default(), "--server-clock", REMEDY),
        ];
        refuse("where the server pushes no messages", &flags)?;
    }
    Ok(protocol)
}

fn wanted_protocol(target: &LoadTarget, args: &LoadArgs) -> anyhow::Result<Protocol> {
    let (model, connection, websocket) = (&args.model, &args.connection, &args.websocket);
    if connection.streams > 1 && !connection.http2 && !target.is_grpc {
        return Err(wrong_usage("--streams is for HTTP/2; add --http2, or use more connections (-c)"));
    }
    let is_websocket = matches!(target.url.scheme(), "ws" | "wss");
    if args.request.follow.is_some() && (is_websocket || websocket.event_stream) {
        return Err(wrong_usage("--follow is for requests over HTTP; give the URL to which a redirect leads"));
    }
    if !websocket.subscribe.is_empty() && !is_websocket {
        return Err(wrong_usage("--subscribe is for WebSockets; give a URL that begins with ws:// or wss://"));
    }
    if target.is_grpc {
        check_call(args)?;
    } else if args.request.protoset.is_some() {
        return Err(wrong_usage("--protoset is for calls of gRPC; give a URL that begins with grpc:// or grpcs://"));
    }
    if !is_websocket {
        if websocket.event_stream {
            return events(args);
        }
        if websocket.echo.is_some() || websocket.messages.is_some() {
            return Err(wrong_usage(
                "--echo and --messages are for WebSockets, and --messages for --event-stream; give a URL that begins with ws:// or \
                 wss://, or add --event-stream",
            ));
        }
        return Ok(match connection.http2 || target.is_grpc {
            true => Protocol::Http2 { streams: connection.streams.into() },
            false => Protocol::Http1 { pipeline: connection.pipeline.into() },
        });
    }
    if websocket.event_stream {
        return Err(wrong_usage("--event-stream is for http:// and https://; leave it out, or correct the URL"));
    }
    let flags = [
        (connection.http2, "--http2", "leave it out: a WebSocket is opened over HTTP/1.1"),
        (connection.pipeline > 1, "--pipeline", "use more connections (-c)"),
        (connection.no_keepalive, "--no-keepalive", "use --messages: each user closes its WebSocket after them"),
        (args.request.method.is_some(), "-X", "leave it out: a WebSocket is opened with GET"),
    ];
    refuse("on a WebSocket", &flags)?;
    let is_given = |name: &str| args.request.header.iter().any(|line| is_header(line, name));
    if is_given("Sec-WebSocket-Extensions") {
        return Err(wrong_usage(
            "tare supports no WebSocket extensions (permessage-deflate); remove the header from -H",
        ));
    }
    if let Some(name) = ["Content-Length", "Transfer-Encoding"].into_iter().find(|name| is_given(name)) {
        return Err(wrong_usage(format!(
            "{name} has no meaning on a WebSocket, whose messages have a length; remove it from -H"
        )));
    }
    if websocket.echo.is_some() || args.request.has_body() {
        if websocket.messages.is_some() {
            return Err(wrong_usage(
                "--messages counts pushed messages; use -n to count messages that are sent and answered, or --subscribe TEXT \
                 to send one once and then receive",
            ));
        }
        return Ok(Protocol::Exchange);
    }
    if is_open_loop(model) || !model.user_stages.is_empty() {
        return Err(wrong_usage(
            "the server decides when it pushes; -r and stages need something to send: add --echo BYTES or --data TEXT",
        ));
    }
    if !args.request.check.is_empty() {
        return Err(wrong_usage(
            "--check is about responses, and pushed messages are none; leave it out, or send something with --data TEXT",
        ));
    }
    if model.requests.is_some() && websocket.messages.is_none() {
        return Err(wrong_usage(
            "-n counts requests, and nothing is sent here; use --messages N for each user, or -d SPAN",
        ));
    }
    Ok(Protocol::Push { period: websocket.period, messages: websocket.messages })
}

fn events(args: &LoadArgs) -> anyhow::Result<Protocol> {
    let (model, connection) = (&args.model, &args.connection);
    let flags = [
        (connection.pipeline > 1, "--pipeline", "use more connections (-c)"),
        (is_open_loop(model), "-r and --stages", "use -c: each user requests one stream after another"),
        (args.websocket.echo.is_some(), "--echo", "leave it out"),
    ];
    refuse("with --event-stream", &flags)?;
    let streams = connection.http2.then_some(connection.streams.into());
    Ok(Protocol::Events { messages: args.websocket.messages, streams })
}

fn check_call(args: &LoadArgs) -> anyhow::Result<()> {
    let (connection, request) = (&args.connection, &args.request);
    let flags = [
        (connection.pipeline > 1, "--pipeline", "use --streams"),
        (connection.no_keepalive, "--no-keepalive", "leave it out: HTTP/2 keeps connections open"),
        (request.method.is_some(), "-X", "leave it out: a call is a POST"),
        (request.data.is_some(), "--data", "give the message with --data-json, --data-hex or -D"),
        (!request.form.is_empty(), "--form", "give the message with --data-json, --data-hex or -D"),
        (request.follow.is_some(), "--follow", "leave it out: a call is answered where it is made"),
        (args.websocket.event_stream, "--event-stream", "leave it out: tare makes unary calls"),
        (!request.feed.is_empty(), "--feed", "leave it out: a message has no variables"),
        (request.data_json.is_some() && request.protoset.is_none(), "--data-json without --protoset", "add the file"),
    ];
    refuse("in a call of gRPC", &flags)
}

/// Refuses the first of these flags that is given, with what to do instead.
fn refuse(place: &str, flags: &[(bool, &str, &str)]) -> anyhow::Result<()> {
    let given = flags.iter().find(|(is_given, ..)| *is_given);
    given.map_or(Ok(()), |(_, flag, remedy)| Err(wrong_usage(format!("{flag} has no meaning {place}; {remedy}"))))
}

pub fn send_subscriptions(requests: &mut Requests, texts: &[String], files: &InputFiles) -> anyhow::Result<()> {
    if texts.is_empty() {
        return Ok(());
    }
    let messages: Vec<String> = texts.iter().map(|text| text_or_file(text, files)).collect::<Result<_, _>>()?;
    for request in &mut requests.list {
        request.body = Body::Messages(messages.clone());
    }
    Ok(())
}

/// Makes each request send `bytes` bytes of text and expect them back.
pub fn send_echo_messages(requests: &mut Requests, bytes: u64) {
    let message = "tare ".bytes().cycle().take(bytes as usize).collect::<Vec<u8>>();
    for request in &mut requests.list {
        request.body = Body::from(&message[..]);
        request.checks.push(Check::body_is(&message[..]));
    }
}
