//! What happens before anything is measured.

use tare_plan::plan::SliceKind;

use super::*;

#[test]
fn a_warm_up_ends_once_all_are_steady_on_the_cores_where_they_are_measured() {
    let outcome = Simulation::new(plan(&["a", "b"], &["Get"])).run();
    for warmup in &outcome.record.warmups {
        assert!(warmup.steady, "{}", warmup.reason);
        assert!(warmup.span_ns < 20_000_000_000, "well before its cap");
    }
    let moves: Vec<&str> = outcome
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::MoveTo(name, cpus) if name == "a" => Some(cpus.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(moves, ["0-1", "0", "0", "0-1", "0", "0"], "all cores first, then the server's, in each fork");
}

#[test]
fn servers_with_compilers_also_see_a_low_load_while_they_warm_up() {
    let outcome = Simulation::new(plan(&["a", "b"], &["Get"])).run();
    let warming = |(_, _, load): &(String, String, SliceLoad)| load.phase == Phase::Warmup && load.round != u32::MAX;
    let driven: Vec<_> = outcome.driven().into_iter().filter(warming).collect();
    assert!(driven.len() >= 12, "two servers, six rounds");
    for (name, _, load) in driven {
        let expected = if load.round % 3 == 2 { SliceKind::Poisson } else { SliceKind::Saturating };
        assert_eq!(
            (load.kind, load.rate_per_s > 0.0),
            (expected, expected == SliceKind::Poisson),
            "{name} {}",
            load.round
        );
    }
}

#[test]
fn servers_alternate_in_turns_while_they_warm_up() {
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.slices.turn = TurnLength::Auto;
    let outcome = Simulation::new(plan).run();
    let of_round = |round: u32| -> Vec<String> {
        let is_in_round =
            |(_, _, load): &&(String, String, SliceLoad)| load.phase == Phase::Warmup && load.round == round;
        // Both forks have such a round.
        let driven = outcome.driven();
        let names = driven.iter().filter(is_in_round).map(|(name, _, _)| name.clone());
        names.collect()
    };
    assert_eq!(of_round(0).len(), 4, "one slice each in both forks: how long a turn must be is not known yet");
    let turns = of_round(1);
    let (first, second): (Vec<_>, Vec<_>) = turns.chunks(2).map(|turn| (turn[0].as_str(), turn[1].as_str())).unzip();
    assert!(turns.len() >= 20, "{turns:?}");
    assert!(first.iter().zip(&second).all(|(first, second)| first != second), "each has one turn: {turns:?}");
    assert!(first.contains(&"a") && first.contains(&"b"), "in random order: {turns:?}");
    assert!(outcome.record.warmups.iter().all(|warmup| warmup.steady), "{:?}", outcome.record.warmups);
}

#[test]
fn no_server_is_always_the_first_to_be_loaded() {
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.stop.forks = Forks::Fixed { count: 16 };
    let outcome = Simulation::new(plan).run();
    // Rounds without turns: the first, and a quiet one.
    for round in [0, 2] {
        let driven = outcome.driven();
        let is_in_round =
            |(_, _, load): &&(String, String, SliceLoad)| load.phase == Phase::Warmup && load.round == round;
        let names: Vec<&str> = driven.iter().filter(is_in_round).map(|(name, _, _)| name.as_str()).collect();
        assert_eq!(names.len(), 32, "round {round}: one slice each in 16 forks");
        let first = names.chunks(2).filter(|pair| pair[0] == "a").count();
        assert!((3..=13).contains(&first), "round {round}: a comes first in {first} of 16 forks");
    }
}

#[test]
fn a_warm_up_that_never_ends_stops_at_its_cap_and_is_recorded_as_unsteady() {
    let outcome = Simulation::new(plan(&["a", "b"], &["Get", "Post"]))
        .plant("b", Planted { compiler_share: 0.3, ..Planted::default() })
        .run();
    let spans: Vec<u64> = outcome
        .record
        .warmups
        .iter()
        .filter(|warmup| warmup.variant == "b")
        .map(|warmup| {
            assert!(!warmup.steady);
            assert_eq!(warmup.reason, "its JIT compilers still work 30 % of the time");
            warmup.span_ns / 1_000_000_000
        })
        .collect();
    assert_eq!(spans, [30, 20, 30, 20], "the first scenario of each fork has a longer cap");
    assert!(outcome.record.warmups.iter().filter(|warmup| warmup.variant == "a").all(|warmup| warmup.steady));
    assert_eq!(outcome.count("Get", "b"), 8, "it is measured even so");
}

#[test]
fn a_short_warm_up_still_judges_the_cost_on_the_cores_where_it_is_measured() {
    let mut plan = plan(&["a", "b"], &["Get"]);
    if let Warmup::UntilSteady { cap, first_cap, .. } = &mut plan.warmup {
        (*cap, *first_cap) = (Span(Duration::from_secs(16)), Span(Duration::from_secs(16)));
    }
    let outcome = Simulation::new(plan).plant("b", Planted { compiler_share: 0.3, ..Planted::default() }).run();
    let of_a: Vec<_> = outcome.record.warmups.iter().filter(|warmup| warmup.variant == "a").collect();
    assert!(!of_a.is_empty() && of_a.iter().all(|warmup| warmup.steady), "{of_a:?}");
}

#[test]
fn a_server_that_dies_while_it_warms_up_does_not_keep_the_others_from_their_own_cores() {
    let mut plan = plan(&["a", "b", "c"], &["Get"]);
    plan.stop.forks = Forks::Fixed { count: 1 };
    // Its compilers still work when it dies.
    let dying = Planted { compiler_share: 0.9, per_s: 3_000.0, dies_warming_up_in: Some(6), ..Planted::default() };
    let outcome = Simulation::new(plan).plant("b", dying).run();
    for name in ["a", "c"] {
        let warmup = outcome.record.warmups.iter().find(|warmup| warmup.variant == name).unwrap();
        assert!(warmup.steady, "{warmup:?}");
        assert!(warmup.span_ns < 15_000_000_000, "70 % of the cap are 21 s: {warmup:?}");
    }
}

#[test]
fn a_fork_in_which_no_server_survives_its_warm_up_fixes_nothing_for_the_others() {
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.load.rate = Rate::PerSecond { per_s: 1_000.0 };
    let dying = Planted { dies_warming_up_in: Some(0), ..Planted::default() };
    let outcome = Simulation::new(plan).plant("a", dying.clone()).plant("b", dying).run();
    let loads = outcome.record.checkpoint.unwrap().loads;
    assert!(loads.is_empty(), "the next fork may show how long turns must be: {loads:?}");
}

#[test]
fn eighteen_servers_become_steady_within_a_cap_that_grows_with_them() {
    let names: Vec<String> = (0..18).map(|at| format!("server {at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let steady = |cap_of_four_s: u64| {
        let mut plan = plan(&names, &["Get"]);
        plan.stop.forks = Forks::Fixed { count: 1 };
        if let Warmup::UntilSteady { cap, first_cap, .. } = &mut plan.warmup {
            (*cap, *first_cap) = (Span::from_secs(cap_of_four_s), Span::from_secs(cap_of_four_s));
        }
        // One of them would stay on all cores for as long as it may.
        let waiting = Planted { compiler_waiting_share: 0.2, ..Planted::default() };
        let outcome = Simulation::new(plan).plant("server 7", waiting).run();
        outcome.record.warmups.iter().filter(|warmup| warmup.steady).count()
    };
    assert_eq!((steady(9), steady(40)), (0, 18), "40 s and 180 s for all of them");
}

#[test]
fn compilers_that_only_wait_keep_the_servers_on_all_cores_and_are_steady_on_their_own() {
    let waiting = Planted { compiler_waiting_share: 0.2, ..Planted::default() };
    let outcome = Simulation::new(plan(&["a", "b"], &["Get"])).plant("b", waiting).run();
    for warmup in &outcome.record.warmups {
        assert!(warmup.steady, "{warmup:?}");
        assert!(warmup.span_ns > 20_000_000_000, "70 % of the cap on all cores: {warmup:?}");
        assert!(warmup.span_ns < 30_000_000_000, "but not the whole cap: {warmup:?}");
    }
}

/// How long the longest warm-up lasts where a server collects each time it has answered so many requests.
fn longest_with_collections(requests_per_collection: Option<u64>) -> f64 {
    let planted = Planted { requests_per_collection, ..Planted::default() };
    let outcome = Simulation::new(plan(&["a", "b"], &["Get"])).plant("b", planted).run();
    assert!(outcome.record.warmups.iter().all(|warmup| warmup.steady), "{:?}", outcome.record.warmups);
    outcome.record.warmups.iter().map(|warmup| warmup.span_ns).max().unwrap() as f64 / 1e9
}

#[test]
fn steady_servers_warm_up_until_they_have_collected_sixteen_times_or_for_six_seconds() {
    let without = longest_with_collections(None);
    assert_eq!(longest_with_collections(Some(100)), without, "it has had enough when it is steady");
    // A server alone answers some 50,000 requests while it warms up.
    let some = longest_with_collections(Some(2_400)) - without;
    assert!((0.2..6.0).contains(&some), "{some} s more");
    let seldom = longest_with_collections(Some(1_000_000)) - without;
    assert!((6.0..7.5).contains(&seldom), "{seldom} s more");
}

#[test]
fn a_fixed_warm_up_lasts_as_long_for_each_server_and_judges_nothing() {
    let mut plan = plan(&["a", "b", "c"], &["Get"]);
    plan.warmup = Warmup::Fixed { span: Span::from_secs(2), users: 4 };
    plan.stop.forks = Forks::Fixed { count: 1 };
    let outcome = Simulation::new(plan).plant("b", Planted { compiler_share: 0.3, ..Planted::default() }).run();
    assert!(outcome.record.warmups.iter().all(|warmup| warmup.steady && warmup.span_ns == 6_000_000_000));
    let warming: Vec<SliceLoad> = outcome
        .driven()
        .into_iter()
        .filter(|(_, _, load)| load.phase == Phase::Warmup && load.round != u32::MAX)
        .map(|(_, _, load)| load)
        .collect();
    assert_eq!(warming.len(), 24, "eight windows of 250 ms for each");
    assert!(warming.iter().all(|load| load.users == 4));
}

#[test]
fn each_worker_of_the_generator_has_a_user_in_every_slice() {
    let fixed = Warmup::Fixed { span: Span::from_secs(1), users: 3 };
    let until_steady = plan(&["a", "b"], &["Get"]).warmup;
    // The slow server answers a user's request in 100 ms, so the rule would choose 8 users.
    let slow = Planted { per_s: 40.0, ..Planted::default() };
    for (warmup, planned_users) in [(&fixed, 16), (&until_steady, 16), (&fixed, 5), (&until_steady, 5)] {
        let mut plan = plan(&["a", "b"], &["Get"]);
        (plan.warmup, plan.load.users) = (warmup.clone(), planned_users);
        plan.stop.forks = Forks::Fixed { count: 1 };
        // A session has no more workers than connections.
        let workers = 12.min(planned_users);
        let outcome = Simulation::new(plan).with_workers(workers).plant("b", slow.clone()).run();
        let warming = outcome.record.slices.iter().filter(|slice| slice.key.phase == Phase::Warmup);
        let users: Vec<u32> =
            warming.filter(|slice| slice.key.round != u32::MAX).map(|slice| slice.key.users).collect();
        assert!(!users.is_empty() && users.iter().all(|users| *users == workers), "{workers} workers: {users:?}");
        assert!(outcome.scored().all(|slice| slice.key.users == planned_users));
    }
}
