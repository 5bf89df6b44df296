//! What the load loop relies on in its poller.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType};
use tare_sys::clock::{self, Nanos};
use tare_sys::poll::{CloseCause, Event, Handler, Payload, Poller, Sending, Token, Transport};
use tare_sys::readiness::ReadinessPoller;
use tare_sys::socket::{SocketOptions, Target};

/// Records its events, and answers the first bytes of a connection if asked to.
#[derive(Default)]
struct EventLog {
    connected: Vec<Token>,
    received: Vec<u8>,
    sent: usize,
    closed: Vec<(Token, String)>,
    reply_at_once: Option<Payload>,
    close_at_once: bool,
    /// Closed when the first connection ends.
    closes_too: Option<Token>,
}

impl<T: Transport> Handler<T> for EventLog {
    fn on_event(&mut self, transport: &mut T, token: Token, event: Event<'_>) {
        match event {
            Event::Connected { .. } => self.connected.push(token),
            Event::Received { bytes, .. } => {
                self.received.extend_from_slice(bytes);
                if let Some(reply) = self.reply_at_once.take() {
                    transport.send(token, &reply);
                }
                if self.close_at_once {
                    transport.close(token);
                }
            }
            Event::Sent { .. } => self.sent += 1,
            Event::Closed { cause, .. } => {
                self.closed.push((token, kind(&cause).to_owned()));
                if let Some(other) = self.closes_too.take() {
                    transport.close(other);
                }
            }
            _ => {}
        }
    }
}

fn kind(cause: &CloseCause) -> &'static str {
    match cause {
        CloseCause::EndOfStream => "end",
        CloseCause::ConnectFailed(_) => "connect",
        CloseCause::ReadFailed(_) => "read",
        CloseCause::WriteFailed(_) => "write",
        _ => "other",
    }
}

const ONE: Token = Token(1);

fn begin() -> (ReadinessPoller, EventLog) {
    (ReadinessPoller::new().unwrap(), EventLog::default())
}

/// Waits until the condition holds. The number of waits is limited, for a poller that never fulfils it.
fn wait_until(poller: &mut ReadinessPoller, log: &mut EventLog, condition: impl Fn(&EventLog) -> bool) {
    let deadline = clock::now() + Duration::from_secs(20);
    while !condition(log) {
        assert!(clock::now() < deadline, "it never happened");
        poller.wait(Some(clock::now() + Duration::from_millis(50)), log).unwrap();
    }
}

fn connect_and_accept(poller: &mut ReadinessPoller, log: &mut EventLog) -> TcpStream {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    poller.transport().connect(ONE, &listener.local_addr().unwrap().into(), &SocketOptions::default());
    let before = log.connected.len();
    wait_until(poller, log, |log| log.connected.len() > before);
    listener.accept().unwrap().0
}

#[test]
fn polling_without_waiting_delivers_every_event() {
    let (mut poller, mut log) = begin();
    let mut peer = connect_and_accept(&mut poller, &mut log);
    for round in 1..=100 {
        assert_eq!(poller.transport().send(ONE, &Payload::from(*b"ping")), Sending::Accepted);
        let deadline = clock::now() + Duration::from_secs(20);
        poller.wait(Some(Nanos::ZERO), &mut log).unwrap();
        peer.read_exact(&mut [0; 4]).unwrap();
        peer.write_all(b"pong").unwrap();
        while log.received.len() < 4 * round {
            assert!(clock::now() < deadline, "it never came");
            poller.wait(Some(Nanos::ZERO), &mut log).unwrap();
        }
    }
}

#[test]
fn bytes_go_both_ways() {
    let (mut poller, mut log) = begin();
    let mut peer = connect_and_accept(&mut poller, &mut log);
    assert_eq!(poller.transport().send(ONE, &Payload::from(*b"ping")), Sending::Accepted);
    poller.wait(Some(Nanos::ZERO), &mut log).unwrap();
    let mut ping = [0; 4];
    peer.read_exact(&mut ping).unwrap();
    peer.write_all(b"pong").unwrap();
    wait_until(&mut poller, &mut log, |log| log.received == b"pong");
    assert_eq!((&ping, log.closed.len()), (b"ping", 0));
}

#[test]
fn a_handler_may_reply_while_it_is_called() {
    let mut poller = ReadinessPoller::new().unwrap();
    let mut log = EventLog { reply_at_once: Some(Payload::from(*b"reply")), ..EventLog::default() };
    let mut peer = connect_and_accept(&mut poller, &mut log);
    peer.write_all(b"x").unwrap();
    wait_until(&mut poller, &mut log, |log| log.reply_at_once.is_none());
    poller.wait(Some(Nanos::ZERO), &mut log).unwrap();
    let mut reply = [0; 5];
    peer.read_exact(&mut reply).unwrap();
    assert_eq!(&reply, b"reply");
}

#[test]
fn sends_of_one_turn_arrive_in_order() {
    let (mut poller, mut log) = begin();
    let mut peer = connect_and_accept(&mut poller, &mut log);
    let parts = [vec![b'a'; 10], vec![b'b'; 20], vec![b'c'; 100_000], vec![b'd'; 30], vec![b'e'; 20_000]];
    for part in &parts {
        poller.transport().send(ONE, &Payload::from(part.clone()));
    }
    let mut all = vec![0; parts.iter().map(Vec::len).sum()];
    let reader = thread::spawn(move || peer.read_exact(&mut all).map(|()| all).unwrap());
    wait_until_finished(&mut poller, &mut log, &reader);
    assert!(reader.join().unwrap() == parts.concat());
}

#[test]
fn bytes_that_are_used_once_keep_their_place_among_payloads() {
    let (mut poller, mut log) = begin();
    let mut peer = connect_and_accept(&mut poller, &mut log);
    let parts: Vec<Vec<u8>> = [10, 20, 0, 16_384, 30, 2_000_000, 40, 20_000, 50]
        .iter()
        .zip(b'a'..)
        .map(|(length, byte)| vec![byte; *length])
        .collect();
    let copies: Vec<bool> = (0..2 * parts.len()).map(|index| index % 2 == 0).collect();
    let expected = [parts.concat(), parts.concat()].concat();
    for (part, is_copied) in parts.iter().chain(&parts).zip(copies) {
        if is_copied {
            poller.transport().send_bytes(ONE, part);
        } else {
            poller.transport().send(ONE, &Payload::from(part.clone()));
        }
        if part.len() == 30 {
            poller.wait(Some(Nanos::ZERO), &mut log).unwrap();
        }
    }
    let mut all = vec![0; expected.len()];
    let reader = thread::spawn(move || peer.read_exact(&mut all).map(|()| all).unwrap());
    wait_until_finished(&mut poller, &mut log, &reader);
    assert!(reader.join().unwrap() == expected);
}

#[test]
fn small_sends_that_nobody_reads_are_kept() {
    let (mut poller, mut log) = begin();
    let mut peer = connect_and_accept(&mut poller, &mut log);
    let message = |index: u32| -> Vec<u8> { (0..1500).map(|at| ((index + at) % 251) as u8).collect() };
    // More than both sockets hold, one payload after another, so that a send is incomplete.
    let count = 8000;
    for index in 0..count {
        poller.transport().send(ONE, &Payload::from(message(index)));
        poller.wait(Some(Nanos::ZERO), &mut log).unwrap();
    }
    let reader = thread::spawn(move || {
        let mut read = vec![0; 1500 * count as usize];
        peer.read_exact(&mut read).unwrap();
        assert!(read.chunks(1500).zip(0..).all(|(chunk, index)| chunk == message(index)));
        peer
    });
    wait_until_finished(&mut poller, &mut log, &reader);
    reader.join().unwrap();
    assert_eq!(log.closed, []);
}

/// Keeps the poller running while another thread works.
fn wait_until_finished<T>(poller: &mut ReadinessPoller, log: &mut EventLog, other: &thread::JoinHandle<T>) {
    while !other.is_finished() {
        poller.wait(Some(clock::now() + Duration::from_millis(1)), log).unwrap();
    }
}

#[test]
fn what_was_accepted_leaves_before_a_close() {
    let (mut poller, mut log) = begin();
    let mut peer = connect_and_accept(&mut poller, &mut log);
    poller.transport().send(ONE, &Payload::from(*b"last words"));
    poller.transport().close(ONE);
    poller.wait(Some(Nanos::ZERO), &mut log).unwrap();
    let mut read = Vec::new();
    peer.read_to_end(&mut read).unwrap();
    assert_eq!((&read[..], log.closed), (&b"last words"[..], vec![]));
}

#[test]
fn many_answers_at_once_all_arrive() {
    let (mut poller, mut log) = begin();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let target = listener.local_addr().unwrap().into();
    // More than any poller has buffers for.
    let mut peers: Vec<TcpStream> = Vec::new();
    for index in 0..400 {
        poller.transport().connect(Token(index), &target, &SocketOptions::default());
        wait_until(&mut poller, &mut log, |log| log.connected.len() > index as usize);
        peers.push(listener.accept().unwrap().0);
    }
    for peer in &mut peers {
        peer.write_all(&[b'x'; 40_000]).unwrap();
    }
    drop(peers);
    wait_until(&mut poller, &mut log, |log| log.closed.len() == 400);
    assert_eq!(log.received.len(), 400 * 40_000);
    assert!(log.closed.iter().all(|(_, cause)| cause == "end"));
}

#[test]
fn large_sends_arrive_whole_and_in_order() {
    let (mut poller, mut log) = begin();
    let mut peer = connect_and_accept(&mut poller, &mut log);
    let large = Payload::from((0..12_000_000_u32).map(|index| (index % 251) as u8).collect::<Vec<_>>());
    assert_eq!(poller.transport().send(ONE, &large), Sending::Pending);
    poller.transport().send(ONE, &Payload::from(*b"the end"));
    let expected = [&large[..], b"the end"].concat();
    let reader = thread::spawn(move || {
        let mut all = vec![0; expected.len()];
        peer.read_exact(&mut all).unwrap();
        assert!(all == expected);
        peer
    });
    wait_until(&mut poller, &mut log, |log| log.sent == 1);
    reader.join().unwrap();
}

#[test]
fn large_answers_arrive_whole() {
    let (mut poller, mut log) = begin();
    let mut peer = connect_and_accept(&mut poller, &mut log);
    let large: Vec<u8> = (0..12_000_000_u32).map(|index| (index % 241) as u8).collect();
    let expected = large.clone();
    let writer = thread::spawn(move || peer.write_all(&large).unwrap());
    wait_until(&mut poller, &mut log, |log| !log.closed.is_empty());
    writer.join().unwrap();
    assert!(log.received == expected);
    assert_eq!(log.closed, [(ONE, "end".to_owned())]);
}

#[test]
fn the_last_bytes_come_before_the_end() {
    let (mut poller, mut log) = begin();
    let mut peer = connect_and_accept(&mut poller, &mut log);
    peer.write_all(b"goodbye").unwrap();
    drop(peer);
    wait_until(&mut poller, &mut log, |log| !log.closed.is_empty());
    assert_eq!((log.received.as_slice(), log.closed), (&b"goodbye"[..], vec![(ONE, "end".to_owned())]));
}

#[test]
fn a_socket_in_the_file_system_is_a_target_too() {
    let mut poller = ReadinessPoller::new().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("server");
    let mut log = EventLog { reply_at_once: Some(Payload::from(*b"reply")), ..EventLog::default() };
    poller.transport().connect(ONE, &Target::Unix(path.clone()), &SocketOptions::default());
    wait_until(&mut poller, &mut log, |log| !log.closed.is_empty());
    let listener = UnixListener::bind(&path).unwrap();
    poller.transport().connect(ONE, &Target::Unix(path), &SocketOptions::default());
    wait_until(&mut poller, &mut log, |log| !log.connected.is_empty());
    let mut peer = listener.accept().unwrap().0;
    peer.write_all(b"x").unwrap();
    wait_until(&mut poller, &mut log, |log| log.reply_at_once.is_none());
    poller.wait(Some(Nanos::ZERO), &mut log).unwrap();
    let mut reply = [0; 5];
    peer.read_exact(&mut reply).unwrap();
    assert_eq!((&reply, log.closed), (b"reply", vec![(ONE, "connect".to_owned())]));
}

#[test]
fn a_refused_connection_is_closed_once() {
    let (mut poller, mut log) = begin();
    // The port is held, so that no other program listens there.
    let held = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    rustix::net::bind(&held, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let nobody = Target::from(SocketAddr::try_from(rustix::net::getsockname(&held).unwrap()).unwrap());
    poller.transport().connect(ONE, &nobody, &SocketOptions::default());
    wait_until(&mut poller, &mut log, |log| !log.closed.is_empty());
    poller.wait(Some(Nanos::ZERO), &mut log).unwrap();
    assert_eq!(log.closed, [(ONE, "connect".to_owned())]);
}

#[test]
fn a_connection_that_cannot_begin_is_an_event_too() {
    let (mut poller, mut log) = begin();
    let nowhere = SocketOptions { congestion: Some("no-such-algorithm".to_owned()) };
    poller.transport().connect(ONE, &SocketAddr::from((Ipv4Addr::LOCALHOST, 1)).into(), &nowhere);
    assert_eq!(poller.transport().send(ONE, &Payload::from(*b"ignored")), Sending::Accepted);
    wait_until(&mut poller, &mut log, |log| !log.closed.is_empty());
    assert_eq!(log.closed, [(ONE, "connect".to_owned())]);
}

#[test]
fn a_failed_connection_that_is_closed_when_another_fails_has_no_event() {
    let mut poller = ReadinessPoller::new().unwrap();
    let two = Token(2);
    let mut log = EventLog { closes_too: Some(two), ..EventLog::default() };
    let nowhere = SocketOptions { congestion: Some("no-such-algorithm".to_owned()) };
    for token in [ONE, two] {
        poller.transport().connect(token, &SocketAddr::from((Ipv4Addr::LOCALHOST, 1)).into(), &nowhere);
    }
    for _ in 0..2 {
        poller.wait(Some(Nanos::ZERO), &mut log).unwrap();
        assert_eq!(log.closed, [(ONE, "connect".to_owned())]);
    }
}

#[test]
fn a_reset_is_an_error_and_not_an_end() {
    let (mut poller, mut log) = begin();
    let peer = connect_and_accept(&mut poller, &mut log);
    poller.transport().send(ONE, &Payload::from(*b"never read"));
    poller.wait(Some(Nanos::ZERO), &mut log).unwrap();
    // Closing a socket with unread bytes resets the connection, so the bytes must have arrived.
    peer.peek(&mut [0; 1]).unwrap();
    drop(peer);
    wait_until(&mut poller, &mut log, |log| !log.closed.is_empty());
    assert_eq!(log.closed, [(ONE, "read".to_owned())]);
}

#[test]
fn received_bytes_are_delivered_before_a_failed_write_ends_the_connection() {
    let mut poller = ReadinessPoller::new().unwrap();
    let large = Payload::from(vec![b'x'; 12_000_000]);
    for round in 1..=20 {
        let mut log = EventLog::default();
        let mut peer = connect_and_accept(&mut poller, &mut log);
        poller.transport().send(ONE, &large);
        peer.read_exact(&mut [0; 1]).unwrap();
        peer.write_all(b"too large").unwrap();
        // The unread rest makes it a reset, so that the next write fails.
        drop(peer);
        wait_until(&mut poller, &mut log, |log| !log.closed.is_empty());
        assert_eq!(log.received, b"too large", "round {round}: {:?}", log.closed);
    }
}

#[test]
fn a_closed_connection_has_no_more_events() {
    let mut poller = ReadinessPoller::new().unwrap();
    let mut log = EventLog { close_at_once: true, ..EventLog::default() };
    let mut peer = connect_and_accept(&mut poller, &mut log);
    peer.write_all(b"x").unwrap();
    wait_until(&mut poller, &mut log, |log| log.received == b"x");
    drop(peer);
    log.close_at_once = false;
    let mut second = connect_and_accept(&mut poller, &mut log);
    second.write_all(b"y").unwrap();
    wait_until(&mut poller, &mut log, |log| log.received == b"xy");
    assert_eq!((log.closed.len(), log.connected.len()), (0, 2));
}

#[test]
fn a_wait_lasts_until_its_deadline_and_not_until_a_whole_millisecond() {
    let (mut poller, mut log) = begin();
    let lateness = |_| {
        let deadline = clock::now() + Duration::from_micros(2_300);
        poller.wait(Some(deadline), &mut log).unwrap();
        let now = clock::now();
        assert!(now >= deadline);
        now.since(deadline)
    };
    // On a busy machine most waits may be late, but not all of them.
    assert!((0..1_000).map(lateness).any(|late_ns| late_ns < 600_000), "a thousand waits were late");
    poller.wait(Some(Nanos::ZERO), &mut log).unwrap();
}
