//! Push latency of servers with another clock. Planted offsets are found, and unknown ones are not reported.

use std::thread;
use std::time::Duration;

use tare_load::{Cancel, LoadSession, Protocol, RequestSpec, ServerClock, SessionSpec, SliceSample};
use tare_reference::{FaultKind, Options, Running};
use tare_units::Span;

use crate::support::{self, count};

const PERIOD: Duration = Duration::from_millis(50);
/// Delay of three in four messages, so that the median is one of them. The others leave at once.
const PLANTED_NS: u64 = 40_000_000;
/// How late the quickest of all messages may be on a busy machine.
const QUICKEST_NS: u64 = 20_000_000;
/// How late half of the messages may be there. It is far less than the clocks are apart.
const LATEST_NS: u64 = 1_000_000_000;
const S: i64 = 1_000_000_000;

fn server(options: Options) -> Running {
    let planted = Options { slow_share: 0.75, slow_us: PLANTED_NS / 1000, ..options };
    support::server(Options { push_period_ms: PERIOD.as_millis() as u64, ..planted })
}

fn spec(server: &Running, path: &str, server_clock: ServerClock) -> SessionSpec {
    SessionSpec {
        protocol: Protocol::Push { period: Span(PERIOD), messages: Some(20) },
        connections: 4,
        server_clock,
        ..support::spec(server.address(), vec![RequestSpec::get(path)])
    }
}

fn heard(server: &Running, path: &str) -> SliceSample {
    let mut session = LoadSession::open(&spec(server, path, ServerClock::Estimate)).unwrap();
    assert!(session.estimates_clock());
    session.run(&count(4, 4), &Cancel::new()).unwrap()
}

fn assert_found(path: &str, ahead_ns: i64, unit_ns: u64) {
    let sample = heard(&server(Options { clock_ahead_ns: ahead_ns, ..Options::default() }), path);
    let messages = &sample.messages;
    assert_eq!((sample.ok, sample.failed, messages.received), (80, 0, 80), "{:?}", sample.errors);
    let within_ns = messages.clock_within_ns;
    let found = messages.clock.unwrap();
    assert!(found.offset_ns.unwrap().abs_diff(ahead_ns) <= within_ns + QUICKEST_NS, "{found:?} within {within_ns}");
    // A slow machine may be told one more while it stops to listen.
    assert!(found.messages >= 40 && found.is_confirmed, "20 before and 20 after: {found:?}");
    assert!(within_ns > unit_ns && found.round_trip_ns.is_some_and(|trip_ns| trip_ns > 0), "{found:?} {within_ns}");
    let median = sample.response.value_at_quantile_ns(0.5).unwrap();
    let least = PLANTED_NS.saturating_sub(within_ns + QUICKEST_NS);
    assert!((least..LATEST_NS).contains(&median), "{median} within {within_ns}");
}

#[test]
fn the_median_is_what_was_planted_whatever_the_servers_clock_says() {
    thread::scope(|scope| {
        scope.spawn(|| assert_found("/ws/ts", 3 * S, 1));
        scope.spawn(|| assert_found("/ws/ts", -3 * S, 1));
        scope.spawn(|| assert_found("/ws/ts?unit=ms", 3 * S, 1_000_000));
    });
}

#[test]
fn a_clock_that_too_few_messages_tell_of_leaves_no_latency_rather_than_a_wrong_one() {
    // The handshake is a request too.
    let fault = Some(FaultKind::Close);
    let sample =
        heard(&server(Options { fault, fault_after: 4, clock_ahead_ns: 3 * S, ..Options::default() }), "/ws/ts");
    let found = sample.messages.clock.unwrap();
    assert!(found.offset_ns.is_none() && found.messages < 5, "{found:?}");
    assert_eq!((sample.response.len(), sample.messages.clock_within_ns), (0, 0));
}

#[test]
fn nothing_is_estimated_of_a_server_on_this_machine_or_where_nothing_is_pushed() {
    let server = server(Options::default());
    for clock in [ServerClock::Auto, ServerClock::Same] {
        let session = LoadSession::open(&spec(&server, "/ws/ts", clock)).unwrap();
        assert!(!session.estimates_clock(), "{clock:?}");
    }
    let http =
        SessionSpec { server_clock: ServerClock::Estimate, ..support::spec(server.address(), vec![support::get()]) };
    assert!(!LoadSession::open(&http).unwrap().estimates_clock());
}
