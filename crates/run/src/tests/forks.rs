//! Order of forks, budget, stop rule, interruption.

use tare_plan::estimate::fork_time;

use super::*;

fn named(forks: &[(&str, u32)]) -> Vec<(String, u32)> {
    forks.iter().map(|(group, fork)| ((*group).to_owned(), *fork)).collect()
}

/// Two groups, each of two servers under one scenario.
fn two_groups(forks: Forks) -> Plan {
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.groups = vec![group("first", &["a", "b"], &["Get"]), group("second", &["c", "d"], &["Get"])];
    plan.stop.forks = forks;
    plan
}

#[test]
fn the_group_with_the_fewest_forks_goes_next() {
    let outcome = Simulation::new(two_groups(Forks::Fixed { count: 3 })).run();
    let expected = named(&[("first", 1), ("second", 1), ("first", 2), ("second", 2), ("first", 3), ("second", 3)]);
    assert_eq!(outcome.forks(), expected);
    assert_eq!(outcome.status, EndStatus::Complete);
    assert_eq!(outcome.record.forks.len(), 12, "each fork starts both servers of its group");
}

#[test]
fn a_fixed_number_of_forks_is_run_whatever_is_decided() {
    for count in [1, 2, 5] {
        let mut plan = plan(&["a", "b"], &["Get"]);
        plan.stop.forks = Forks::Fixed { count };
        let outcome = Simulation::new(plan).run_with(&|_| vec![standing("g", "Get", "b", true)]);
        assert_eq!(outcome.forks().len() as u32, count);
    }
}

#[test]
fn a_group_stops_once_all_its_comparisons_are_decided_and_not_before_its_least_forks() {
    // The comparison is decided after this many forks of the record. The run stops at the larger of that and at_least.
    for (at_least, decided_after, expected) in [(3, 1, 3), (2, 4, 4), (1, 1, 1)] {
        let mut plan = plan(&["a", "b", "c"], &["Get"]);
        plan.stop.forks = until_decided(10_000, at_least);
        let outcome = Simulation::new(plan).run_with(&|record| {
            let forks = record.slices.iter().map(|slice| slice.key.fork).max().unwrap();
            vec![standing("g", "Get", "b", true), standing("g", "Get", "c", forks >= decided_after)]
        });
        assert_eq!(outcome.forks().len(), expected, "at least {at_least}, decided after {decided_after}");
        assert_eq!(outcome.status, EndStatus::Complete);
    }
}

#[test]
fn a_control_beside_a_comparison_starts_in_three_forks_and_then_in_every_second() {
    let started = |variants: &[&str]| {
        let mut plan = plan(variants, &["Get"]);
        plan.groups[0].variants.last_mut().unwrap().role = Role::Control;
        plan.stop.forks = Forks::Fixed { count: 6 };
        let outcome = Simulation::new(plan).run();
        variants.iter().map(|name| outcome.acted(&Action::Start((*name).to_owned()))).collect::<Vec<_>>()
    };
    assert_eq!(started(&["a", "b", "again"]), [6, 6, 4], "forks 1, 2, 3 and 5");
    assert_eq!(started(&["a", "again"]), [6, 6], "a server that is compared with itself alone");
}

#[test]
fn a_decided_group_leaves_its_time_to_the_others() {
    let outcome = Simulation::new(two_groups(until_decided(400, 2)))
        .run_with(&|_| vec![standing("first", "Get", "b", true), standing("second", "Get", "d", false)]);
    let count = |id: &str| outcome.forks().iter().filter(|(group, _)| group == id).count();
    assert_eq!(count("first"), 2);
    assert!(count("second") > 4, "{}", count("second"));
    assert_eq!(outcome.status, EndStatus::BudgetSpent);
}

#[test]
fn no_fork_begins_that_does_not_fit_the_budget() {
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.stop.forks = until_decided(60, 1);
    let outcome = Simulation::new(plan).run_with(&|_| vec![standing("g", "Get", "b", false)]);
    assert_eq!(outcome.status, EndStatus::BudgetSpent);
    let (_, ended_ns) = outcome.record.end.unwrap();
    let forks = outcome.forks().len() as u32;
    let one = Duration::from_nanos(ended_ns) / forks;
    assert!(forks > 1, "several forks fit");
    assert!(Duration::from_nanos(ended_ns) <= SECOND * 60 + one / 4, "a quarter of a fork may overrun");
    assert!(Duration::from_nanos(ended_ns) + one.mul_f64(0.75) > SECOND * 60, "one more would not have fitted");
}

#[test]
fn a_group_whose_first_fork_does_not_fit_is_left_out_with_an_event() {
    let plan = two_groups(until_decided(12, 1));
    assert!(fork_time(&plan, &plan.groups[0]) > SECOND * 12, "the first fork of all runs even so");
    let outcome = Simulation::new(plan).run();
    assert_eq!(outcome.forks(), named(&[("first", 1)]));
    let event = outcome.event(EventName::GroupNotMeasured);
    assert_eq!((event.group.as_deref(), event.voids), (Some("second"), true));
    assert!(event.remedy.as_ref().unwrap().contains("--budget"));
    let EventKind::GroupNotMeasured { left_s, needed_s } = event.kind else { panic!("{event:?}") };
    assert!(left_s < needed_s && event.text.ends_with(&format!("and the budget had {left_s} s left")), "{event:?}");
    assert_eq!(outcome.status, EndStatus::BudgetSpent);
}

#[test]
fn ctrl_c_in_a_fork_keeps_what_was_measured_and_stops_all_servers() {
    let whole = Simulation::new(plan(&["a", "b"], &["Get", "Post"])).run();
    let (_, whole_ns) = whole.record.end.unwrap();
    for part in [0.1, 0.3, 0.45, 0.6, 0.9] {
        let at = Duration::from_nanos(whole_ns).mul_f64(part);
        let outcome = Simulation::new(plan(&["a", "b"], &["Get", "Post"])).interrupt_at(at).run();
        assert_eq!(outcome.status, EndStatus::Interrupted);
        let complete = outcome.scored().filter(|slice| slice.load.window_end_ns() <= at.as_nanos() as u64);
        assert_eq!(complete.count(), outcome.scored().count(), "{part}: no slice was cut short and scored");
        let before = |slice: &&StoredSlice| slice.load.window_end_ns() < at.as_nanos() as u64;
        assert_eq!(outcome.scored().count(), whole.scored().filter(before).count(), "{part}: all before are kept");
        let started = outcome.actions.iter().filter(|action| matches!(action, Action::Start(_))).count();
        let stopped = outcome.actions.iter().filter(|action| matches!(action, Action::Stop(_))).count();
        assert_eq!(started, stopped, "{part}: nothing is left running");
    }
}

#[test]
fn a_seed_gives_one_order_and_another_seed_another() {
    let driven = |seed| {
        let mut plan = plan(&["a", "b", "c"], &["Get", "Post", "Put"]);
        plan.seed = seed;
        Simulation::new(plan).run().actions
    };
    assert_eq!(driven(7), driven(7));
    assert_ne!(driven(7), driven(8));
}

#[test]
fn orders_are_balanced_over_forks_for_starts_scenarios_and_slices() {
    let mut plan = plan(&["a", "b"], &["Get", "Post"]);
    plan.stop.forks = Forks::Fixed { count: 20 };
    let outcome = Simulation::new(plan).run();
    let starts: Vec<_> = outcome.actions.iter().filter(|action| matches!(action, Action::Start(_))).collect();
    let first_starts = starts.chunks(2).filter(|pair| *pair[0] == Action::Start("a".to_owned())).count();
    let scored: Vec<&StoredSlice> = outcome.scored().collect();
    // Two scenarios, each of four rounds of two slices.
    let first_scenario = scored.chunks(16).filter(|fork| fork[0].key.scenario == "Get").count();
    let first_slice = scored.chunks(2).filter(|round| round[0].key.variant == "a").count();
    assert!((4..=16).contains(&first_starts), "{first_starts} of 20 forks start a first");
    assert!((4..=16).contains(&first_scenario), "{first_scenario} of 20 forks begin with Get");
    assert!((55..=105).contains(&first_slice), "{first_slice} of 160 rounds begin with a");
    assert!(
        scored.chunks(2).all(|round| round[0].key.variant != round[1].key.variant),
        "each round has one slice of each"
    );
}

#[test]
fn one_server_alone_stops_after_its_least_forks() {
    let mut plan = plan(&["a"], &["Get"]);
    plan.stop.forks = until_decided(10_000, 3);
    let outcome = Simulation::new(plan).run();
    assert_eq!(outcome.forks().len(), 3);
}

#[test]
fn ctrl_c_while_the_self_test_starts_is_an_interruption() {
    let cancelled = crate::RunError::Server(tare_sut::SutError::Cancelled { server: "the built-in server".to_owned() });
    assert_eq!(crate::end_of_run(Err(cancelled)).unwrap(), EndStatus::Interrupted);
    let failed = crate::end_of_run(Err(crate::RunError::NotPrepared("a".to_owned())));
    assert!(matches!(failed, Err(crate::RunError::NotPrepared(_))), "any other failure stays one");
}
