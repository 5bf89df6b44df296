//! How long the latency of servers is measured, and in which windows.

use tare_plan::plan::SliceKind;
use tare_record::PackedHistogram;
use tare_stats::histogram::LatencyHistogram;

use super::*;

/// Half of 10,000 requests per second, at most half a minute of latency, and enough rounds before it to see collections.
fn long_plan() -> Plan {
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.slices.latency = Span::from_secs(30);
    plan.slices.saturating = 20;
    plan
}

fn collects_each(requests: u64) -> Planted {
    Planted { requests_per_collection: Some(requests), ..Planted::default() }
}

/// Server, fork, round and seconds of each window, in the order in which they were driven.
fn windows(outcome: &Outcome) -> Vec<(String, u32, f64)> {
    let is_window = |load: &SliceLoad| load.phase == Phase::Measure && load.kind == SliceKind::Poisson;
    let of = |(variant, _, load): (String, String, SliceLoad)| (variant, load.round, load.length.as_secs_f64());
    outcome.driven().into_iter().filter(|(_, _, load)| is_window(load)).map(of).collect()
}

fn plan_text(outcome: &Outcome) -> (String, Option<String>) {
    let event = outcome.event(EventName::LatencyPlanned);
    (event.text.clone(), event.remedy.clone())
}

#[test]
fn latency_lasts_until_each_server_has_collected_five_times() {
    // At 5,000 requests per second, b collects every 2.5 s and a every second.
    let outcome = Simulation::new(long_plan()).plant("a", collects_each(5_000)).plant("b", collects_each(12_500)).run();
    let all = windows(&outcome);
    assert_eq!(all.len(), 2 * 2 * 4, "four windows of two servers in two forks");
    for (name, round, seconds) in &all {
        assert!((2.8..3.7).contains(seconds), "{name} {round}: {seconds} s of 11 to 14 s with heads");
    }
    assert!(all.chunks(2).all(|pair| pair[0].0 != pair[1].0 && pair[0].1 == pair[1].1), "servers alternate: {all:?}");
    let (text, remedy) = plan_text(&outcome);
    assert!(text.starts_with("4 × ") && text.contains("because b collects garbage every 2."), "{text}");
    assert_eq!(remedy, None);
    let planned = outcome.record.events.iter().filter(|event| event.kind.name() == EventName::LatencyPlanned);
    assert_eq!(planned.count(), 1, "the first fork fixes the windows for all");
}

#[test]
fn rounds_that_ctrl_c_cut_short_plan_no_windows() {
    let whole = Simulation::new(long_plan()).run();
    let planned = Duration::from_nanos(whole.event(EventName::LatencyPlanned).at_ns);
    let cut = Simulation::new(long_plan()).interrupt_at(planned - Duration::from_millis(1)).run();
    assert_eq!(cut.status, EndStatus::Interrupted);
    assert!(cut.record.events.iter().all(|event| event.kind.name() != EventName::LatencyPlanned));
}

/// The first fork in which a plan measures latency. Its windows last for 11 to 14 s, and a round for half a second.
fn first_fork_with_latency(change: impl Fn(&mut Plan)) -> Option<u32> {
    let mut plan = long_plan();
    plan.stop.forks = until(Some(5));
    plan.slices.saturating = 8;
    change(&mut plan);
    let open = |_: &RunRecord| vec![standing("g", "Get", "b", false)];
    let outcome = Simulation::new(plan).plant("b", collects_each(12_500)).run_with(&open);
    let of_latency = outcome.scored().filter(|slice| slice.key.kind == SliceKind::Poisson);
    of_latency.map(|slice| slice.key.fork).min()
}

fn until(max_forks: Option<u32>) -> Forks {
    Forks::UntilDecided { budget: Span::from_secs(600), at_least: 3, max_forks }
}

#[test]
fn forks_before_the_first_verdict_leave_out_a_latency_that_lasts_longer_than_the_rounds() {
    assert_eq!(first_fork_with_latency(|_| ()), Some(3));
    assert_eq!(first_fork_with_latency(|plan| plan.stop.forks = until(None)), Some(3));
    assert_eq!(first_fork_with_latency(|plan| plan.slices.saturating = 60), Some(1), "its time is not what delays");
    assert_eq!(first_fork_with_latency(|plan| plan.slices.saturating = 0), Some(1), "there is no other verdict");
    assert_eq!(first_fork_with_latency(|plan| plan.stop.forks = until(Some(4))), Some(1), "two are too few");
    assert_eq!(first_fork_with_latency(|plan| plan.stop.forks = Forks::Fixed { count: 3 }), Some(1));
    let limited = |limit: &str| first_fork_with_latency(|plan| plan.stop.limits = vec![limit.parse().unwrap()]);
    assert_eq!((limited("p99 > +10%"), limited("cpu > +3%")), (Some(1), Some(3)));
}

#[test]
fn latency_ends_at_the_longest_time_of_the_plan_and_says_what_would_be_better() {
    let outcome = Simulation::new(long_plan()).plant("b", collects_each(60_000)).run();
    assert!(windows(&outcome).iter().all(|(_, _, seconds)| (seconds - 3.0).abs() < 1e-9));
    let mut short = long_plan();
    short.slices.latency = Span::from_secs(5);
    let outcome = Simulation::new(short).plant("b", collects_each(12_500)).run();
    let spans: f64 = windows(&outcome).iter().filter(|(name, ..)| name == "a").map(|(_, _, seconds)| seconds).sum();
    assert!((spans - 10.0).abs() < 1e-6, "5 s in each of two forks");
    let (_, remedy) = plan_text(&outcome);
    assert!(remedy.as_deref().is_some_and(|remedy| remedy.contains("--latency 1")), "{remedy:?}");
}

#[test]
fn a_server_whose_runtime_tells_nothing_gets_enough_requests_for_its_percentiles() {
    let outcome = Simulation::new(long_plan()).run();
    assert_eq!(windows(&outcome).len(), 2 * 2 * 2);
    assert!(windows(&outcome).iter().all(|(_, _, seconds)| (seconds - 1.1).abs() < 1e-9));
    let (text, _) = plan_text(&outcome);
    assert!(text.contains("which is not known to collect garbage, gets 11,000 requests"), "{text}");
}

#[test]
fn a_plan_without_latency_has_no_open_load() {
    let mut plan = long_plan();
    plan.slices.latency = Span::default();
    let outcome = Simulation::new(plan).run();
    assert!(windows(&outcome).is_empty() && outcome.scored().count() > 0);
    assert!(outcome.record.events.iter().all(|event| event.kind.name() != EventName::LatencyPlanned));
}

#[test]
fn without_other_slices_the_warm_up_tells_how_often_a_server_collects() {
    let mut plan = long_plan();
    plan.slices.saturating = 0;
    let outcome = Simulation::new(plan).plant("b", collects_each(12_500)).run();
    assert!(plan_text(&outcome).0.contains("because b collects garbage every"), "{}", plan_text(&outcome).0);
}

#[test]
fn a_server_that_dies_in_its_first_window_leaves_the_others_theirs() {
    let mut plan = long_plan();
    plan.slices.saturating = 0;
    plan.stop.forks = Forks::Fixed { count: 1 };
    let dies = Planted { deaths: vec![(1, "Get")], ..Planted::default() };
    let outcome = Simulation::new(plan).plant("b", dies).run();
    let of = |wanted: &str| windows(&outcome).iter().filter(|(name, ..)| name == wanted).count();
    assert_eq!((of("a"), of("b")), (2, 1));
}

#[test]
fn a_resumed_run_keeps_the_windows_of_its_first_fork() {
    let simulation = || Simulation::new(long_plan()).plant("b", collects_each(12_500));
    let whole = simulation().run();
    let starts: Vec<u64> =
        whole.scored().filter(|slice| slice.key.fork == 2).map(|slice| slice.load.start_ns).collect();
    let begun = Duration::from_nanos(starts[0] + 1);
    let interrupted = simulation().interrupt_at(begun).run();
    // From here on b does not collect, so its windows would be planned shorter.
    let resumed = Simulation::new(long_plan()).resume(interrupted.record, &|_| Vec::new());
    let seconds = |outcome: &Outcome| windows(outcome).iter().map(|(_, _, seconds)| *seconds).fold(0.0, f64::max);
    assert!((seconds(&resumed) - seconds(&whole)).abs() < 1e-9, "{} and {}", seconds(&resumed), seconds(&whole));
}

fn stops(every_ms: u64, length_ms: u64, told: Told) -> Planted {
    let (every, length) = (Duration::from_millis(every_ms), Duration::from_millis(length_ms));
    Planted { stops: Some(PlantedStops { every, length, told }), ..Planted::default() }
}

/// Whole, met a stop, met a stall: of each window of b. The parts add up to the whole.
fn parts_of_b(outcome: &Outcome) -> Vec<Option<(u64, u64, u64)>> {
    let of_b = outcome.scored().filter(|slice| slice.key.kind == SliceKind::Poisson && slice.key.variant == "b");
    let unpacked = |packed: &PackedHistogram| {
        let mut histogram = LatencyHistogram::new();
        packed.merge_into(&mut histogram);
        histogram.len()
    };
    let parts = |slice: &StoredSlice| {
        let parts = slice.server.parts.as_ref()?;
        let (whole, stop, stall) =
            (unpacked(&slice.load.response), unpacked(&parts.met_stop), unpacked(&parts.met_stall));
        assert_eq!(stop + stall + unpacked(&parts.met_none), whole);
        Some((whole, stop, stall))
    };
    of_b.map(parts).collect()
}

#[test]
fn each_request_that_met_a_stop_or_waited_behind_one_is_counted_and_no_other() {
    for (every_ms, length_ms) in [(700, 20), (2_000, 13), (90, 1), (50, 30)] {
        let simulation = Simulation::new(long_plan()).plant("b", stops(every_ms, length_ms, Told::Each));
        let world = Rc::clone(&simulation.world);
        let outcome = simulation.run();
        let parts = parts_of_b(&outcome);
        let planted = world.borrow().met_stop.clone();
        assert!(parts.len() == 4 && planted.iter().sum::<u64>() > 0, "{planted:?}");
        for (found, planted) in parts.iter().zip(&planted) {
            let (whole, stopped, stalled) = found.unwrap();
            assert!(stopped.abs_diff(*planted) <= 1, "{stopped} of {whole}, planted {planted}, {length_ms} ms");
            assert_eq!(stalled, 0, "the generator was never late");
        }
    }
}

#[test]
fn a_log_that_cannot_be_understood_divides_nothing_and_is_reported_once() {
    let outcome = Simulation::new(long_plan()).plant("b", stops(700, 20, Told::Nonsense)).run();
    assert_eq!(parts_of_b(&outcome), [None; 4]);
    let unread = outcome.record.events.iter().filter(|event| event.kind.name() == EventName::StopsUnknown);
    assert_eq!(unread.count(), 1);
}

#[test]
fn a_server_that_tells_no_stops_is_not_divided() {
    let outcome = Simulation::new(long_plan()).run();
    assert_eq!(parts_of_b(&outcome), [None; 4]);
}

#[test]
fn stops_that_no_runtime_tells_are_seen_where_requests_waited_and_are_not_compared() {
    for length_ms in [5, 20, 60] {
        let planted = |length_ms| stops(700, length_ms, Told::Nothing);
        let simulation = Simulation::new(long_plan()).plant("a", planted(2)).plant("b", planted(length_ms));
        let world = Rc::clone(&simulation.world);
        let outcome = simulation.run();
        let met = world.borrow().met_stop.clone();
        let planted = windows(&outcome).into_iter().zip(met).filter(|((name, ..), _)| name == "b").map(|(_, met)| met);
        for (found, planted) in parts_of_b(&outcome).into_iter().zip(planted) {
            let (whole, stopped, _) = found.unwrap();
            assert!(stopped.abs_diff(planted) <= 40, "{stopped} of {whole}, planted {planted}, {length_ms} ms");
        }
        assert!(outcome.scored().all(|slice| slice.server.stops_are_seen == slice.server.parts.is_some()));
    }
}

#[test]
fn a_server_is_charged_with_the_time_of_its_stops() {
    let outcome = Simulation::new(long_plan())
        .plant("a", stops(700, 10, Told::Each))
        .plant("b", stops(700, 40, Told::Each))
        .run();
    let share = |server: &str| {
        let slices = outcome.scored().filter(|slice| slice.key.variant == server);
        let of = |slice: &StoredSlice| {
            (slice.server.runtime.as_ref().unwrap().safepoint_ns.unwrap(), slice.server.cpu.as_ref().unwrap().wall_ns)
        };
        let (stopped, wall) = slices.map(of).fold((0, 0), |(a, b), (stopped, wall)| (a + stopped, b + wall));
        stopped as f64 / wall as f64
    };
    assert!((share("a") - 10.0 / 700.0).abs() < 0.001 && (share("b") - 40.0 / 700.0).abs() < 0.004, "{}", share("b"));
}

/// Whether a load is the one that keeps the connections of a server that waits for its window.
fn keeps_connections(load: &SliceLoad) -> bool {
    (load.kind, load.phase, load.length) == (SliceKind::Saturating, Phase::Warmup, Duration::from_millis(1))
}

#[test]
fn servers_that_wait_for_their_window_get_a_request_on_each_connection() {
    let outcome = Simulation::new(plan(&["a", "b", "c"], &["Get"])).run();
    let driven = outcome.driven();
    let is_window = |load: &SliceLoad| load.phase == Phase::Measure && load.kind == SliceKind::Poisson;
    let windows: Vec<usize> = (0..driven.len()).filter(|at| is_window(&driven[*at].2)).collect();
    assert!(windows.len() >= 2 * 3 * 2, "two forks, three servers, two windows");
    for at in windows {
        let (measured, before) = (&driven[at].0, &driven[at - 2..at]);
        assert!(before.iter().all(|(name, _, load)| name != measured && keeps_connections(load)), "{before:?}");
        assert_ne!(before[0].0, before[1].0, "each of the others has one");
        assert!(before.iter().all(|(.., load)| load.users == driven[at].2.users), "{before:?}");
    }
    assert!(outcome.record.slices.iter().all(|slice| slice.load.window_ns > 1_000_000), "none is in the record");
}

#[test]
fn a_server_that_answers_slowly_is_left_alone_between_its_windows() {
    // 16 users have an answer each after 0.4 s.
    let slow = Planted { per_s: 40.0, ..Planted::default() };
    let outcome = Simulation::new(plan(&["a", "b"], &["Get"])).plant("b", slow).run();
    let kept = |wanted: &str| {
        outcome.driven().iter().filter(|(name, _, load)| name == wanted && keeps_connections(load)).count()
    };
    assert!(kept("a") > 0 && kept("b") == 0, "{} and {}", kept("a"), kept("b"));
}
