//! The reference server as seen by a client: the contract, keep-alive, and the planted behaviour.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::thread;

use tare_reference::{FaultKind, Options, Running, serve_until_stopped};
use tare_sys::clock;

const HEAD_OF_EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

fn head(status: &str, length: usize) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Length: {length}\r\n\r\n")
}

fn ok(body: &str) -> String {
    head("200 OK", body.len()) + body
}

/// Sends these bytes and expects exactly those bytes as the answer.
fn assert_exchange(stream: &mut TcpStream, request: &[u8], expected: &str) {
    stream.write_all(request).unwrap();
    let mut found = vec![0; expected.len()];
    stream.read_exact(&mut found).unwrap();
    assert_eq!(String::from_utf8(found).unwrap(), expected);
}

fn connect(options: Options) -> (Running, TcpStream) {
    let server = Running::start(options, || ()).unwrap();
    let stream = TcpStream::connect(server.address()).unwrap();
    (server, stream)
}

/// The answer to one request to a server with this fault, up to the end of the connection.
fn read_until_end(kind: FaultKind) -> Vec<u8> {
    let (_server, mut stream) = connect(Options { fault: Some(kind), ..Options::default() });
    stream.write_all(b"GET /path0/12345 HTTP/1.1\r\n\r\n").unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    all
}

#[test]
fn the_contract_is_kept_over_one_connection() {
    let (_server, mut stream) = connect(Options::default());
    for _ in 0..3 {
        assert_exchange(&mut stream, b"GET /path0/1 HTTP/1.1\r\nHost: x\r\n\r\n", &ok("1"));
        assert_exchange(&mut stream, b"GET /path127/4 HTTP/1.1\r\nHost: x\r\n\r\n", &ok("131"));
        let post = b"POST /path3 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello";
        assert_exchange(&mut stream, post, &ok("Ok [3], string length = 5"));
        let not_found = head("404 Not Found", 9) + "Not Found";
        assert_exchange(&mut stream, b"GET /path128/4 HTTP/1.1\r\nHost: x\r\n\r\n", &not_found);
    }
}

#[test]
fn five_mebibytes_are_taken() {
    let (_server, mut stream) = connect(Options::default());
    let mut request = b"POST /pathBytes1 HTTP/1.1\r\nContent-Length: 5242880\r\n\r\n".to_vec();
    request.resize(request.len() + 5_242_880, b'x');
    assert_exchange(&mut stream, &request, &ok("Ok [1], bytes length = 5242880"));
}

#[test]
fn pipelined_requests_are_answered_in_order_each_with_its_own() {
    let (_server, mut stream) = connect(Options::default());
    let two = b"GET /path0/1 HTTP/1.1\r\n\r\nGET /path0/2 HTTP/1.1\r\n\r\n";
    for _ in 0..2 {
        assert_exchange(&mut stream, two, &(ok("1") + &ok("2")));
    }
}

#[test]
fn a_body_in_chunks_is_taken() {
    let (_server, mut stream) = connect(Options::default());
    let post = b"POST /path3 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
    for _ in 0..2 {
        assert_exchange(&mut stream, post, &ok("Ok [3], string length = 5"));
    }
}

#[test]
fn answers_are_as_long_as_planted() {
    let (_server, mut stream) = connect(Options { answer_bytes: 3, ..Options::default() });
    assert_exchange(&mut stream, b"GET /path0/1 HTTP/1.1\r\n\r\n", &ok("xxx"));
    assert_exchange(&mut stream, b"POST /path3 HTTP/1.1\r\n\r\n", &ok("Ok [3], string length = 0"));
}

#[test]
fn the_ledger_has_every_answer_with_its_delay() {
    let (server, mut stream) = connect(Options { delay_us: 2_000, keeps_ledger: true, ..Options::default() });
    for _ in 0..3 {
        assert_exchange(&mut stream, b"GET /path0/1 HTTP/1.1\r\n\r\n", &ok("1"));
    }
    let ledger = server.finish().unwrap();
    assert_eq!(ledger.iter().map(|served| served.nth).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(ledger.iter().all(|served| served.answered.since(served.received) >= 2_000_000));
}

#[test]
fn a_connection_is_closed_on_request_and_the_answer_announces_it() {
    let (_server, mut stream) = connect(Options::default());
    stream.write_all(b"GET /path0/1 HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    assert!(all.contains("Connection: close\r\n") && all.ends_with("\r\n\r\n1"), "{all}");
}

#[test]
fn a_client_of_http_1_0_keeps_its_connection_only_if_it_asks() {
    let (_server, mut stream) = connect(Options::default());
    let kept = ok("1").replace("Content-Length", "Connection: keep-alive\r\nContent-Length");
    for _ in 0..2 {
        assert_exchange(&mut stream, b"GET /path0/1 HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", &kept);
    }
    stream.write_all(b"GET /path0/1 HTTP/1.0\r\n\r\n").unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    assert!(all.contains("Connection: close\r\n") && all.ends_with("\r\n\r\n1"), "{all}");
}

#[test]
fn an_answer_never_comes_before_its_planted_delay() {
    let (_server, mut stream) = connect(Options { delay_us: 5_000, ..Options::default() });
    let before = clock::now();
    assert_exchange(&mut stream, b"GET /path0/1 HTTP/1.1\r\n\r\n", &ok("1"));
    assert!(clock::now().since(before) >= 5_000_000);
}

#[test]
fn a_stream_of_events_has_its_planted_times() {
    let options = Options { first_event_ms: 5, event_gap_ms: 2, events: 3, ..Options::default() };
    let (_server, mut stream) = connect(options);
    let before = clock::now();
    assert_exchange(&mut stream, b"GET /events HTTP/1.1\r\n\r\n", HEAD_OF_EVENTS);
    for (number, end, after_ms) in [(0, "", 5), (1, "", 7), (2, "0\r\n\r\n", 9)] {
        assert_exchange(&mut stream, b"", &format!("9\r\ndata: {number}\n\n\r\n{end}"));
        assert!(clock::now().since(before) >= after_ms * 1_000_000);
    }
    assert_exchange(&mut stream, b"GET /path0/1 HTTP/1.1\r\n\r\n", &ok("1"));
}

#[test]
fn a_delayed_stream_of_events_begins_with_its_head() {
    let (_server, mut stream) = connect(Options { delay_us: 1_000, events: 2, ..Options::default() });
    let events = "9\r\ndata: 0\n\n\r\n9\r\ndata: 1\n\n\r\n0\r\n\r\n";
    let expected = format!("{HEAD_OF_EVENTS}{events}");
    assert_exchange(&mut stream, b"GET /events HTTP/1.1\r\n\r\n", &expected);
}

#[test]
fn faults_begin_after_their_number_of_requests() {
    let fault = Some(FaultKind::Status500);
    let (_server, mut stream) = connect(Options { fault, fault_after: 2, ..Options::default() });
    let get = b"GET /path0/1 HTTP/1.1\r\n\r\n";
    assert_exchange(&mut stream, get, &ok("1"));
    assert_exchange(&mut stream, get, &ok("1"));
    assert_exchange(&mut stream, get, &(head("500 Internal Server Error", 7) + "planted"));
}

#[test]
fn broken_answers_are_broken_where_they_should_be() {
    assert!(read_until_end(FaultKind::Close).is_empty());
    assert_eq!(read_until_end(FaultKind::TruncatedHeaders), b"HTTP/1.1 200 OK\r\nContent-Le");
    let cut = String::from_utf8(read_until_end(FaultKind::CloseMidBody)).unwrap();
    assert_eq!(cut, head("200 OK", 6) + "12345");
}

#[test]
fn a_wrong_body_has_the_right_length() {
    let fault = Some(FaultKind::WrongBody);
    let (_server, mut stream) = connect(Options { fault, ..Options::default() });
    assert_exchange(&mut stream, b"GET /path0/1 HTTP/1.1\r\n\r\n", &ok("0"));
}

#[test]
fn readiness_is_announced_truly_falsely_or_not_at_all() {
    let announced = |options: Options| {
        let (stop, (announce, heard)) = (AtomicBool::new(true), channel());
        thread::spawn(move || serve_until_stopped(&options, &stop, |address| announce.send(address.port()).unwrap()))
            .join()
            .unwrap()
            .unwrap();
        heard.try_recv().ok()
    };
    assert!(announced(Options::default()).is_some_and(|port| port > 1));
    assert_eq!(announced(Options { lie_ready: true, ..Options::default() }), Some(1));
    assert_eq!(announced(Options { never_ready: true, ..Options::default() }), None);
}

#[test]
fn a_port_in_use_is_refused_with_its_number() {
    let (server, _stream) = connect(Options::default());
    let port = server.address().port();
    let error = Running::start(Options { port, ..Options::default() }, || ()).unwrap_err();
    assert!(error.to_string().contains(&port.to_string()), "{error}");
}
