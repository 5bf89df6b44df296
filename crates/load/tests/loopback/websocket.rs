//! WebSockets over real sockets: pushed messages, echoes, and every way in which a server can break.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tare_load::{
    Cancel, Check, ErrorClass, LoadSession, Opening, Protocol, RequestSpec, Schedule, SessionSpec, SliceSpec, StopRule,
    Target, TlsSpec, Watched,
};
use tare_reference::{FaultKind, Options, Running};
use tare_sys::clock;
use tare_units::Span;
use tare_wire::ws::{Arrival, Endpoint, Kind, accept_for};

use crate::certificates::{Authority, Validity};
use crate::support::{self, count, crude_server, drive, read_head};
use crate::tls;

const USERS: usize = 8;
const PERIOD_MS: u64 = 10;

fn spec(target: impl Into<Target>, messages: Option<u64>) -> SessionSpec {
    SessionSpec {
        protocol: Protocol::Push { period: Span::from_millis(PERIOD_MS), messages },
        connections: USERS,
        timeout: Duration::from_secs(2),
        connect_timeout: Duration::from_secs(5),
        ..support::spec(target, vec![RequestSpec::get("/ws/ts")])
    }
}

fn pushing(options: Options) -> Running {
    support::server(Options { push_period_ms: PERIOD_MS, ..options })
}

#[test]
fn every_message_that_is_pushed_is_booked_from_its_stamp() {
    let server = pushing(Options { delay_us: 3000, ..Options::default() });
    let sample = drive(&spec(server.address(), Some(20)), &count(USERS as u64, USERS));
    let messages = &sample.messages;
    assert_eq!((sample.ok, sample.failed, messages.received), (160, 0, 160), "{:?}", sample.errors);
    assert_eq!((messages.subscriptions, messages.missing, messages.ahead, messages.duplicated), (8, 0, 0, 0));
    assert_eq!((sample.response.len(), sample.jitter.len(), messages.stamp_unit_ns), (160, 152, 1));
    // Latencies may exceed the planted delay. They may be shorter only by the possible error of the clocks.
    let median = sample.response.value_at_quantile_ns(0.5).unwrap();
    assert!(median + messages.clock_within_ns >= 2_990_000, "{median} within {}", messages.clock_within_ns);
}

#[test]
fn a_slice_of_some_time_ends_every_subscription_and_the_next_one_begins_anew() {
    let server = pushing(Options::default());
    let mut session = LoadSession::open(&spec(server.address(), None)).unwrap();
    for _ in 0..2 {
        let stop = StopRule::Duration(Duration::from_millis(200));
        let slice = SliceSpec::new(Schedule::Closed, USERS, stop);
        let sample = session.run(&slice, &Cancel::new()).unwrap();
        assert_eq!((sample.failed, sample.connections_opened, sample.messages.subscriptions), (0, 8, 8));
        // At most one for each user and period. A server that is slow to accept a user begins later with it.
        let pushed = sample.ok + sample.messages.missing;
        assert!((8 * 10..=8 * 20).contains(&pushed), "{} arrived, {} missing", sample.ok, sample.messages.missing);
        assert!(sample.messages.missing <= 8, "{} missing", sample.messages.missing);
    }
}

/// Users for whom a server breaks after some time. Each promised message has arrived or is missing.
fn assert_broken(kind: FaultKind, class: ErrorClass, says: &str) {
    // Late enough that the slice has begun.
    let server = pushing(Options { fault: Some(kind), fault_after: 1200, ..Options::default() });
    let sample = drive(&spec(server.address(), Some(1000)), &count(USERS as u64, USERS));
    let tally = sample.errors.for_class(class);
    // On a slow machine a user may meet the fault before that, and be refused on the next attempt.
    assert!(sample.failed == USERS as u64 && tally.count > 0, "{kind:?}: {:?}", sample.errors);
    assert!(tally.example.contains(says), "{kind:?}: {}", tally.example);
    assert_eq!(sample.ok + sample.messages.missing, 8000, "{kind:?}");
}

#[test]
fn every_way_in_which_a_pushing_server_can_break_is_counted_in_its_class() {
    let inside = "closed inside the WebSocket";
    thread::scope(|scope| {
        for (kind, class, says) in [
            (FaultKind::Hang, ErrorClass::Timeout, "no message"),
            (FaultKind::Close, ErrorClass::Read, inside),
            (FaultKind::CloseMidBody, ErrorClass::Read, inside),
            (FaultKind::TruncatedHeaders, ErrorClass::Read, inside),
            (FaultKind::Status500, ErrorClass::Read, "with code 1011"),
            (FaultKind::WrongBody, ErrorClass::Protocol, "not UTF-8"),
            (FaultKind::Garbage, ErrorClass::Protocol, "opcode"),
            (FaultKind::Flood, ErrorClass::Protocol, "more than 16777216 are not taken"),
        ] {
            scope.spawn(move || assert_broken(kind, class, says));
        }
    });
}

#[test]
fn users_who_are_refused_half_way_are_counted_and_the_others_are_served() {
    // Each of the first five is one request to the server. Later ones get another answer.
    for (kind, says) in [(FaultKind::Status500, "status 500 instead of 101"), (FaultKind::Close, "closed")] {
        let options = Options { fault: Some(kind), fault_after: 5, push_period_ms: 60_000, ..Options::default() };
        let slice = SliceSpec {
            drain_timeout: Duration::from_millis(50),
            ..SliceSpec::new(Schedule::Closed, USERS, StopRule::Duration(Duration::from_millis(50)))
        };
        let server = support::server(options);
        let sample = drive(&spec(server.address(), None), &slice);
        let upgrade = sample.errors.for_class(ErrorClass::Upgrade);
        assert_eq!((sample.connections_opened, sample.ok), (5, 0), "{:?}", sample.errors);
        assert!(upgrade.count >= 3 && upgrade.example.contains(says), "{}", upgrade.example);
    }
}

#[test]
fn messages_of_any_length_come_back_in_both_loops() {
    let server = support::server(Options::default());
    for (message, schedule) in [
        ("hello", Schedule::Closed),
        (&*"€".repeat(100_000), Schedule::Closed),
        (&*"x".repeat(126), Schedule::constant(500.0)),
    ] {
        let request = RequestSpec { body: message.as_bytes().into(), ..RequestSpec::get("/ws/echo") };
        let spec = SessionSpec {
            protocol: Protocol::Exchange,
            connections: 4,
            ..support::spec(server.address(), vec![request.expecting(Check::body_is(message.as_bytes()))])
        };
        let slice = SliceSpec { schedule, ..count(40, 4) };
        let mut session = LoadSession::open(&spec).unwrap();
        let sample = support::run(&mut session, &slice);
        assert_eq!((sample.ok, sample.connections_opened), (40, 4), "{:?}", sample.errors);
        assert_eq!((sample.service.len(), sample.messages.received), (40, 0));
    }
}

#[test]
fn requests_that_would_need_several_websockets_are_refused() {
    for requests in [
        vec![RequestSpec::get("/a"), RequestSpec::get("/b")],
        vec![RequestSpec::get("/{{counter}}")],
        vec![RequestSpec::get("/a").header("X", "{{uuid}}")],
    ] {
        let spec =
            SessionSpec { requests: requests.into(), ..spec(SocketAddr::from((Ipv4Addr::LOCALHOST, 1)), Some(1)) };
        let error = LoadSession::open(&spec).err().unwrap().to_string();
        assert!(error.contains("a WebSocket of several paths"), "{error}");
    }
}

/// Opens a WebSocket and pushes messages until the client is gone, each after the client has read the one before. The
/// client's slice begins when all its users are connected, and only messages sent after that count in it.
fn push_in_step(mut stream: impl Read + Write) {
    let Some(head) = read_head(&mut stream) else { return };
    let head = String::from_utf8(head).unwrap();
    let key = head.split("Sec-WebSocket-Key: ").nth(1).unwrap().split("\r\n").next().unwrap();
    let accept = accept_for(key.as_bytes());
    let opening = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    let opened = write!(stream, "{opening}Sec-WebSocket-Accept: {accept}\r\n\r\n");
    assert!(opened.is_ok(), "the client waits for it");
    let mut end = Endpoint::server();
    loop {
        end.send_message(Kind::Text, clock::wall_unix_ns().to_string().as_bytes()).unwrap();
        let pushed = [end.outgoing(), &EMPTY_PING].concat();
        end.clear_outgoing();
        if stream.write_all(&pushed).is_err() || !hears_pong(&mut end, &mut stream) {
            return;
        }
    }
}

const EMPTY_PING: [u8; 2] = [0x89, 0];

/// Waits until the client has answered a ping, and so has read all bytes before it. Returns false if the client is
/// gone.
fn hears_pong(end: &mut Endpoint, stream: &mut impl Read) -> bool {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        match end.receive(&mut &buffer[..count]) {
            Ok(None) => {}
            Ok(Some(arrival)) => return matches!(arrival, Arrival::Pong(_)),
            Err(_) => return false,
        }
    }
    false
}

#[test]
fn a_websocket_is_the_same_over_tls_and_over_a_socket_in_the_file_system() {
    let authority = Authority::new();
    let secured = tls::server(authority.issue("localhost", Validity::Now).server(), push_in_step);
    let tls = Some(TlsSpec { trust: authority.trust(), ..TlsSpec::new("localhost") });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || {
        listener.incoming().flatten().for_each(|stream| drop(thread::spawn(|| push_in_step(stream))))
    });
    for spec in [SessionSpec { tls, ..spec(secured, Some(5)) }, spec(Target::Unix(path), Some(5))] {
        let sample = drive(&spec, &count(USERS as u64, USERS));
        assert_eq!((sample.ok, sample.failed), (5 * USERS as u64, 0), "{:?}", sample.errors);
        assert_eq!(sample.tls_handshakes, if spec.tls.is_some() { USERS as u64 } else { 0 });
    }
}

#[test]
fn who_watches_is_told_how_many_websockets_stand_as_long_as_the_slice_waits_for_them() {
    let gate = Arc::new(Mutex::new(()));
    let mut closed = Some(gate.lock().unwrap());
    let (behind, came) = (Arc::clone(&gate), Arc::new(AtomicUsize::new(0)));
    let address = crude_server(move |stream| {
        if came.fetch_add(1, Ordering::Relaxed) >= 5 {
            drop(behind.lock());
        }
        push_in_step(stream);
    });
    let mut told = Vec::new();
    let mut session = LoadSession::open(&spec(address, Some(5))).unwrap();
    let mut watcher = |watched: Watched<'_>| match watched {
        Watched::Opening(Opening { open, of, .. }) => {
            told.push(Some((open, of)));
            closed = closed.take().filter(|_| open < 5);
        }
        Watched::Begun => told.push(None),
        _ => panic!("nobody asked for intervals"),
    };
    let sample = session.run_watched(&count(USERS as u64, USERS), None, &Cancel::new(), None, &mut watcher).unwrap();
    assert_eq!((sample.ok, sample.failed), (5 * USERS as u64, 0), "{:?}", sample.errors);
    assert!(told.contains(&Some((5, USERS))) && told.last() == Some(&None), "{told:?}");
}
