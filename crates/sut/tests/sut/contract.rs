//! The verifier against servers that misbehave, each a thread with a fixed behaviour.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use tare_plan::contract::{Contract, Expect};
use tare_sut::contract::{CheckOutcome, header_differences, verify_exchanges};

use crate::server::kept_address;

const CONTRACT: &[[&str; 3]] =
    &[["first", r#"path = "/1""#, r#"body = "16""#], ["second", r#"path = "/2""#, r#"body = "16""#]];

/// A contract of checks: the name of each, and what its request and the expected answer say in TOML.
pub fn contract_of(checks: &[[&str; 3]]) -> Contract {
    let mut text = "schema = 1\n".to_owned();
    for [name, request, expect] in checks {
        write!(text, "[[checks]]\nname = \"{name}\"\nrequest = {{ {request} }}\nexpect = {{ {expect} }}\n").unwrap();
    }
    Contract::parse("contract.toml", &text).unwrap()
}

/// Serves each connection with `serve` until the client is gone.
fn server(serve: impl Fn(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || listener.incoming().flatten().for_each(serve));
    address
}

fn outcomes(serve: fn(TcpStream)) -> Vec<CheckOutcome> {
    let contract = contract_of(CONTRACT);
    verify_exchanges(server(serve), contract.exchanges("x", 1), Duration::from_millis(300))
}

fn differences(serve: fn(TcpStream)) -> Vec<String> {
    outcomes(serve).into_iter().map(|outcome| outcome.difference.unwrap_or_else(|| "passed".into())).collect()
}

/// Reads a request (none has a body); false at the end of the connection.
fn skip_request(stream: &mut impl Read) -> bool {
    read_request(stream).is_some()
}

fn read_request(stream: &mut impl Read) -> Option<String> {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => seen.push(byte[0]),
            _ => return None,
        }
    }
    String::from_utf8(seen).ok()
}

fn send_answer(stream: &mut impl Write, answer: &str) {
    let _client_gone = stream.write_all(answer.as_bytes());
}

const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nServer: a\r\n\r\n16";

#[test]
fn answers_as_expected_pass_on_one_connection() {
    let all = outcomes(|mut stream| {
        while skip_request(&mut stream) {
            send_answer(&mut stream, GOOD);
        }
    });
    assert!(all.len() == 2 && all.iter().all(|outcome| outcome.passed && outcome.difference.is_none()), "{all:?}");
}

#[test]
fn a_wrong_status_and_a_wrong_body_are_described_exactly() {
    let found = differences(|mut stream| {
        skip_request(&mut stream);
        send_answer(&mut stream, "HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\nboom");
        skip_request(&mut stream);
        send_answer(&mut stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n1\r\n7\r\n0\r\n\r\n");
    });
    assert_eq!(found[0], "status: expected 200, got 500 with the body \"boom\"");
    assert_eq!(found[1], "body: expected 2 bytes \"16\", got 2 bytes \"17\" (differs at byte 1)");
}

#[test]
fn closing_after_each_answer_is_a_difference_announced_or_not() {
    let said = differences(|mut stream| {
        skip_request(&mut stream);
        send_answer(&mut stream, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n16");
    });
    assert_eq!(said[0], "connection closed without keep-alive (connection: close)");
    let silent = differences(|mut stream| {
        skip_request(&mut stream);
        send_answer(&mut stream, GOOD);
    });
    assert_eq!(silent[0], "passed");
    assert!(silent[1].starts_with("connection closed without keep-alive"), "{silent:?}");
}

#[test]
fn garbage_silence_and_half_answers_are_different_failures() {
    let garbage = differences(|mut stream| {
        skip_request(&mut stream);
        send_answer(&mut stream, "SSH-2.0-OpenSSH\r\n\r\n");
    });
    assert!(garbage[0].starts_with("not an HTTP/1.1 answer"), "{garbage:?}");
    let silence = differences(|mut stream| while skip_request(&mut stream) {});
    assert_eq!(silence[0], "no whole answer within 0.3s");
    let half = differences(|mut stream| {
        skip_request(&mut stream);
        send_answer(&mut stream, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n16");
    });
    assert!(half[0].starts_with("not an HTTP/1.1 answer"), "{half:?}");
    let excess = differences(|mut stream| {
        skip_request(&mut stream);
        send_answer(&mut stream, &format!("{GOOD}and more"));
    });
    assert_eq!(excess[0], "more bytes than the answer announced follow it (8 of them)");
}

#[test]
fn a_refused_connection_is_a_difference() {
    let (_keeper, address) = kept_address();
    let contract = contract_of(CONTRACT);
    let outcomes = verify_exchanges(address, contract.exchanges("x", 1), Duration::from_secs(1));
    assert!(outcomes[0].difference.as_ref().unwrap().starts_with("cannot connect"), "{outcomes:?}");
}

#[test]
fn headers_that_differ_between_two_servers_are_found() {
    let ours = outcomes(|mut stream| {
        while skip_request(&mut stream) {
            send_answer(&mut stream, GOOD);
        }
    });
    let theirs = outcomes(|mut stream| {
        while skip_request(&mut stream) {
            send_answer(&mut stream, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nDate: today\r\n\r\n16");
        }
    });
    assert!(header_differences(&ours, &ours).is_empty());
    let found: Vec<String> = header_differences(&ours, &theirs).iter().map(ToString::to_string).collect();
    assert_eq!(found, ["header server: \"a\" against none (in first, second)"]);
}

const OPEN: &str = r#"
schema = 1
[scenarios.Home]
request = { path = "/" }
expect = { status = 200 }
"#;

/// Answers every request of every connection with its number, from 1 on.
fn counting(mut stream: TcpStream) {
    for number in 1..=9 {
        if !skip_request(&mut stream) {
            return;
        }
        send_answer(&mut stream, &format!("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nid {number}"));
    }
}

#[test]
fn a_server_whose_answers_change_is_recognised_and_what_may_differ_is_not_compared() {
    let outcome = |text: &str| {
        let contract = Contract::parse("contract.toml", text).unwrap();
        verify_exchanges(server(counting), contract.exchanges("x", 1), Duration::from_secs(5)).swap_remove(0)
    };
    let says = outcome(OPEN).difference.unwrap();
    assert!(says.starts_with("two answers of this server differ, body: expected 4 bytes \"id 1\", got"), "{says}");
    assert!(says.ends_with("write in [scenarios.Home]: may_differ = [\"body\"]"), "{says}");
    let allowed = outcome(&format!("{OPEN}may_differ = [\"body\"]\n"));
    let mut expect = Expect::default();
    allowed.answer.unwrap().add_to(&mut expect);
    assert!(allowed.passed && expect.body.is_none());
    let stated = outcome(&OPEN.replace("200", "200, body = \"id 1\""));
    assert!(stated.passed && !stated.answer.unwrap().is_compared(), "it is asked once, and the contract decides");
}

#[test]
fn two_servers_without_a_stated_body_are_compared_with_each_other() {
    let contract = Contract::parse("contract.toml", OPEN).unwrap();
    let asked = |serve: fn(TcpStream)| {
        verify_exchanges(server(serve), contract.exchanges("x", 1), Duration::from_secs(5)).swap_remove(0)
    };
    let good = asked(|mut stream| {
        while skip_request(&mut stream) {
            send_answer(&mut stream, GOOD)
        }
    });
    let mut other = asked(|mut stream| {
        while skip_request(&mut stream) {
            send_answer(&mut stream, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/html\r\n\r\n17");
        }
    });
    assert!(good.passed && other.passed);
    other.compare_with("bare", good.answer.as_ref().unwrap());
    let says = other.difference.unwrap();
    assert!(!other.passed && says.contains("header content-type: expected none, got \"text/html\"; body: expected "));
}

/// Reads one byte of each request. The first `silent` connections are reset, which destroys their answer.
fn refuser(silent: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (nth, mut stream) in listener.incoming().flatten().enumerate() {
            stream.read_exact(&mut [0]).unwrap();
            if nth >= silent {
                send_answer(&mut stream, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
                // Unread bytes would reset the connection when it closes.
                std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
            }
        }
    });
    address
}

#[test]
fn a_request_is_repeated_after_a_reset_and_a_server_that_only_resets_fails() {
    const LIMIT: [&str; 3] = [
        "a body over the limit is refused",
        r#"method = "POST", path = "/", body = { seed = 7, bytes = 8_388_608, alphabet = "binary" }"#,
        "status = 413",
    ];
    let contract = contract_of(&[LIMIT]);
    let difference = |silent| {
        let outcomes = verify_exchanges(refuser(silent), contract.exchanges("x", 1), Duration::from_secs(5));
        outcomes[0].difference.clone()
    };
    assert_eq!(difference(2), None);
    let reset = difference(3).unwrap();
    assert!(reset.starts_with("connection failed while the request was sent"), "{reset}");
}

pub const PUSHING: &str = r#"
schema = 1
[scenarios.Push]
request = { path = "/ws/ts" }
expect = { status = 101 }
push = { period = "100ms", messages = 600 }
"#;

pub const STREAMING: &str = r#"
schema = 1
[scenarios.Events]
request = { path = "/events" }
expect = { headers = { content-type = "text/event-stream" } }
push = { period = "10ms", messages = 5 }
"#;

/// The difference when a server answers the request of a stream by these bytes, and then says nothing.
fn stream_difference(answer: &'static str, closes: bool) -> String {
    let contract = Contract::parse("contract.toml", STREAMING).unwrap();
    let address = match closes {
        true => server(move |mut stream| {
            skip_request(&mut stream);
            send_answer(&mut stream, answer);
        }),
        false => server(move |mut stream| {
            skip_request(&mut stream);
            send_answer(&mut stream, answer);
            let _ = stream.read_to_end(&mut Vec::new());
        }),
    };
    let outcomes = verify_exchanges(address, contract.exchanges("x", 1), Duration::from_millis(300));
    outcomes[0].difference.clone().unwrap_or_else(|| "passed".into())
}

#[test]
fn the_begin_of_a_stream_of_events_is_read() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    for (answer, closes, expected) in [
        (format!("{HEAD}data: 1\n\ndata: 2\n\ndata: 3\n\n"), false, "passed"),
        (format!("{HEAD}data: 1\n\n: no event\n\n"), false, "within 0.3s came 1 of 3 events"),
        (format!("{HEAD}data: 1\n\n"), true, "the stream ended after 1 of 3 events"),
        ("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n".to_owned(), false, "status: expected 200, got 503"),
        (HEAD.replace("event-stream", "html"), false, "header content-type: expected \"text/event-stream\", got"),
    ] {
        let found = stream_difference(answer.leak(), closes);
        assert!(found.starts_with(expected), "{found}, not {expected}");
    }
}

#[test]
fn events_that_come_less_often_than_answers_may_take_are_waited_for() {
    let address = server(|mut stream| {
        skip_request(&mut stream);
        send_answer(&mut stream, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        for event in ["data: 1\n\n", "data: 2\n\n", "data: 3\n\n"] {
            std::thread::sleep(Duration::from_millis(100));
            send_answer(&mut stream, event);
        }
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let contract = Contract::parse("contract.toml", &STREAMING.replace("10ms", "150ms")).unwrap();
    let outcomes = verify_exchanges(address, contract.exchanges("x", 1), Duration::from_millis(100));
    assert_eq!(outcomes[0].difference, None);
}

/// Opens the WebSocket that a client requests.
pub fn upgrade(stream: &mut (impl Read + Write), accept: fn(&[u8]) -> String) {
    let request = read_request(stream).unwrap();
    let key = request.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap();
    let accept = accept(key.as_bytes());
    send_answer(
        stream,
        &format!(
            "HTTP/1.1 101 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        ),
    );
}

/// Pushes these texts after a ping.
pub fn push(stream: &mut (impl Read + Write), texts: &[String]) {
    let frames = [vec![0x89, 0]].into_iter().chain(texts.iter().map(|text| {
        let mut frame = vec![0x81, text.len() as u8];
        frame.extend_from_slice(text.as_bytes());
        frame
    }));
    let _client_gone = stream.write_all(&frames.flatten().collect::<Vec<u8>>());
    // Keeps the connection until the client is gone.
    let _ = stream.read_to_end(&mut Vec::new());
}

pub fn stamp(before_ms: u64) -> String {
    (tare_sys::clock::wall_unix_ns() / 1_000_000 - before_ms).to_string()
}

#[test]
fn pushed_messages_are_checked_against_the_contract() {
    type Serve = fn(TcpStream);
    let cases: [(Serve, &str); 6] = [
        (
            |mut s| {
                upgrade(&mut s, tare_wire::ws::accept_for);
                push(&mut s, &[stamp(200), stamp(100), stamp(0)])
            },
            "passed",
        ),
        (
            |mut s| {
                upgrade(&mut s, |_| "none".into());
                push(&mut s, &[])
            },
            "Sec-WebSocket-Accept does not follow",
        ),
        (
            |mut s| {
                skip_request(&mut s);
                send_answer(&mut s, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
            },
            "status 404 instead of 101",
        ),
        (
            |mut s| {
                upgrade(&mut s, tare_wire::ws::accept_for);
                push(&mut s, &["now".into()])
            },
            "message 1 is \"now\"",
        ),
        (
            |mut s| {
                upgrade(&mut s, tare_wire::ws::accept_for);
                push(&mut s, &[stamp(0), stamp(100)])
            },
            "message 2 says it was sent",
        ),
        (
            |mut s| {
                upgrade(&mut s, tare_wire::ws::accept_for);
                push(&mut s, &[stamp(0)])
            },
            "within 0.4s came 1 of 3 messages",
        ),
    ];
    let contract = Contract::parse("contract.toml", PUSHING).unwrap();
    for (serve, expected) in cases {
        let outcome =
            verify_exchanges(server(serve), contract.exchanges("x", 1), Duration::from_millis(300)).swap_remove(0);
        let found = outcome.difference.unwrap_or_else(|| "passed".into());
        assert!(found.contains(expected), "{found}, not {expected}");
    }
}
