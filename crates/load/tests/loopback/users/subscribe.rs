//! Subscriptions to pushed messages by messages of the user: what is sent when, and what counts.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tare_load::{Body, ErrorClass, Protocol, RequestSpec, SessionSpec};
use tare_sys::clock;
use tare_units::Span;
use tare_wire::ws::{Arrival, Endpoint, Kind, accept_for};

use crate::support::{self, count, crude_server, drive, read_head};

/// Pushes five messages to each user who has introduced itself, waited for the answer, and then subscribed.
fn serve(mut stream: TcpStream, heard: &Mutex<Vec<String>>) {
    let head = String::from_utf8(read_head(&mut stream).unwrap_or_default()).unwrap();
    let Some(key) = head.split("Sec-WebSocket-Key: ").nth(1).and_then(|rest| rest.split("\r\n").next()) else { return };
    let opening = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    write!(stream, "{opening}Sec-WebSocket-Accept: {}\r\n\r\n", accept_for(key.as_bytes())).unwrap();
    let mut end = Endpoint::server();
    let mut is_known = false;
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        let mut bytes = &buffer[..read];
        while let Ok(Some(arrival)) = end.receive(&mut bytes) {
            let Arrival::Message(_, message) = arrival else { continue };
            let message = String::from_utf8(message.to_vec()).unwrap();
            let answers = match message.as_str() {
                "init" => vec!["{\"type\":\"ack\"}".to_owned()],
                _ if is_known => (0..5).map(|_| clock::wall_unix_ns().to_string()).collect(),
                _ => Vec::new(),
            };
            is_known = message == "init";
            heard.lock().unwrap().push(message);
            for answer in answers {
                end.send_message(Kind::Text, answer.as_bytes()).unwrap();
            }
        }
        if stream.write_all(end.outgoing()).is_err() {
            return;
        }
        end.clear_outgoing();
    }
}

#[test]
fn each_subscription_sends_its_messages_in_turn_and_counts_only_what_follows() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let journal = Arc::clone(&heard);
    let address = crude_server(move |stream| serve(stream, &journal));
    let messages = ["init", "subscribe {{counter}}"].map(str::to_owned);
    let request = RequestSpec { body: Body::Messages(messages.into()), ..RequestSpec::get("/graphql") };
    let spec = SessionSpec {
        protocol: Protocol::Push { period: Span::from_millis(100), messages: Some(5) },
        connections: 2,
        ..support::spec(address, vec![request])
    };
    let sample = drive(&spec, &count(6, 2));
    assert_eq!((sample.ok, sample.failed, sample.messages.received), (30, 0, 30), "{:?}", sample.errors);
    assert_eq!((sample.messages.subscriptions, sample.messages.missing, sample.response.len()), (6, 0, 30));
    let mut heard = heard.lock().unwrap().clone();
    heard.sort();
    let subscribed: Vec<String> = (0..6).map(|number| format!("subscribe {number}")).collect();
    assert_eq!(heard, [vec!["init".to_owned(); 6], subscribed].concat());
}

#[test]
fn an_empty_message_is_sent_and_a_silent_server_is_told_by_what_was_sent() {
    for (messages, sent, says) in [
        (&[][..], &[][..], ": if the server pushes only after a subscription, send that with --subscribe"),
        (&["", "x"], &[""], ": the server did not answer a message of --subscribe"),
        (&["x"], &["x"], ": all messages of --subscribe were sent"),
    ] {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let journal = Arc::clone(&heard);
        let address = crude_server(move |stream| serve(stream, &journal));
        let messages = messages.iter().map(|message| (*message).to_owned()).collect();
        let request = RequestSpec { body: Body::Messages(messages), ..RequestSpec::get("/graphql") };
        let spec = SessionSpec {
            protocol: Protocol::Push { period: Span::from_millis(100), messages: Some(5) },
            timeout: Duration::from_millis(100),
            ..support::spec(address, vec![request])
        };
        let sample = drive(&spec, &count(1, 1));
        let silent = sample.errors.for_class(ErrorClass::Timeout);
        let expected = format!("no message until the deadline{says}");
        assert!(silent.count == 1 && silent.example.starts_with(&expected), "{:?}", sample.errors);
        assert_eq!(*heard.lock().unwrap(), sent);
    }
}
