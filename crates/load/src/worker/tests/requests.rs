//! Think times between requests, and the end of the load when a feed has no rows left.

use std::time::Duration;

use tare_sample::{ErrorClass, SliceSample};
use tare_sys::clock::Nanos;

use super::simulation::{ANSWER, Listener, Reaction, World, after};
use super::{MS, drive, seconds, slice, speaking};
use crate::input::feed::{Feed, FeedFormat, FeedOrder};
use crate::input::request::{RequestSpec, Requests};
use crate::protocol::Protocol;
use crate::schedule::Schedule;
use crate::schedule::stop_rule::StopRule;
use crate::schedule::think::Think;
use crate::worker::WorkerSlice;

const ANSWER_AFTER: Duration = Duration::from_millis(1);

fn run(requests: &Requests, connections: usize, world: World, slice: &WorkerSlice) -> SliceSample {
    drive(speaking(Protocol::default(), requests, world), connections, slice)
}

fn thinking(think: Think) -> Requests {
    Requests { think, ..RequestSpec::get("/").into() }
}

fn of_feed(rows: usize) -> Requests {
    let text = format!("id\n{}", "1\n".repeat(rows));
    let feed = Feed::parse("f", FeedFormat::Separated(b','), text.as_bytes()).unwrap();
    Requests::of([RequestSpec::get("/{{id}}")]).feed(feed.in_order(FeedOrder::Once))
}

#[test]
fn users_think_between_an_answer_and_their_next_request_and_no_latency_holds_it() {
    let requests = thinking(Think::Constant(Duration::from_millis(9)));
    let sample = run(&requests, 3, World::new(after(ANSWER_AFTER)), &slice(Schedule::Closed, seconds(1)));
    assert_eq!((sample.ok, sample.failed), (300, 0));
    assert_eq!(sample.response.max_ns().map(|ns| ns / 10_000), Some(MS / 10_000));
    assert_eq!(sample.send_lag.max_ns(), Some(0));
}

#[test]
fn pauses_of_random_length_have_their_mean() {
    let requests = thinking(Think::Exponential(Duration::from_millis(4)));
    let sample = run(&requests, 10, World::new(after(ANSWER_AFTER)), &slice(Schedule::Closed, seconds(10)));
    // 10 users, 5 ms per round; five standard errors of 20,000 think times.
    assert!((sample.ok as f64 - 20_000.0).abs() < 5.0 * 20_000_f64.sqrt(), "{}", sample.ok);
}

#[test]
fn an_open_schedule_heeds_no_pauses() {
    let requests = thinking(Think::Constant(Duration::from_secs(1)));
    let schedule = Schedule::constant(100.0);
    let sample = run(&requests, 2, World::new(after(ANSWER_AFTER)), &slice(schedule, seconds(1)));
    assert_eq!((sample.ok, sample.blocked), (100, 0));
}

#[test]
fn a_user_whose_connection_is_lost_while_thinking_goes_on_with_another() {
    let script = Box::new(|arrival: Nanos| Reaction::Reset { at: arrival + ANSWER_AFTER });
    let world = World::new(script).listening(Listener::AcceptsAfter(Duration::ZERO));
    let requests = thinking(Think::Constant(Duration::from_millis(50)));
    let sample = run(&requests, 2, world, &slice(Schedule::Closed, seconds(1)));
    assert_eq!(sample.ok, 0);
    // Each user's round: a response that fails after 1 ms, a growing back-off before the connect, 50 ms of think time.
    assert!((10..40).contains(&sample.failed), "{}", sample.failed);
}

#[test]
fn a_feed_that_is_used_up_ends_the_load() {
    for schedule in [Schedule::Closed, Schedule::constant(1000.0)] {
        let world = World::new(after(ANSWER_AFTER));
        let sample = run(&of_feed(7), 3, world, &slice(schedule, seconds(10)));
        assert_eq!((sample.offered, sample.ok), (7, 7));
        assert!(sample.window_ns < 20 * MS, "the window ends with the last answer: {}", sample.window_ns);
    }
}

#[test]
fn a_count_beyond_the_feed_ends_with_the_feed() {
    let stop = StopRule::Count { requests: 100, at_most: Duration::from_secs(10) };
    let sample = run(&of_feed(7), 2, World::new(after(ANSWER_AFTER)), &slice(Schedule::Closed, stop));
    assert_eq!((sample.offered, sample.ok), (7, 7));
}

#[test]
fn a_timeout_says_how_far_the_answer_came() {
    let example_of = |bytes: &'static [u8]| {
        let world = World::new(Box::new(move |arrival| Reaction::Answer { at: arrival + ANSWER_AFTER, bytes }));
        let stop = StopRule::Count { requests: 1, at_most: Duration::from_secs(60) };
        let requests = Requests::of([RequestSpec::get("/")]);
        let timeouts = run(&requests, 1, world, &slice(Schedule::Closed, stop)).errors;
        timeouts.for_class(ErrorClass::Timeout).example.clone()
    };
    for (bytes, came) in [
        (&b"HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\nhello"[..], ": status 201 came, and 5 bytes of the body"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            ": status 200 came, and nothing of the body; of a stream without an end, --event-stream reads the events",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-", ": its head began, and has no end"),
        (b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200", ": its head began, and has no end"),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n", ": only an interim status (1xx) came, and no answer behind it"),
        (b"\r\n", ""),
    ] {
        let example = example_of(bytes);
        assert_eq!(example, format!("no complete answer until the deadline{came}"));
    }
}

/// Every third answer is an error page, and the last connection is refused.
#[test]
fn answers_are_counted_by_status_and_by_request_and_add_up() {
    const BAD: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
    let mut count = 0;
    let script = Box::new(move |arrival: Nanos| {
        count += 1;
        match count {
            ..=9 => Reaction::Answer { at: arrival + ANSWER_AFTER, bytes: if count % 3 == 0 { BAD } else { ANSWER } },
            _ => Reaction::Reset { at: arrival },
        }
    });
    let stop = StopRule::Count { requests: 12, at_most: Duration::from_secs(60) };
    let requests = Requests::of([RequestSpec::get("/a"), RequestSpec::get("/b"), RequestSpec::get("/c")]);
    let world = World::new(script).listening(Listener::RefusesAfter(1));
    let sample = run(&requests, 1, world, &slice(Schedule::Closed, stop));
    assert_eq!((sample.ok, sample.failed), (6, 6));
    let statuses: Vec<_> = sample.statuses.0.iter().map(|(status, t)| (*status, t.count, t.failed)).collect();
    assert_eq!(statuses, [(200, 6, 0), (503, 3, 3)]);
    let status_error = "GET /c: status 503 instead of 200 to 299";
    assert_eq!(sample.statuses.0[&503].example, status_error);
    assert_eq!(sample.errors.for_class(ErrorClass::Status).example, status_error);
    let found: Vec<_> = sample.by_request.iter().map(|t| (&*t.name, t.ok, t.failed, t.response.samples())).collect();
    // The tenth request met the reset. The last two found no connection, so that they are of no URL.
    assert_eq!(found, [("GET /a", 3, 1, 3), ("GET /b", 3, 0, 3), ("GET /c", 0, 3, 0)]);
    assert!(!sample.errors.for_class(ErrorClass::Connect).example.contains("GET"), "{:?}", sample.errors);
}
