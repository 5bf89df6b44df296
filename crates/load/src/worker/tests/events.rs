//! Streams of events in the simulated world: those that never end, and those that fall silent.

use std::time::Duration;

use tare_sample::{ErrorClass, SliceSample};

use super::simulation::World;
use super::{MS, drive, slice, speaking};
use crate::input::request::RequestSpec;
use crate::protocol::Protocol;
use crate::schedule::Schedule;
use crate::schedule::stop_rule::StopRule;
use crate::worker::WorkerSlice;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

/// A server that sends so many events on each stream, this far apart, and never ends one.
fn sending(events: u64, apart: Duration) -> World {
    World::with_byte_script(Box::new(move |_, now, _| {
        let event = |number: u64| (now + apart * number as u32, b"data: 1\n\n".to_vec());
        std::iter::once((now, HEAD.to_vec())).chain((1..=events).map(event)).collect()
    }))
}

fn read(world: World, slice: &WorkerSlice) -> SliceSample {
    let protocol = Protocol::Events { messages: None, streams: None };
    drive(speaking(protocol, &RequestSpec::get("/").into(), world), 2, slice)
}

#[test]
fn a_number_of_streams_that_never_end_has_failed_after_their_longest_time() {
    let day = Duration::from_secs(86_400);
    let mut slice = slice(Schedule::Closed, StopRule::Count { requests: 4, at_most: day });
    slice.spec.longest_push = Some(Duration::from_secs(60));
    let sample = read(sending(50, Duration::from_secs(2)), &slice);
    let endless = sample.errors.for_class(ErrorClass::Timeout);
    assert_eq!((sample.answered(), sample.failed, endless.count), (0, 4, 4), "{:?}", sample.errors);
    assert_eq!(
        endless.example,
        "the stream had no end after 60 s; give the load a time (-d), or each stream a number of events (--messages)"
    );
    // Two users, who read two streams each, one after the other.
    assert!(sample.window_ns.abs_diff(120_000 * MS) < 1_000 * MS, "{} ns", sample.window_ns);
    // One that falls silent has failed before.
    let silent = read(sending(5, Duration::from_secs(2)), &slice);
    let timeout = silent.errors.for_class(ErrorClass::Timeout);
    assert_eq!((timeout.count, timeout.example.as_str()), (4, "no event until the deadline"));
}

#[test]
fn a_stream_that_has_stalled_when_the_load_ends_is_told_and_has_not_failed() {
    let apart = Duration::from_millis(100);
    for (events, silent, silent_ms) in [(5, 2, 3_500), (50, 0, 0)] {
        let sample = read(sending(events, apart), &slice(Schedule::Closed, StopRule::Duration(Duration::from_secs(3))));
        assert_eq!((sample.answered(), sample.failed), (2, 0), "{:?}", sample.errors);
        let tally = sample.messages;
        // A user waits for a second more for events that were sent in time.
        assert_eq!((tally.silent, tally.silent_ns / MS), (silent, silent_ms), "{events} events");
    }
}
