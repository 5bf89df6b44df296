//! Estimates of a server's clock in the simulated world, where its offset is known; and slices without an estimate.

use std::collections::HashMap;
use std::time::Duration;

use tare_sample::{ClockEstimate, SliceSample};
use tare_sys::clock::{Epoch, Nanos};
use tare_wire::ws::{Endpoint, Kind};

use super::simulation::World;
use super::websocket::{EPOCH_NS, PERIOD, START, greeting, pushes, run};
use super::{MS, slice};
use crate::recorder::server_clock::ClockModel;
use crate::schedule::Schedule;
use crate::schedule::stop_rule::StopRule;
use crate::worker::WorkerSlice;

fn ours() -> Epoch {
    Epoch { unix_ns: *EPOCH_NS, within_ns: 10 }
}
const S: i64 = 1_000_000_000;
/// Delay of a message. Each second one takes ten times as long.
const THERE: u64 = 2 * MS;
/// Delay of a pong.
const BACK: Duration = Duration::from_millis(3);

/// Pushes messages stamped by a clock with this offset. Answers pings after `back`, if at all.
fn pushing(ahead_ns: i64, messages: u64, back: Option<Duration>) -> World {
    let mut ends = HashMap::new();
    World::with_byte_script(Box::new(move |token, now, sent| {
        if let Some(greeting) = greeting(sent) {
            ends.insert(token, Endpoint::server());
            let pushed = (0..messages).map(|n| {
                let sent_ns = START.0 + n * Nanos::from(PERIOD).0;
                let stamp = (*EPOCH_NS + sent_ns).checked_add_signed(ahead_ns).unwrap().to_string();
                let mut end = Endpoint::server();
                end.send_message(Kind::Text, stamp.as_bytes()).unwrap();
                let delay_ns = if n % 2 == 0 { THERE } else { THERE * 10 };
                (Nanos(sent_ns + delay_ns), end.outgoing().to_vec())
            });
            return std::iter::once((now + Duration::from_millis(1), greeting)).chain(pushed).collect();
        }
        let end: &mut Endpoint = ends.get_mut(&token).unwrap();
        let (mut sent, mut said) = (sent, Vec::new());
        while let Ok(Some(_)) = end.receive(&mut sent) {
            said.extend(back.map(|back| (now + back, end.outgoing().to_vec())));
            end.clear_outgoing();
        }
        said
    }))
}

fn heard(world: World, server_clock: Option<ClockModel>) -> SliceSample {
    let stop = StopRule::Count { requests: 3, at_most: Duration::from_secs(6) };
    run(world, pushes(Some(8)), &WorkerSlice { server_clock, ..slice(Schedule::Closed, stop) })
}

#[test]
fn a_sounding_finds_the_offset_of_a_clock_whether_it_is_ahead_or_behind() {
    for ahead_ns in [0, 3 * S, -3 * S, 3_600 * S] {
        let sample = heard(pushing(ahead_ns, 100, Some(BACK)), None);
        let messages = &sample.messages;
        assert_eq!((sample.failed, messages.received, messages.subscriptions), (0, 24, 3), "{:?}", sample.errors);
        assert_eq!((sample.response.len(), messages.missing, messages.ahead), (0, 0, 0), "stamps are not believed yet");
        let ClockModel { epoch, estimate } = ClockModel::of(&sample.clock_samples, messages.received, ours());
        let (epoch, found) = (epoch.unwrap(), estimate.unwrap());
        // The way to the server takes 2 ms, and the round trip 3 ms.
        let offset_ns = ahead_ns - (THERE as i64) + 1_500_000;
        assert!(found.offset_ns.is_some_and(|ns| ns.abs_diff(offset_ns) <= 1_000), "{ahead_ns}: {found:?}");
        assert!(epoch.within_ns.abs_diff(1_500_011) <= 1_000, "{epoch:?}");
        assert_eq!(found.messages, 24);
    }
}

#[test]
fn a_round_trip_may_take_longer_than_the_time_between_two_messages() {
    let back = 2 * PERIOD + PERIOD / 2;
    let sample = heard(pushing(0, 100, Some(back)), None);
    let found = ClockModel::of(&sample.clock_samples, sample.messages.received, ours()).estimate.unwrap();
    let round_trip_ns = found.round_trip_ns.unwrap();
    assert!(round_trip_ns.abs_diff(Nanos::from(back).0) < MS, "{round_trip_ns}");
}

#[test]
fn a_server_that_answers_no_ping_leaves_its_clock_unknown() {
    let sample = heard(pushing(0, 100, None), None);
    let ClockModel { epoch, estimate } = ClockModel::of(&sample.clock_samples, sample.messages.received, ours());
    assert_eq!((epoch, estimate.map(|found| (found.messages, found.round_trip_ns))), (None, Some((24, None))));
}

#[test]
fn a_slice_that_does_not_know_the_clock_counts_messages_and_states_no_latency() {
    for ahead_ns in [3_600 * S, -3_600 * S] {
        let sample = heard(pushing(ahead_ns, 100, Some(BACK)), Some(ClockModel::default()));
        let messages = &sample.messages;
        assert_eq!((sample.ok, sample.failed, messages.received, messages.subscriptions), (24, 0, 24, 3));
        assert_eq!((sample.response.len(), sample.jitter.len(), messages.ahead), (0, 21, 0));
        assert_eq!(ClockModel::of(&sample.clock_samples, 0, ours()).epoch, None, "and asks nothing");
    }
}

#[test]
fn a_message_is_ahead_of_its_stamp_only_by_more_than_our_clocks_may_be_off() {
    for (within_ns, ahead) in [(0, 12), (2 * MS, 0)] {
        let clock = Epoch { unix_ns: *EPOCH_NS, within_ns };
        // Each second message makes good for what the clock is ahead by.
        let sample = heard(pushing(3 * MS as i64, 100, Some(BACK)), Some(ClockModel::own_clock(clock)));
        assert_eq!((sample.response.len(), sample.messages.ahead), (24, ahead), "{within_ns}");
    }
}

#[test]
fn messages_ahead_of_an_estimate_show_how_far_it_is_off() {
    let found = ClockEstimate { round_trip_ns: Some(5 * MS), ..ClockEstimate::default() };
    let clock = ClockModel { epoch: Some(ours()), estimate: Some(found) };
    let sample = heard(pushing(3 * MS as i64, 100, Some(BACK)), Some(clock));
    assert_eq!((sample.response.len(), sample.messages.ahead), (24, 0));
    let widened = clock.widened_by(&sample.clock_samples);
    // The clock is 3 ms ahead. A message shows 1 ms of that: it arrives 1 ms before its stamp.
    assert_eq!(widened.epoch.map(|epoch| epoch.within_ns), Some(6 * MS + 1));
}
