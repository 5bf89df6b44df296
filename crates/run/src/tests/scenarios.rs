//! What happens in one scenario: rates, rounds, searches, pushes, profiles; and sequential runs.

use tare_plan::Engine;
use tare_plan::plan::SliceKind;
use tare_plan::profile::{Profile, ProfileEvent};
use tare_plan::slo::{LoadBy, Slo};
use tare_plan::turn::TurnLength;
use tare_record::curve::replay_tries;

use super::*;

#[test]
fn the_first_fork_fixes_the_rate_for_all() {
    // The slowest server answers 10,000 per second; a later start of it is faster.
    let outcome = Simulation::new(plan(&["a", "b"], &["Get"]))
        .plant("a", Planted { per_s: 19_990.0, ..Planted::default() })
        .plant("b", Planted { per_s: 9_990.0, ..Planted::default() })
        .run();
    let rates: Vec<f64> = outcome.scored().filter_map(|slice| slice.key.offered_per_s).collect();
    assert_eq!(rates.len(), 8, "two windows of latency of each server in each fork");
    assert!(rates.iter().all(|rate| (rate - 4900.0).abs() < 1e-9), "{rates:?}");
}

#[test]
fn a_rate_that_no_server_of_the_first_fork_shows_is_fixed_by_the_next() {
    let slow_first = Planted { lying_starts: vec![1], per_s: 2_000.0, ..Planted::default() };
    let outcome = Simulation::new(plan(&["a", "b", "c"], &["Get"])).plant("c", slow_first).run();
    let rates: Vec<f64> = outcome.scored().filter_map(|slice| slice.key.offered_per_s).collect();
    assert!(rates.iter().all(|rate| (rate - 5000.0).abs() < 1e-9), "c was no part of fork 1: {rates:?}");
}

#[test]
fn slow_responses_get_more_rounds_in_every_start() {
    let rounds = |per_s| {
        let mut plan = plan(&["a", "b"], &["Get"]);
        plan.load.users = 1;
        plan.slices.length = Span::from_secs(1);
        let outcome = Simulation::new(plan).plant("b", Planted { per_s, ..Planted::default() }).run();
        let kept = |fork| {
            let is_it = |slice: &&StoredSlice| {
                slice.key.kind == SliceKind::Saturating && slice.key.fork == fork && slice.key.variant == "a"
            };
            outcome.scored().filter(is_it).count()
        };
        assert_eq!(kept(1), kept(2), "the first start fixes it for all");
        kept(1)
    };
    assert_eq!(rounds(10_000.0), 2);
    assert_eq!(rounds(200.0), 4, "750 responses at 200 per second");
    assert_eq!(rounds(20.0), 8, "and no more than four times as many rounds as the plan says");
}

#[test]
fn all_servers_of_a_round_get_the_same_arrivals_and_each_round_has_its_own() {
    let outcome = Simulation::new(plan(&["a", "b"], &["Get"])).run();
    let mut seeds: BTreeMap<(SliceKind, u32, String), Vec<u64>> = BTreeMap::new();
    for (variant, _, load) in outcome.driven() {
        if load.phase == Phase::Measure && load.kind == SliceKind::Saturating {
            seeds.entry((load.kind, load.round, variant)).or_default().push(load.seed);
        }
    }
    let of = |round, name: &str| seeds[&(SliceKind::Saturating, round, name.to_owned())].clone();
    assert_eq!(of(0, "a"), of(0, "b"));
    assert_ne!(of(0, "a"), of(1, "a"));
    assert_ne!(of(0, "a")[0], of(0, "a")[1], "another fork has other arrivals");
}

#[test]
fn each_line_of_progress_has_the_rate_of_its_own_server_and_kind_or_none() {
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.stop.forks = Forks::Fixed { count: 1 };
    let outcome = Simulation::new(plan)
        .plant("a", Planted { per_s: 3_000.0, ..Planted::default() })
        .plant("b", Planted { per_s: 8_000.0, ..Planted::default() })
        .run();
    let mut seen: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (variant, kind, rate) in &outcome.announced {
        let before = seen.entry((variant.clone(), kind.clone())).or_default();
        let own = if variant == "a" { "3.00 k/s" } else { "8.00 k/s" };
        match rate {
            None => assert_eq!(*before, 0, "{variant} {kind}: its last slice has a rate"),
            Some(rate) => {
                // Half of what the slower one answers.
                let asked = if kind == "latency" { "1.50 k/s" } else { own };
                assert_eq!((*before, rate.as_str()), (1, asked), "{variant} {kind}");
            }
        }
        *before += 1;
    }
    assert_eq!(outcome.announced.len(), 8);
}

#[test]
fn one_watch_surrounds_each_scored_slice_and_each_round_of_the_warm_up() {
    let outcome = Simulation::new(plan(&["a", "b"], &["Get"])).run();
    let scored = outcome.driven().iter().filter(|(_, _, load)| load.phase == Phase::Measure).count();
    assert!(scored > 0 && outcome.acted(&Action::BeginWatch(1)) >= scored);
    assert!(outcome.acted(&Action::BeginWatch(2)) >= 8, "both servers are watched while one of them gets load");
    for slice in &outcome.record.slices {
        let cpu = slice.server.cpu.as_ref().unwrap();
        assert!(cpu.requests > 0 && cpu.total_ns == cpu.requests * 10_000);
    }
}

/// Two rounds of 480 ms a server, in turns of 20 ms: each round has two parts of 12 turns.
fn alternating_plan() -> Plan {
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.slices.length = Span::from_millis(480);
    plan.slices.turn = TurnLength::Auto;
    plan.slices.latency = Span::default();
    plan.stop.forks = Forks::Fixed { count: 1 };
    plan
}

fn turns_of(outcome: &Outcome, round: u32) -> Vec<String> {
    let driven = outcome.driven().into_iter();
    driven.filter(|(_, _, load)| load.phase == Phase::Measure && load.round == round).map(|(name, _, _)| name).collect()
}

#[test]
fn servers_alternate_in_short_turns_that_add_up_to_one_slice_each_per_part() {
    let outcome = Simulation::new(alternating_plan()).run();
    assert_eq!(["a", "b"].map(|name| outcome.count("Get", name)), [4, 4], "one slice of each server in each part");
    for slice in outcome.scored() {
        assert_eq!(slice.load.window_ns, 12 * 16_000_000, "12 turns without their heads");
        assert!((slice.load.throughput_per_s() - 10_000.0).abs() < 1.0);
        let cpu = slice.server.cpu.as_ref().unwrap();
        assert_eq!((cpu.requests, cpu.total_ns), (2_400, 24_000_000), "CPU counts over whole turns");
    }
    let turns = turns_of(&outcome, 0);
    assert_eq!(turns.len(), 24);
    assert!(turns.chunks(2).all(|turn| turn[0] != turn[1]), "each turn has both servers");
    let first: Vec<&String> = turns.chunks(2).map(|turn| &turn[0]).collect();
    assert!(first.iter().any(|name| **name == "a") && first.iter().any(|name| **name == "b"), "in random order");
    assert_ne!(turns, turns_of(&outcome, 1), "each part has its own order");
}

#[test]
fn a_server_that_dies_between_turns_gets_no_more_of_them_and_the_other_goes_on() {
    let outcome = Simulation::new(alternating_plan())
        .plant("b", Planted { deaths: vec![(1, "Get")], ..Planted::default() })
        .run();
    let turns = [0, 1, 2, 3].map(|part| turns_of(&outcome, part)).concat();
    let of = |name: &str| turns.iter().filter(|turn| *turn == name).count();
    assert_eq!((of("a"), of("b")), (48, 1));
    assert_eq!(outcome.count("Get", "a"), 4);
    assert!(outcome.record.events.iter().any(|event| event.voids && event.variant.as_deref() == Some("b")));
}

#[test]
fn a_round_of_turns_that_is_interrupted_is_not_kept() {
    let whole = Simulation::new(alternating_plan()).run();
    let second = whole.scored().nth(2).unwrap();
    let within = Duration::from_nanos(second.load.start_ns + second.load.window_ns / 2);
    let outcome = Simulation::new(alternating_plan()).interrupt_at(within).run();
    assert_eq!(outcome.status, EndStatus::Interrupted);
    assert_eq!(outcome.scored().count(), 2, "the first part stands");
}

#[test]
fn the_first_fork_fixes_the_length_of_turns() {
    let mut plan = alternating_plan();
    plan.stop.forks = Forks::Fixed { count: 2 };
    plan.slices.length = Span::from_secs(1);
    // 16 users at 160 per second drain in 100 ms.
    let outcome = Simulation::new(plan).plant("b", Planted { per_s: 160.0, ..Planted::default() }).run();
    let windows: Vec<u64> = outcome.scored().map(|slice| slice.load.window_ns / 1_000_000).collect();
    // Five rounds, because two have 320 responses.
    assert_eq!(windows, [720; 20], "three turns of 300 ms without their heads");
}

#[test]
fn what_other_programs_use_is_recorded_with_each_slice() {
    let outcome = Simulation::new(plan(&["a", "b"], &["Get"]))
        .plant("b", Planted { others_share: 0.2, ..Planted::default() })
        .run();
    let share =
        |name: &str| outcome.scored().find(|slice| slice.key.variant == name).unwrap().server.others_share.unwrap();
    assert!(share("a").abs() < 1e-12 && (share("b") - 0.2).abs() < 1e-12);
}

fn slo(by: LoadBy) -> Slo {
    let each = Span::from_secs(2);
    Slo { curve: "p99<10ms".parse().unwrap(), by, most_users: 4_000, most_per_s: 100_000.0, each }
}

#[test]
fn a_search_finds_the_planted_capacity_of_each_server() {
    for by in [LoadBy::Rate, LoadBy::Users] {
        let mut plan = plan(&["a", "b"], &["Get"]);
        plan.slo = Some(slo(by));
        plan.stop.forks = Forks::Fixed { count: 1 };
        let outcome = Simulation::new(plan)
            .plant("a", Planted { per_s: 7_300.0, quick_users: 730, ..Planted::default() })
            .plant("b", Planted { per_s: 1_100.0, quick_users: 110, ..Planted::default() })
            .run();
        for (name, per_s, users) in [("a", 7_300.0, 730.0), ("b", 1_100.0, 110.0)] {
            let found = replay_tries(&slo(by), by, outcome.scored().filter(|slice| slice.key.variant == name)).unwrap();
            let planted = if by == LoadBy::Rate { per_s } else { users };
            let (sustained, broken) = (found.sustained.unwrap(), found.broken.unwrap());
            assert!(sustained <= planted && planted < broken, "{name} by {by:?}: {found:?}");
            assert!(broken <= sustained * 1.05 + 1.0, "{name} by {by:?}: {found:?}");
        }
        assert!(outcome.scored().all(|slice| slice.key.kind == SliceKind::Capacity), "no rounds beside the search");
    }
}

#[test]
fn no_server_is_always_the_first_to_be_tried() {
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.slo = Some(slo(LoadBy::Rate));
    plan.stop.forks = Forks::Fixed { count: 16 };
    let outcome = Simulation::new(plan).run();
    let is_first_round = |slice: &&StoredSlice| slice.key.round == 0;
    let tried: Vec<&str> = outcome.scored().filter(is_first_round).map(|slice| slice.key.variant.as_str()).collect();
    assert_eq!(tried.len(), 32, "one try each in 16 forks");
    let first = tried.chunks(2).filter(|pair| pair[0] == "a").count();
    assert!((3..=13).contains(&first), "a comes first in {first} of 16 forks");
}

#[test]
fn a_search_tries_no_fewer_users_than_the_generator_has_workers_and_records_what_it_drove() {
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.slo = Some(slo(LoadBy::Users));
    plan.stop.forks = Forks::Fixed { count: 1 };
    let planted = |quick_users| Planted { quick_users, ..Planted::default() };
    let outcome = Simulation::new(plan).with_workers(64).plant("a", planted(3)).plant("b", planted(100)).run();
    let tries = |name: &'static str| outcome.scored().filter(move |slice| slice.key.variant == name);
    let found = |name| replay_tries(&slo(LoadBy::Users), LoadBy::Users, tries(name)).unwrap();
    assert_eq!(tries("a").map(|slice| slice.key.users).collect::<Vec<_>>(), [64, 64], "fewer cannot be driven");
    assert_eq!((found("a").sustained, found("a").broken), (None, Some(64.0)));
    assert!(found("b").sustained.unwrap() <= 100.0 && found("b").broken.unwrap() > 100.0);
    let driven = outcome.driven().into_iter().filter(|(_, _, load)| load.phase == Phase::Measure);
    let driven: Vec<u32> = driven.map(|(_, _, load)| load.users).collect();
    assert_eq!(driven, outcome.scored().map(|slice| slice.key.users).collect::<Vec<_>>());
}

#[test]
fn a_search_among_few_users_warms_up_with_no_more_than_there_are_connections() {
    for mut plan in [plan(&["a", "b"], &["Get"]), push_plan()] {
        plan.slo = Some(Slo { most_users: 10, ..slo(LoadBy::Users) });
        plan.stop.forks = Forks::Fixed { count: 1 };
        let outcome = Simulation::new(plan).run();
        assert!(outcome.record.slices.iter().all(|slice| slice.key.users <= 10), "the plan has 16 users");
    }
}

#[test]
fn a_server_that_dies_in_its_search_does_not_end_the_others() {
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.slo = Some(slo(LoadBy::Rate));
    plan.stop.forks = Forks::Fixed { count: 1 };
    let outcome = Simulation::new(plan)
        .plant("a", Planted { per_s: 7_300.0, ..Planted::default() })
        .plant("b", Planted { deaths: vec![(1, "Get")], ..Planted::default() })
        .run();
    assert_eq!(outcome.count("Get", "b"), 1);
    let found =
        replay_tries(&slo(LoadBy::Rate), LoadBy::Rate, outcome.scored().filter(|slice| slice.key.variant == "a"))
            .unwrap();
    assert!(found.sustained.is_some() && found.broken.is_some());
}

fn push_plan() -> Plan {
    let mut plan = plan(&["a", "b"], &["Get"]);
    let push = Push { period: Span::from_millis(100), messages: 20 };
    plan.groups[0].scenarios = vec![scenario("Push", Some(push))];
    plan
}

#[test]
fn pushes_warm_up_each_server_for_the_cap_and_then_take_turns() {
    let outcome = Simulation::new(push_plan()).run();
    assert_eq!(["a", "b"].map(|name| outcome.count("Push", name)), [4, 4], "two rounds in each of two forks");
    assert!(outcome.record.slices.iter().all(|slice| slice.key.kind == SliceKind::Push && slice.key.users == 16));
    assert!(outcome.record.warmups.iter().all(|w| w.steady && w.span_ns == 20_000_000_000));
    let scored: Vec<&StoredSlice> = outcome.scored().collect();
    assert!(
        scored
            .chunks(2)
            .all(|round| round[0].key.variant != round[1].key.variant && round[0].key.round == round[1].key.round)
    );
}

#[test]
fn a_search_of_pushes_grows_listeners() {
    let mut plan = push_plan();
    plan.slo = Some(slo(LoadBy::Rate));
    plan.stop.forks = Forks::Fixed { count: 1 };
    let planted = Planted { quick_users: 500, ..Planted::default() };
    let outcome = Simulation::new(plan).plant("a", planted.clone()).plant("b", planted).run();
    let found =
        replay_tries(&slo(LoadBy::Rate), LoadBy::Users, outcome.scored().filter(|slice| slice.key.variant == "a"))
            .unwrap();
    assert!(found.sustained.unwrap() <= 500.0 && found.broken.unwrap() > 500.0, "{found:?}");
}

#[test]
fn profiles_are_taken_of_each_event_and_server_at_one_rate_and_nothing_is_scored() {
    let events = vec![ProfileEvent::Cpu, ProfileEvent::Wall];
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.profile = Some(Profile { events, forks: 1, span: Span::from_secs(5), focus: String::new() });
    // The scored starts search for a capacity.
    plan.slo = Some(slo(LoadBy::Rate));
    let outcome = Simulation::new(plan.profiling().unwrap()).run();
    let mut profiles: Vec<(String, ProfileEvent)> =
        outcome.record.profiles.iter().map(|profile| (profile.variant.clone(), profile.event)).collect();
    profiles.sort();
    let expected = [("a", ProfileEvent::Cpu), ("a", ProfileEvent::Wall), ("b", ProfileEvent::Cpu)];
    assert_eq!(profiles[..3], expected.map(|(name, event)| (name.to_owned(), event)));
    assert_eq!(profiles.len(), 4);
    assert!(outcome.record.profiles.iter().all(|profile| (profile.offered_per_s - 5_000.0).abs() < 1e-9));
    assert_eq!(outcome.scored().count(), 0);
    let mut settling = outcome.driven().into_iter().filter(|(_, _, load)| load.round == u32::MAX);
    assert!(settling.all(|(_, _, load)| load.length == SECOND * 2), "what can be done is shown sooner than a profile");
}

fn sequential_plan() -> Plan {
    let mut plan = plan(&["a", "b"], &["Get", "Post"]);
    plan.mode = Mode::Sequential;
    plan.warmup = Warmup::Fixed { span: Span::from_secs(3), users: 8 };
    plan
}

#[test]
fn a_sequential_run_starts_a_fresh_server_for_each_cell() {
    let outcome = Simulation::new(Plan { engines: vec![Engine::Wrk], ..sequential_plan() }).run();
    assert_eq!(outcome.status, EndStatus::Complete);
    let mut cells: Vec<(&str, &str)> =
        outcome.scored().map(|slice| (slice.key.scenario.as_str(), slice.key.variant.as_str())).collect();
    cells.dedup();
    assert_eq!(cells, [("Get", "a"), ("Get", "b"), ("Post", "a"), ("Post", "b")]);
    assert_eq!(outcome.acted(&Action::Start("a".to_owned())), 2);
    assert_eq!(outcome.scored().count(), 8, "two slices of each cell, none of them open");
    assert!(outcome.record.warmups.iter().all(|warmup| warmup.steady && warmup.span_ns == 3_000_000_000));
    assert_eq!(outcome.record.cross_checks.len(), 4);
    let at = |wanted: &Action| outcome.actions.iter().position(|action| action == wanted).unwrap();
    let (closed, checked) = (at(&Action::CloseSessions), at(&Action::CrossCheck("a".to_owned())));
    assert!(closed < checked, "our connections are closed before another tool opens its own");
}

#[test]
fn a_sequential_run_goes_on_after_a_server_that_dies_and_does_not_cross_check_it() {
    let plan = Plan { engines: vec![Engine::Wrk], ..sequential_plan() };
    let dies = Planted { deaths: vec![(1, "Get")], ..Planted::default() };
    let outcome = Simulation::new(plan).plant("a", dies).run();
    assert_eq!([("Get", "a"), ("Get", "b"), ("Post", "a")].map(|(s, v)| outcome.count(s, v)), [1, 2, 2]);
    assert_eq!(outcome.record.cross_checks.len(), 3);
}

#[test]
fn a_cross_check_that_is_interrupted_has_not_failed() {
    let simulation = || Simulation::new(Plan { engines: vec![Engine::Wrk], ..sequential_plan() });
    let (_, ends_ns) = simulation().run().record.end.unwrap();
    let cut = simulation().interrupt_at(Duration::from_nanos(ends_ns - 1)).run();
    assert_eq!((cut.status, cut.record.cross_checks.len()), (EndStatus::Interrupted, 3));
}

#[test]
fn a_sequential_run_that_is_interrupted_keeps_its_last_slice() {
    let whole = Simulation::new(sequential_plan()).run();
    let second = whole.scored().nth(1).unwrap();
    let within = Duration::from_nanos(second.load.window_start_ns() + second.load.window_ns / 2);
    let outcome = Simulation::new(sequential_plan()).interrupt_at(within).run();
    assert_eq!(outcome.status, EndStatus::Interrupted);
    assert_eq!(outcome.scored().count(), 2, "it is paired with no other");
}

#[test]
fn a_planned_rate_is_driven_as_it_stands() {
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.load.rate = Rate::PerSecond { per_s: 1_234.0 };
    let outcome = Simulation::new(plan).run();
    let rates: Vec<f64> = outcome.scored().filter_map(|slice| slice.key.offered_per_s).collect();
    assert_eq!(rates, [1_234.0; 8]);
}

#[test]
fn a_fork_has_as_many_slices_of_each_kind_as_the_plan_says() {
    for (saturating, fixed) in [(1, 0), (3, 2), (0, 1)] {
        let mut plan = plan(&["a", "b"], &["Get"]);
        plan.slices = Slices { saturating, fixed, latency: Span::default(), ..plan.slices };
        plan.stop.forks = Forks::Fixed { count: 1 };
        let outcome = Simulation::new(plan).run();
        for (kind, count) in [(SliceKind::Saturating, saturating), (SliceKind::Fixed, fixed)] {
            for name in ["a", "b"] {
                let of = |slice: &&StoredSlice| slice.key.kind == kind && slice.key.variant == name;
                let mut rounds: Vec<u32> = outcome.scored().filter(of).map(|slice| slice.key.round).collect();
                rounds.sort_unstable();
                assert_eq!(rounds, (0..count).collect::<Vec<_>>(), "{kind:?} of {name}");
            }
        }
    }
}
