//! Sums of samples, and what of a sample is serialised.

use super::*;
use crate::error_class::ErrorClass;

fn turn(start_ns: u64, ok: u64, latency_ns: u64) -> SliceSample {
    let mut sample =
        SliceSample { start_ns, window_ns: 20, workers: 2, ok, bytes_in: 10 * ok, ..SliceSample::default() };
    (0..ok).for_each(|_| sample.response.record_ns(latency_ns));
    sample.errors.add_failure(ErrorClass::Read, "reset");
    sample.messages.received = ok;
    sample
}

#[test]
fn a_sum_of_turns_counts_them_and_adds_up_windows_counters_and_histograms() {
    let mut sum = turn(1_000, 3, 5_000);
    sum.append_turn(&turn(2_000, 4, 7_000));
    sum.append_turn(&turn(3_000, 5, 9_000));
    assert_eq!((sum.turns, sum.start_ns, sum.window_ns, sum.workers), (3, 1_000, 60, 2));
    assert_eq!((sum.ok, sum.bytes_in, sum.response.len(), sum.errors.total()), (12, 120, 12, 3));
    assert_eq!(sum.messages.received, 12);
}

#[test]
fn what_a_server_pushes_for_a_request_is_one_answer() {
    let mut requests = SliceSample { ok: 5, failed: 2, ..SliceSample::default() };
    assert_eq!((requests.answered(), requests.pushed_messages()), (5, None));
    (requests.messages.received, requests.messages.subscriptions) = (5, 1);
    assert_eq!(requests.answered(), 1);
    // Its end may come later than its last message.
    let end = MessageTally { subscriptions: 1, ..MessageTally::default() };
    let drain = SliceSample { messages: end, ..SliceSample::default() };
    assert_eq!((drain.answered(), drain.pushed_messages()), (1, Some(&end)));
}

#[test]
fn parts_and_workers_of_one_slice_are_one_turn() {
    let mut sum = turn(1_000, 3, 5_000);
    sum.append(&turn(1_020, 4, 7_000));
    assert_eq!((sum.turns, sum.window_ns, sum.workers, sum.ok), (1, 40, 2, 7));
    sum.merge(&turn(1_000, 5, 9_000));
    assert_eq!((sum.turns, sum.window_ns, sum.workers, sum.ok), (1, 40, 4, 12));
}

#[test]
fn counters_are_serialised_and_histograms_are_not() {
    let sample = SliceSample { tls_resumed: 7, cancelled: true, turns: 9, ..turn(1_000, 3, 5_000) };
    let json = serde_json::to_string(&sample).unwrap();
    assert!(!json.contains("response"), "{json}");
    let mut read: SliceSample = serde_json::from_str(&json).unwrap();
    assert!(read.response.is_empty());
    read.response = sample.response.clone();
    assert_eq!(read, sample);
}

#[test]
fn a_counter_that_is_missing_is_0_and_a_missing_count_of_turns_is_1() {
    let read: SliceSample<PackedHistogram> = serde_json::from_str(r#"{"ok": 5}"#).unwrap();
    assert_eq!(read, SliceSample { ok: 5, turns: 1, ..SliceSample::empty() });
}

#[test]
fn packing_keeps_counters_and_histograms() {
    let sample = turn(1_000, 3, 5_000);
    let packed = sample.clone().pack();
    assert_eq!(packed.map_histograms(|packed| packed.unpack()), sample);
}

#[test]
fn pushed_messages_of_several_slices_add_up_with_their_jitter() {
    let mut pushing = turn(0, 3, 5_000);
    pushing.jitter.record_ns(500);
    let idle = SliceSample::default().pack();
    let packed = pushing.pack();
    let (tally, jitter) = SliceSample::sum_pushed_messages([&idle, &packed, &packed].into_iter()).unwrap();
    assert_eq!((tally.received, jitter.len()), (6, 2));
    assert_eq!(SliceSample::sum_pushed_messages([&idle].into_iter()), None);
}
