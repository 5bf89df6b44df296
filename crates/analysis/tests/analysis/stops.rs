//! The stop rule as a run obeys it: verdict or precision, void comparisons, a fixed number of forks.

use std::time::Duration;

use tare_analysis::stop::{Looks, ReasonToStop};
use tare_plan::plan::{Forks, SliceKind};
use tare_record::{EventKind, EventRecord, RunRecord, StoredSlice};
use tare_stats::StopReason;
use tare_stats::histogram::LatencyHistogram;
use tare_units::Span;

use crate::synthetic::{self, Truth, baseline, in_two_groups, variant};

const LAYER: &str = "http4s.Tapir";

fn stop(record: &RunRecord) -> Option<ReasonToStop> {
    let states = Looks::default().reasons_to_stop(record);
    assert_eq!(states.len(), 1);
    states[0].reason_to_stop
}

fn run(forks: u32) -> RunRecord {
    synthetic::run(&[baseline(), variant(LAYER, 0.95)], forks, &[SliceKind::Saturating])
}

#[test]
fn a_comparison_stops_at_its_verdict_though_a_precision_was_asked_for() {
    let mut record = run(16);
    assert_eq!(stop(&record), Some(ReasonToStop::Settled(StopReason::Decided)));
    record.header.plan.stop.precision = 1e-6;
    assert_eq!(stop(&record), Some(ReasonToStop::Settled(StopReason::Decided)), "verdict or precision, not both");
}

#[test]
fn a_comparison_without_a_verdict_stops_once_it_is_precise() {
    let mut record = synthetic::run(&[baseline(), variant(LAYER, 1.0)], 6, &[SliceKind::Saturating]);
    // No difference, and a region too narrow for any interval.
    record.header.plan.stop.region = 1e-5;
    assert_eq!(stop(&record), None);
    record.header.plan.stop.precision = 10.0;
    assert_eq!(stop(&record), Some(ReasonToStop::Settled(StopReason::Precise)));
    let told = Looks::default().reasons_to_stop(&record).remove(0).text;
    assert!(told.starts_with("inconclusive ") && told.ends_with("], as precise as asked for"), "{told}");
}

#[test]
fn a_settled_comparison_after_an_open_one_is_not_called_inconclusive() {
    let open = Truth { fork_sd: 0.1, ..variant("http4s.Open", 1.0) };
    let record = synthetic::run(&[baseline(), open, variant(LAYER, 0.8)], 16, &[SliceKind::Saturating]);
    let [open, settled] = &Looks::default().reasons_to_stop(&record)[..] else { panic!("two comparisons") };
    assert_eq!(open.reason_to_stop, None);
    assert!(open.text.starts_with("inconclusive "), "{}", open.text);
    assert_eq!(settled.reason_to_stop, Some(ReasonToStop::Settled(StopReason::Decided)));
    let told = &settled.text;
    assert!(told.starts_with("settled ") && told.ends_with("], waits for an earlier question"), "{told}");
}

#[test]
fn two_forks_already_say_how_long_a_decision_takes() {
    let mut record = run(2);
    let stop = &mut record.header.plan.stop;
    stop.forks = Forks::UntilDecided { budget: Span::from_secs(300), at_least: 3, max_forks: Some(6) };
    (stop.alpha, stop.half_width) = (0.05, 0.04);
    let state = Looks::default().reasons_to_stop(&record).remove(0);
    // A fork of a synthetic run takes 20 s, and the difference of 5 % is clear with the third.
    assert_eq!((state.reason_to_stop, state.needed), (None, Some(Duration::from_secs(20))));
}

#[test]
fn too_few_forks_never_stop_a_run() {
    let mut record = run(4);
    record.header.plan.stop.precision = 10.0;
    assert_eq!(stop(&record), None);
}

/// CPU is decided after three starts. p50 scatters by these shares.
fn with_latency(p50_scatter: &[f64], declared: u32) -> Option<ReasonToStop> {
    with_latency_from(1, p50_scatter, declared)
}

/// The same where the starts before the `first` have no latency.
fn with_latency_from(first: u32, p50_scatter: &[f64], declared: u32) -> Option<ReasonToStop> {
    let kinds = [SliceKind::Saturating, SliceKind::Poisson];
    let mut record = synthetic::run(&[baseline(), variant(LAYER, 0.8)], p50_scatter.len() as u32, &kinds);
    let stop = &mut record.header.plan.stop;
    stop.forks = Forks::UntilDecided { budget: Span::from_secs(300), at_least: 3, max_forks: Some(declared) };
    (stop.alpha, stop.half_width) = (0.05, 1.0);
    let of_layer = |slice: &&mut StoredSlice| slice.key.kind == SliceKind::Poisson && slice.key.variant == LAYER;
    for slice in record.slices.iter_mut().filter(of_layer) {
        let factor = 1.0 + p50_scatter[slice.key.fork as usize - 1];
        let mut response = LatencyHistogram::new();
        (0..2_000).for_each(|at| response.record_ns(((100_000 + at * 10) as f64 * factor) as u64));
        slice.load.response = (&response).into();
    }
    record.slices.retain(|slice| slice.key.kind != SliceKind::Poisson || slice.key.fork >= first);
    Looks::default().reasons_to_stop(&record).remove(0).reason_to_stop
}

#[test]
fn a_run_goes_on_until_as_many_starts_as_an_interval_needs_have_latency_where_enough_are_declared() {
    let settled = Some(ReasonToStop::Settled(StopReason::Decided));
    assert_eq!(with_latency_from(3, &[0.5, 0.51, 0.49], 5), None, "two more starts give three");
    assert_eq!(with_latency_from(3, &[0.5, 0.51, 0.49], 4), settled, "one more does not");
    assert_eq!(with_latency_from(3, &[0.5, 0.51, 0.49, 0.5, 0.5], 5), settled);
    assert_eq!(with_latency_from(4, &[0.5, 0.51, 0.49], 5), settled, "no start has latency, so nobody asks for it");
}

#[test]
fn a_run_goes_on_for_latency_only_while_its_declared_starts_can_decide_it() {
    let settled = Some(ReasonToStop::Settled(StopReason::Decided));
    assert_eq!(with_latency(&[0.5, 0.51, 0.49], 6), settled, "p50 and p99 are decided, too");
    assert_eq!(with_latency(&[0.05, 0.30, 0.16], 12), None, "some more starts would decide them");
    assert_eq!(with_latency(&[0.05, 0.30, 0.16], 4), settled, "one more start would not");
}

#[test]
fn a_void_comparison_needs_no_more_forks() {
    let mut record = run(2);
    record.events.push(EventRecord {
        variant: Some(LAYER.to_owned()),
        ..EventRecord::new(EventKind::NoAnswers { failure: String::new() })
    });
    assert_eq!(stop(&record), Some(ReasonToStop::Void));
}

#[test]
fn a_fixed_number_of_forks_is_never_cut_short() {
    let mut record = run(16);
    record.header.plan.stop.forks = Forks::Fixed { count: 40 };
    assert_eq!(stop(&record), None);
}

#[test]
fn looks_at_a_record_that_grows_say_what_the_first_look_at_it_would() {
    let (whole, mut looks) = (in_two_groups(run(6)), Looks::default());
    for forks in 1..=6 {
        let mut record = whole.clone();
        record.slices.retain(|slice| slice.key.fork <= forks);
        record.warmups.retain(|warmup| warmup.fork <= forks);
        record.forks.retain(|fork| fork.fork <= forks);
        assert_eq!(looks.reasons_to_stop(&record), Looks::default().reasons_to_stop(&record), "{forks} starts");
    }
}

#[test]
fn a_look_analyses_only_what_is_new_since_the_last_one() {
    let (mut record, mut looks) = (in_two_groups(run(16)), Looks::default());
    let last = record.slices.pop();
    let first = looks.reasons_to_stop(&record);
    // To show what is analysed again: it would be void.
    record.slices.iter_mut().for_each(|slice| slice.load.failed = slice.load.ok);
    assert_eq!(looks.reasons_to_stop(&record), first);
    record.slices.extend(last);
    let of_groups: Vec<Option<ReasonToStop>> =
        looks.reasons_to_stop(&record).into_iter().map(|state| state.reason_to_stop).collect();
    assert_eq!(of_groups, [first[0].reason_to_stop, Some(ReasonToStop::Void)]);
    record.events.push(EventRecord::new(EventKind::ServerRestarted));
    assert!(looks.reasons_to_stop(&record).iter().all(|state| state.reason_to_stop == Some(ReasonToStop::Void)));
}
