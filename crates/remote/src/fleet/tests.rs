//! Fleets with agents that break the protocol, fall silent or are lost.

use proptest::prelude::*;
use tare_stats::LatencyHistogram;

use super::*;
use crate::protocol::{Greeting, PackedSample, pack_sample};

const S: u64 = 1_000_000_000;

fn sample(ok: u64) -> SliceSample {
    let mut sample =
        SliceSample { window_ns: S, workers: 1, ok, offered: ok, sent: ok, completed: ok, ..Default::default() };
    sample.completed_in_slice = ok;
    (0..ok).for_each(|_| {
        sample.response.record_ns(1_000);
        sample.send_lag.record_ns(100);
    });
    sample
}

fn greeting(version: Version) -> Report {
    Report::Greeting(Greeting { version, host: "bench1".to_owned() })
}

fn sampled(ok: u64) -> Report {
    Report::Sample(pack_sample(sample(ok), 0))
}

fn answer(number: u64, answer: Answer) -> Report {
    Report::Answer { number, answer: Ok(answer) }
}

/// The end of the load of a fleet that runs.
fn done(ok: u64) -> Report {
    answer(2, Answer::Ended(LoadTotals { offered: ok, ok, completed: ok, ..LoadTotals::default() }))
}

fn fleet_of_one() -> Fleet {
    Fleet::new(["a".to_owned()], 0, 0)
}

/// A fleet that makes load since `S`, as its second task.
fn running(agents: usize) -> Fleet {
    let mut fleet = Fleet::new((1..=agents).map(|number| format!("agent {number}")), 0, 0);
    for agent in 0..agents {
        fleet.process_report(agent, greeting(Version::own()), 1);
        assert_eq!(fleet.note_task(agent, true), 1);
        fleet.process_report(agent, answer(1, Answer::Done), 2);
        assert!(matches!(fleet.take_answer(agent), Some(Answered { answer: Ok(Answer::Done), received_ns: 2 })));
        assert_eq!(fleet.note_task(agent, true), 2);
        fleet.process_report(agent, Report::Ready, 3);
    }
    fleet.begin(S, S);
    fleet
}

fn reason(fleet: &Fleet, agent: usize) -> String {
    match &fleet.agents()[agent].phase {
        AgentPhase::Lost { reason, .. } => reason.clone(),
        phase => panic!("agent {agent} is {phase:?}"),
    }
}

#[test]
fn agents_that_do_their_work_finish_and_their_counts_add_up() {
    let mut fleet = running(2);
    fleet.process_report(0, sampled(3), 2 * S);
    assert_eq!(fleet.next_round(), None);
    fleet.process_report(1, sampled(4), 2 * S);
    assert_eq!(fleet.next_round().unwrap().ok, 7);
    fleet.process_report(0, done(3), 3 * S);
    fleet.process_report(1, done(4), 3 * S);
    assert!(fleet.is_over() && fleet.remaining() == 2);
    assert_eq!(fleet.agents().iter().map(|agent| agent.record.ok).sum::<u64>(), 7);
}

#[test]
fn a_round_waits_for_every_agent_that_goes_on() {
    let mut fleet = running(3);
    for (agent, ok) in [(0, 1), (0, 2), (1, 4)] {
        fleet.process_report(agent, sampled(ok), 3 * S);
    }
    assert_eq!(fleet.next_round(), None, "agent 3 owes its first sample");
    fleet.mark_lost(2, "killed", 3 * S);
    assert_eq!(fleet.next_round().unwrap().ok, 5);
    assert_eq!(fleet.next_round(), None, "agent 2 owes its second sample");
    fleet.process_report(1, done(4), 3 * S);
    assert_eq!(fleet.next_round().unwrap().ok, 2, "agent 1 goes on alone");
    fleet.process_report(0, done(3), 3 * S);
    assert_eq!(fleet.next_round(), None, "no sample is left");
}

#[test]
fn workers_add_up_and_windows_do_not() {
    let mut fleet = running(2);
    (0..2).for_each(|agent| fleet.process_report(agent, sampled(2), 2 * S));
    let round = fleet.next_round().unwrap();
    assert_eq!((round.window_ns, round.workers, round.ok), (S, 2, 4));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn percentiles_of_the_merged_are_those_of_the_union(
        agents in prop::collection::vec(prop::collection::vec(1..60_000_000_000_u64, 0..60), 1..6)
    ) {
        let mut fleet = running(agents.len());
        let mut union = LatencyHistogram::new();
        for (agent, times_ns) in fleet.agents.iter_mut().zip(&agents) {
            // Two periods of each agent.
            let (first, second) = times_ns.split_at(times_ns.len() / 2);
            for times_ns in [first, second] {
                let mut sample = SliceSample { ok: times_ns.len() as u64, ..SliceSample::default() };
                times_ns.iter().for_each(|ns| sample.response.record_ns(*ns));
                agent.samples.push_back(sample.pack());
            }
            times_ns.iter().for_each(|ns| union.record_ns(*ns));
        }
        let mut merged = fleet.next_round().unwrap();
        merged.append(&fleet.next_round().unwrap());
        prop_assert_eq!(&merged.response, &union);
        prop_assert_eq!(merged.ok, union.len());
        for quantile in [0.0, 0.5, 0.9, 0.99, 0.999, 1.0] {
            prop_assert_eq!(merged.response.value_at_quantile_ns(quantile), union.value_at_quantile_ns(quantile));
        }
    }
}

#[test]
fn what_a_lost_agent_had_reported_stays_and_the_others_go_on() {
    let mut fleet = running(3);
    (0..3).for_each(|agent| fleet.process_report(agent, sampled(5), 2 * S));
    fleet.process_report(2, sampled(1), 2 * S + 1);
    fleet.mark_lost(2, "ssh ended with code 255\nkilled", 2 * S + 2);
    assert_eq!(reason(&fleet, 2), "ssh ended with code 255 killed", "a reason is one line");
    assert_eq!(fleet.next_round().unwrap().ok, 15);
    (0..2).for_each(|agent| fleet.process_report(agent, sampled(5), 3 * S));
    assert_eq!(fleet.next_round().unwrap().ok, 11, "its last sample counts in the period that it is of");
    fleet.process_report(2, sampled(9), 3 * S);
    (0..2).for_each(|agent| fleet.process_report(agent, done(10), 4 * S));
    assert_eq!((fleet.remaining(), fleet.is_over(), fleet.next_round()), (2, true, None));
    assert_eq!(fleet.agents()[2].record.ok, 6);
}

#[test]
fn an_agent_that_goes_after_its_load_is_no_loss() {
    let mut fleet = running(2);
    fleet.process_report(0, sampled(3), 2 * S);
    fleet.process_report(0, done(3), 2 * S);
    (0..2).for_each(|agent| fleet.mark_lost(agent, "its process ended", 3 * S));
    assert_eq!(fleet.agents()[0].loss(), None);
    assert_eq!(fleet.agents()[1].loss(), Some(("its process ended", 3 * S)));
    assert_eq!((fleet.remaining(), fleet.is_over()), (1, true));
}

#[test]
fn an_agent_with_more_samples_than_periods_is_lost() {
    let mut fleet = running(2);
    // In one second, with four to spare.
    (0..5).for_each(|_| fleet.process_report(0, sampled(1), 2 * S));
    assert_eq!(fleet.remaining(), 2, "{:?}", fleet.agents()[0].phase);
    (0..100).for_each(|_| fleet.process_report(0, sampled(1), 2 * S));
    assert_eq!(reason(&fleet, 0), "a sample that cannot be true: more samples came than periods have ended");
    assert_eq!((fleet.agents()[0].record.ok, fleet.agents()[0].reported_ns), (5, 5 * S));
}

#[test]
fn an_agent_whose_clock_runs_a_little_faster_is_kept_however_long_the_load_lasts() {
    let mut fleet = running(1);
    fleet.agents[0].reported_ns = 100_005 * S;
    fleet.process_report(0, sampled(1), 100_001 * S);
    assert_eq!((fleet.remaining(), fleet.agents()[0].reported_ns), (1, 100_006 * S), "{:?}", fleet.agents()[0].phase);
    fleet.agents[0].reported_ns = 101_005 * S;
    fleet.process_report(0, sampled(1), 100_001 * S);
    assert!(reason(&fleet, 0).contains("more samples came than periods have ended"));
}

#[test]
fn an_agent_that_hangs_is_lost_and_one_that_is_only_slow_is_not() {
    let mut fleet = running(2);
    fleet.process_report(0, Report::Clock(ClockReading::default()), 10 * S);
    fleet.mark_silent_lost(11 * S);
    assert_eq!(fleet.remaining(), 1, "agent 2 was heard last at 0 s");
    assert_eq!(reason(&fleet, 1), "it sent nothing for 10 s");
    fleet.mark_silent_lost(20 * S);
    assert_eq!(fleet.remaining(), 1, "agent 1 answers pings");
    fleet.process_report(0, Report::Clock(ClockReading::default()), 31 * S);
    fleet.mark_silent_lost(31 * S + 1);
    assert_eq!(reason(&fleet, 0), "it sent nothing for 30 s", "it answers pings and sends no sample");
}

#[test]
fn an_agent_that_answers_pings_and_never_a_task_is_lost_unless_that_may_last() {
    let mut fleet = Fleet::new(["a".to_owned(), "b".to_owned(), "c".to_owned()], 0, 0);
    (0..3).for_each(|agent| fleet.process_report(agent, greeting(Version::own()), 1));
    (0..2).for_each(|agent| assert_eq!(fleet.note_task(agent, true), 1));
    let after = |fleet: &mut Fleet, now_ns: u64| {
        (0..3).for_each(|agent| fleet.process_report(agent, Report::Clock(ClockReading::default()), now_ns));
        fleet.mark_silent_lost(now_ns);
        fleet.remaining()
    };
    assert_eq!(after(&mut fleet, 7_200 * S), 3, "nobody knows when they end");
    fleet.expect_answers(8_000 * S);
    (0..1_800).for_each(|second| fleet.expect_answers((7_200 + second) * S));
    assert_eq!(after(&mut fleet, 9_000 * S), 3);
    assert_eq!(fleet.note_task(1, true), 2, "another task, which may last");
    assert_eq!(after(&mut fleet, 9_001 * S), 2);
    assert_eq!(reason(&fleet, 0), "it answers pings, and its task is 30 min overdue; see what holds it up there");
    assert_eq!(after(&mut fleet, 20_000 * S), 2, "the third has nothing to do");
}

#[test]
fn an_agent_that_never_says_a_word_is_lost_after_a_longer_time() {
    let mut fleet = fleet_of_one();
    fleet.mark_silent_lost(29 * S);
    assert_eq!(fleet.remaining(), 1);
    fleet.mark_silent_lost(31 * S);
    assert_eq!(fleet.remaining(), 0);
}

#[test]
fn an_agent_of_another_version_is_named_with_it() {
    let mut fleet = fleet_of_one();
    fleet.process_report(0, greeting(Version { protocol: 9, tare: "0.2.0".to_owned() }), 1);
    let why = reason(&fleet, 0);
    let says = format!("it speaks protocol 9 of tare 0.2.0, and this is {};", Version::own());
    assert!(why.contains(&says), "{why}");
}

#[test]
fn another_version_of_the_same_protocol_is_refused() {
    let mut fleet = fleet_of_one();
    fleet.process_report(0, greeting(Version { tare: "0.2.0".to_owned(), ..Version::own() }), 1);
    let why = reason(&fleet, 0);
    assert!(why.contains("of tare 0.2.0") && why.ends_with("use the same version of tare on both sides"), "{why}");
}

#[test]
fn reports_at_the_wrong_time_and_untrue_ones_end_an_agent() {
    let untrue: PackedSample =
        serde_json::from_str(&format!(r#"{{"counters": {{"ok": 5}}, "histograms": [{}]}}"#, ["\"\""; 6].join(", ")))
            .unwrap();
    let failed = |reason: &str| Report::Answer { number: 2, answer: Err(reason.to_owned()) };
    for (bad, says) in [
        (greeting(Version::own()), "a report at the wrong time"),
        (answer(3, Answer::Done), "a report at the wrong time"),
        (answer(2, Answer::Done), "an answer at the wrong time"),
        (Report::Sample(untrue), "0 requests offered contradict 5 that ended"),
        (done(8), "add up to 0 answers, and it states 8"),
        (failed("a worker died"), "a worker died"),
        (Report::Failed("no file descriptor is left".to_owned()), "no file descriptor"),
    ] {
        let mut fleet = running(1);
        fleet.process_report(0, answer(1, Answer::Done), 2 * S);
        assert_eq!(fleet.remaining(), 1, "nobody waits for an earlier answer");
        fleet.process_report(0, bad, 2 * S);
        assert!(reason(&fleet, 0).contains(says), "{says}: {}", reason(&fleet, 0));
    }
}

#[test]
fn an_agent_that_is_stopped_before_the_start_ends_without_a_sample() {
    let mut fleet = fleet_of_one();
    fleet.process_report(0, greeting(Version::own()), 1);
    assert_eq!([fleet.note_task(0, true), fleet.note_task(0, true)], [1, 2]);
    fleet.process_report(0, Report::Ready, 3);
    fleet.process_report(0, done(0), 4);
    fleet.begin(S, S);
    assert_eq!((fleet.is_over(), fleet.remaining(), fleet.next_round()), (true, 1, None));
}

#[test]
fn silence_counts_from_when_somebody_listens() {
    let mut fleet = fleet_of_one();
    fleet.process_report(0, greeting(Version::own()), S);
    fleet.begin_to_listen(100 * S);
    fleet.mark_silent_lost(109 * S);
    assert_eq!(fleet.remaining(), 1);
    // It waited for long to be read.
    fleet.process_report(0, Report::Clock(ClockReading::default()), 2 * S);
    fleet.mark_silent_lost(110 * S);
    assert_eq!(fleet.remaining(), 1);
    fleet.mark_silent_lost(111 * S);
    assert_eq!(reason(&fleet, 0), "it sent nothing for 11 s");
}

#[test]
fn the_offset_is_that_of_the_closest_ping_before_the_start() {
    let mut fleet = fleet_of_one();
    let reading = |number, ns| Report::Clock(ClockReading { number, monotonic_ns: 3 * S + ns, unix_ns: 3 * S + ns });
    for (number, sent_ns, answered_ns) in [(1, 1_000, 9_000), (2, 20_000, 20_200), (3, 30_000, 39_000)] {
        fleet.note_ping(0, number, sent_ns);
        assert!(fleet.agents()[0].awaits_answer());
        fleet.process_report(0, reading(number + 7, 0), sent_ns + 1);
        fleet.process_report(0, reading(number, u64::midpoint(sent_ns, answered_ns)), answered_ns);
        assert!(!fleet.agents()[0].awaits_answer());
    }
    let offset = fleet.agents()[0].offset.unwrap();
    assert_eq!((offset.round_trip_ns, offset.monotonic_ns), (200, 3 * S as i64), "the clock is 3 s off");
}
