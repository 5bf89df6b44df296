//! WebSockets in the simulated world: pushed messages, exchanges, and servers that fail.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

use tare_sample::{ErrorClass, SliceSample};
use tare_sys::clock::{self, Clock, Epoch, Nanos};
use tare_units::Span;
use tare_wire::ws::{Arrival, Endpoint, Kind, accept_for};

use super::simulation::{ByteScript, Listener, World};
use super::{MS, drive, seconds, slice, with_protocol};
use crate::cancel::Cancel;
use crate::protocol::Protocol;
use crate::recorder::server_clock::ClockModel;
use crate::schedule::Schedule;
use crate::schedule::stop_rule::StopRule;
use crate::worker::WorkerSlice;

/// The wall clock's time at the origin of the world.
pub(super) static EPOCH_NS: LazyLock<u64> = LazyLock::new(clock::wall_unix_ns);
pub(super) const START: Nanos = Nanos(100 * MS);
pub(super) const PERIOD: Duration = Duration::from_millis(100);

/// A server's answer to a handshake.
pub(super) fn greeting(sent: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(sent).ok()?;
    let key = text.split("Sec-WebSocket-Key: ").nth(1)?.split("\r\n").next()?;
    let accept = accept_for(key.as_bytes());
    let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade";
    Some(format!("{head}\r\nSec-WebSocket-Accept: {accept}\r\n\r\n").into_bytes())
}

/// A frame of a server.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    [&[first, payload.len() as u8], payload].concat()
}

/// Opens the WebSocket and pushes. The n-th message of each user is stamped for the n-th period after the start of the
/// slice. `came` says when it arrives, and `frames` turns a stamp into bytes.
fn pushing(messages: u64, came: fn(u64) -> u64, frames: fn(u64, &str) -> Vec<u8>) -> World {
    World::with_byte_script(Box::new(move |_, now, sent| {
        let Some(greeting) = greeting(sent) else { return Vec::new() };
        let pushed = |n: u64| {
            let sent_ns = START.0 + n * Nanos::from(PERIOD).0;
            (Nanos(sent_ns + came(n)), frames(n, &(*EPOCH_NS + sent_ns).to_string()))
        };
        std::iter::once((now + Duration::from_millis(1), greeting)).chain((0..messages).map(pushed)).collect()
    }))
}

fn text(_: u64, stamp: &str) -> Vec<u8> {
    frame(0x81, stamp.as_bytes())
}

/// Delay of a message: 1 ms, and 50 ms for one in ten.
fn delays(n: u64) -> u64 {
    if n % 10 == 9 { 50 * MS } else { MS }
}

/// A server that pushes, and users who read so many messages.
pub(super) const fn pushes(messages: Option<u64>) -> Protocol {
    Protocol::Push { period: Span(PERIOD), messages }
}

pub(super) fn run(world: World, protocol: Protocol, slice: &WorkerSlice) -> SliceSample {
    drive(with_protocol(protocol, world), 3, slice)
}

fn pushed(world: World, messages: Option<u64>, stop: StopRule) -> SliceSample {
    run(world, pushes(messages), &stamped(stop))
}

fn stamped(stop: StopRule) -> WorkerSlice {
    let server_clock = Some(ClockModel::own_clock(Epoch { unix_ns: *EPOCH_NS, within_ns: 0 }));
    WorkerSlice { server_clock, ..slice(Schedule::Closed, stop) }
}

/// Three subscriptions, with enough time for them.
fn three() -> StopRule {
    StopRule::Count { requests: 3, at_most: Duration::from_secs(60) }
}

fn near(value: Option<u64>, expected: u64) -> bool {
    value.is_some_and(|value| value.abs_diff(expected) <= expected / 1000)
}

#[test]
fn each_pushed_message_is_timed_from_its_stamp_and_each_user_hangs_up_after_its_last() {
    let sample = pushed(pushing(100, delays, text), Some(20), three());
    let messages = &sample.messages;
    assert_eq!((sample.ok, messages.received, messages.subscriptions, messages.missing), (60, 60, 3, 0));
    assert_eq!((sample.response.len(), sample.service.len(), sample.connections_opened), (60, 0, 3));
    assert!(near(sample.response.value_at_quantile_ns(0.9), MS) && near(sample.response.max_ns(), 50 * MS));
    // Of 19 steps of each user, one leads to a late message, another away from it, and the last is late again.
    assert_eq!((sample.jitter.len(), sample.jitter.count_above_ns(48 * MS)), (57, 9));
    assert!(near(sample.jitter.max_ns(), 49 * MS));
    assert_eq!((messages.late, messages.out_of_order, messages.duplicated, messages.ahead), (0, 0, 0, 0));
    assert_eq!(messages.stamp_unit_ns, 1);
}

#[test]
fn nobody_subscribes_twice_in_the_place_of_a_user_who_takes_no_part() {
    let mut slice = stamped(three());
    slice.spec.connections = 3;
    let worker = with_protocol(pushes(Some(20)), pushing(100, delays, text));
    let sample = drive(worker, 2, &slice);
    assert_eq!((sample.ok, sample.failed, sample.messages.subscriptions), (40, 0, 2));
}

#[test]
fn a_window_has_every_message_that_was_sent_in_it_also_those_that_come_late() {
    // The last message of the second arrives 50 ms late, and still counts.
    let sample = pushed(pushing(100, delays, text), None, seconds(1));
    assert_eq!((sample.ok, sample.failed, sample.messages.subscriptions, sample.messages.missing), (30, 0, 3, 0));
    assert!(near(sample.response.max_ns(), 50 * MS));
}

#[test]
fn a_server_that_is_silent_when_the_window_ends_has_not_failed() {
    // Nine messages of ten: after 800 ms it says no more.
    let silent = || pushing(9, delays, text);
    let sample = pushed(silent(), None, seconds(1));
    let messages = &sample.messages;
    assert_eq!((sample.ok, sample.failed, messages.subscriptions, messages.missing), (27, 0, 3, 3));
    assert_eq!(sample.connections_lost, 0);
    // Without period and stamps nothing is missing.
    let endless = Protocol::Push { period: Span::default(), messages: None };
    let sample = run(pushing(9, delays, |_, _| frame(0x81, b"hi")), endless, &stamped(seconds(1)));
    assert_eq!((sample.ok, sample.failed, sample.messages.missing), (27, 0, 0));
    // Silence for the whole time that an answer may take, within the window, is a failure.
    let sample = pushed(silent(), None, seconds(30));
    assert_eq!(sample.errors.for_class(ErrorClass::Timeout).count, 3, "{:?}", sample.errors);
}

#[test]
fn a_server_that_stops_pushing_is_given_up_at_the_deadline_and_owes_the_rest() {
    let sample = pushed(pushing(5, delays, text), Some(20), three());
    assert_eq!((sample.ok, sample.failed, sample.messages.missing), (15, 3, 45));
    assert_eq!(sample.errors.for_class(ErrorClass::Timeout).count, 3);
    assert_eq!(sample.errors.for_class(ErrorClass::Timeout).example, "no message until the deadline");
    // Ten seconds after the last message.
    assert!(near(sample.failed_time.max_ns(), 400 * MS + MS + 10_000 * MS));
}

#[test]
fn a_subscription_of_the_head_belongs_to_the_window_if_it_lasts_until_then() {
    let head = |mut slice: WorkerSlice| {
        slice.spec.discard_head = Duration::from_millis(250);
        slice
    };
    // Nothing arrives after 400 ms.
    let sample = run(pushing(5, delays, text), pushes(None), &head(stamped(seconds(1))));
    assert_eq!((sample.ok, sample.failed, sample.messages.subscriptions), (6, 0, 3));
    assert_eq!(sample.messages.missing, 3 * 5, "from 500 ms to the end of the window, where one may be late");
    // Everything ends before the window begins.
    let sample = run(pushing(100, delays, text), pushes(Some(2)), &head(stamped(three())));
    assert_eq!((sample.ok, sample.failed, sample.messages.subscriptions), (0, 0, 0));
}

#[test]
fn a_window_misses_what_a_server_leaves_out_for_good_also_at_its_end() {
    // From the seventh message on, nothing is sent until long after the window.
    let pausing: fn(u64, &str) -> Vec<u8> = |n, stamp| if (6..30).contains(&n) { Vec::new() } else { text(n, stamp) };
    let sample = pushed(pushing(100, delays, pausing), None, seconds(1));
    assert_eq!((sample.ok, sample.failed, sample.messages.subscriptions), (18, 0, 3));
    assert_eq!(sample.messages.missing, 3 * 4);
}

#[test]
fn a_count_that_is_not_reached_in_its_time_is_a_timeout_and_the_rest_is_missing() {
    let in_a_second = StopRule::Count { requests: 3, at_most: Duration::from_secs(1) };
    let sample = pushed(pushing(100, delays, text), Some(20), in_a_second);
    assert_eq!((sample.ok, sample.messages.missing, sample.messages.subscriptions), (30, 30, 0));
    assert!(sample.errors.for_class(ErrorClass::Timeout).example.contains("not all messages"));
}

#[test]
fn what_goes_wrong_on_a_websocket_is_counted_by_class() {
    let closing: fn(u64, &str) -> Vec<u8> =
        |n, stamp| if n == 3 { frame(0x88, b"\x03\xe9gone\x1b") } else { frame(0x81, stamp.as_bytes()) };
    let masked: fn(u64, &str) -> Vec<u8> =
        |n, stamp| if n == 3 { b"\x81\x81\0\0\0\0x".to_vec() } else { frame(0x81, stamp.as_bytes()) };
    for (frames, class, says) in [
        (closing, ErrorClass::Read, "closed the WebSocket with code 1001 \"gone\\x1b\""),
        (masked, ErrorClass::Protocol, "masked"),
    ] {
        let sample = pushed(pushing(100, |_| MS, frames), Some(20), three());
        let tally = sample.errors.for_class(class);
        assert_eq!((sample.ok, sample.failed, sample.messages.missing, tally.count), (9, 3, 51, 3), "{class}");
        assert!(tally.example.contains(says), "{}", tally.example);
    }
}

#[test]
fn a_server_that_opens_no_websocket_is_counted_and_does_not_hang_anybody() {
    let refusing = |answer: &'static [u8]| -> ByteScript {
        Box::new(move |_, now, _| vec![(now + Duration::from_millis(1), answer.to_vec())])
    };
    for (answer, status, says) in [
        (&b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"[..], Some(404), "status 404 instead of 101"),
        (b"HTTP/1.1 302 X\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n", Some(302), "it leads to \"/login\""),
        (
            b"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
            Some(101),
            "does not follow from the key",
        ),
        (b"SSH-2.0-OpenSSH\r\n", None, "not an HTTP answer"),
        (b"", None, "not connected until the deadline"),
    ] {
        let sample = pushed(World::with_byte_script(refusing(answer)), Some(20), three());
        let tally = sample.errors.for_class(ErrorClass::Upgrade);
        assert_eq!((sample.ok, sample.failed, tally.count), (0, 3, 3), "{says}");
        assert!(tally.example.contains(says), "{}", tally.example);
        let statuses: Vec<_> = sample.statuses.0.iter().map(|(status, tally)| (*status, tally.failed)).collect();
        assert_eq!(statuses, status.map(|status| (status, 3)).into_iter().collect::<Vec<_>>(), "{says}");
    }
}

/// A server that opens a WebSocket for this many users, and pushes two messages to each from `START_OF_MANY` on. All
/// others receive these bytes.
fn full_after(users: usize, to_others: &'static [u8]) -> World {
    let mut opened = 0;
    World::with_byte_script(Box::new(move |_, now, sent| {
        let Some(greeting) = greeting(sent) else { return Vec::new() };
        if opened == users {
            return vec![(now, to_others.to_vec())];
        }
        opened += 1;
        let pushed = |n: u64| {
            let sent_ns = START_OF_MANY.0 + n * Nanos::from(PERIOD).0;
            (Nanos(sent_ns + MS), text(n, &(*EPOCH_NS + sent_ns).to_string()))
        };
        std::iter::once((now, greeting)).chain((0..2).map(pushed)).collect()
    }))
}

/// Preparation has ended by then.
const START_OF_MANY: Nanos = Nanos(10_000 * MS);

#[test]
fn of_2500_users_those_who_are_turned_away_are_counted_by_class_and_the_load_ends() {
    let busy = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
    for (world, class, says) in [
        (full_after(2500, b"").listening(Listener::RefusesAfter(1250)), ErrorClass::Connect, "refused"),
        (full_after(1250, busy), ErrorClass::Upgrade, "status 503 instead of 101"),
        (full_after(1250, b""), ErrorClass::Upgrade, "not connected until the deadline"),
    ] {
        let clock = world.clock();
        let mut worker = with_protocol(pushes(Some(2)), world);
        worker.prepare(2500, &Cancel::new(), &mut |_| {}).unwrap();
        assert!(clock.now() < START_OF_MANY && worker.runner.connections.count_open() == 1250, "{says}");
        let all = StopRule::Count { requests: 2500, at_most: Duration::from_secs(3600) };
        let sample = worker.run(&WorkerSlice { start: START_OF_MANY, ..stamped(all) }, &mut |_| {}).unwrap();
        assert_eq!((sample.ok, sample.messages.subscriptions), (2 * 1250, 1250), "{says}");
        assert_eq!((sample.failed, sample.messages.missing), (1250, 2 * 1250), "{says}");
        let tally = sample.errors.for_class(class);
        assert!(tally.count == 1250 && tally.example.contains(says), "{says}: {:?}", sample.errors);
        assert!(clock.now() < START_OF_MANY + Duration::from_secs(5), "{says}: {:?}", clock.now());
    }
}

#[test]
fn pings_are_answered_and_are_no_messages() {
    let pinging = |_, stamp: &str| [frame(0x89, b"?"), frame(0x81, stamp.as_bytes())].concat();
    let sample = pushed(pushing(100, |_| MS, pinging), Some(20), three());
    assert_eq!((sample.ok, sample.messages.received, sample.messages.pings), (60, 60, 60));
}

#[test]
fn a_server_may_send_as_many_pongs_as_it_likes() {
    let ponging = |_, stamp: &str| [frame(0x8a, b"").repeat(100_000), frame(0x81, stamp.as_bytes())].concat();
    let sample = pushed(pushing(2, |_| MS, ponging), Some(2), three());
    assert_eq!((sample.ok, sample.failed, sample.messages.pings), (6, 0, 0));
}

#[test]
fn messages_without_stamps_have_jitter_and_no_latency() {
    let sample = pushed(pushing(100, delays, |_, _| frame(0x81, b"hello")), Some(20), three());
    assert_eq!((sample.ok, sample.response.len(), sample.jitter.len()), (60, 0, 57));
}

/// A server that answers each message after `delay`, with the result of `answer`.
pub(super) fn answering(delay: Duration, answer: fn(&[u8]) -> Vec<u8>) -> World {
    let mut ends = HashMap::new();
    World::with_byte_script(Box::new(move |token, now, sent| {
        if let Some(greeting) = greeting(sent) {
            ends.insert(token, Endpoint::server());
            return vec![(now, greeting)];
        }
        let end: &mut Endpoint = ends.get_mut(&token).unwrap();
        let mut sent = sent;
        let mut said = Vec::new();
        while let Ok(Some(arrival)) = end.receive(&mut sent) {
            if let Arrival::Message(_, message) = arrival {
                end.send_message(Kind::Text, &answer(&message)).unwrap();
                said.push((now + delay, end.outgoing().to_vec()));
                end.clear_outgoing();
            }
        }
        said
    }))
}

#[test]
fn exchanges_are_timed_as_requests_are_in_both_loops() {
    let echo = |message: &[u8]| message.to_vec();
    for (schedule, offered) in [(Schedule::Closed, 300), (Schedule::constant(50.0), 50)] {
        let slice = slice(schedule, seconds(1));
        let sample = run(answering(Duration::from_millis(10), echo), Protocol::Exchange, &slice);
        // The request's body is empty, so the answer is not the expected "ok".
        assert_eq!((sample.offered, sample.errors.for_class(ErrorClass::Validation).count), (offered, offered));
        let ok = |_: &[u8]| b"ok".to_vec();
        let sample = run(answering(Duration::from_millis(10), ok), Protocol::Exchange, &slice);
        assert_eq!((sample.ok, sample.failed), (offered, 0));
        assert!(near(sample.response.max_ns(), 10 * MS) && near(sample.service.max_ns(), 10 * MS));
    }
}

fn thirty() -> StopRule {
    StopRule::Count { requests: 30, at_most: Duration::from_secs(60) }
}

/// A server that sends a message together with its answer to the handshake, and these bytes behind each answer.
fn welcoming(behind_answers: &'static [u8]) -> World {
    World::with_byte_script(Box::new(move |_, now, sent| match greeting(sent) {
        Some(greeting) => vec![(now, [greeting, frame(0x81, b"welcome")].concat())],
        None if sent[0] == 0x81 => {
            vec![(now + Duration::from_millis(50), [&frame(0x81, b"ok")[..], behind_answers].concat())]
        }
        None => Vec::new(),
    }))
}

#[test]
fn a_message_before_any_request_answers_none_and_is_a_connection_event() {
    // On connections of the preparation; on one for each request of the slice.
    for behind_answers in [&b""[..], b"\x88\x00"] {
        let sample = run(welcoming(behind_answers), Protocol::Exchange, &slice(Schedule::Closed, thirty()));
        let events = sample.connection_events.for_class(ErrorClass::Protocol);
        let carrying = if behind_answers.is_empty() { 3 } else { sample.offered };
        assert_eq!((sample.failed, events.count), (0, carrying), "{:?}", sample.errors);
        assert_eq!(events.example, "a message without a request: \"welcome\"");
        assert!(near(sample.service.min_ns(), 50 * MS), "{:?}", sample.service.min_ns());
    }
}

#[test]
fn an_invalid_close_behind_an_answer_is_a_connection_event() {
    let sample = run(welcoming(b"\x88\x02\x03\xed"), Protocol::Exchange, &slice(Schedule::Closed, thirty()));
    let events = sample.connection_events.for_class(ErrorClass::Protocol);
    // Each connection has its welcome, too.
    assert_eq!((sample.ok, sample.failed, events.count), (30, 0, 2 * 30));
}

#[test]
fn an_answer_that_does_not_come_is_a_timeout_and_the_next_exchange_has_a_connection_of_its_own() {
    let silent: ByteScript = Box::new(|_, now, sent| greeting(sent).map(|bytes| (now, bytes)).into_iter().collect());
    let slice = slice(Schedule::Closed, seconds(15));
    let sample = run(World::with_byte_script(silent), Protocol::Exchange, &slice);
    assert_eq!((sample.ok, sample.errors.for_class(ErrorClass::Timeout).count), (0, 6));
    assert_eq!(sample.connections_opened, 6);
}
