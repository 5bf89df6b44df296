//! What an observer is shown, and the orders that a seed gives.

use super::*;

/// Shown lines without repetitions and without the generator's own.
fn steps(outcome: &Outcome) -> Vec<&str> {
    let mut steps: Vec<&str> = outcome.shown.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
    steps.dedup();
    steps
}

#[test]
fn a_fork_is_shown_from_its_start_to_its_standings() {
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.stop.forks = Forks::Fixed { count: 1 };
    let outcome = Simulation::new(plan).run_with(&|_| vec![standing("g", "Get", "b", true)]);
    let steps = steps(&outcome);
    assert_eq!(steps[..2], ["starting 2 servers", "verifying the answers"]);
    assert!(steps[2].starts_with("Get  warming up 0:00 of ≤ 0:30"), "{}", steps[2]);
    assert!(steps[2].ends_with("  0 of 2 steady"), "{}", steps[2]);
    assert_eq!(steps.last(), Some(&"standings Get"));
    let measured: Vec<&&str> = steps.iter().filter(|step| step.contains("/4")).collect();
    assert_eq!(measured.len(), 8);
    for (at, kind) in [(0, "all users  slice"), (4, "latency  window")] {
        assert!(measured[at].contains(&format!("  {kind} 1/4")), "{measured:?}");
        assert!(measured[at + 3].contains(&format!("  {kind} 4/4")), "{measured:?}");
    }
}

#[test]
fn from_the_first_verdict_on_the_standings_of_a_scenario_are_shown_before_its_latency() {
    let mut plan = plan(&["a", "b"], &["Get", "Post"]);
    plan.groups = vec![group("x", &["a", "b"], &["Get"]), group("y", &["a", "b"], &["Get"])];
    plan.stop.forks = until_decided(10_000, 2);
    let outcome = Simulation::new(plan).run_with(&|record| {
        let is_over = record.slices.iter().map(|slice| slice.key.fork).max() == Some(2);
        vec![
            standing("x", "Get", "b", is_over),
            standing("y", "Get", "b", is_over),
            standing("y", "Post", "b", is_over),
        ]
    });
    let told = |step| match step {
        standing if str::starts_with(standing, "standings") => Some(standing),
        measured => measured.contains("  latency  window 1/4").then_some("latency"),
    };
    let told: Vec<&str> = steps(&outcome).into_iter().filter_map(told).collect();
    let [latency, standing] = ["latency", "standings Get"];
    // Only those of its own group, and in the second fork those of the scenario before its latency.
    // The first fork leaves latency out.
    let first = [standing, "standings Get Post"];
    let second = [standing, latency, standing, standing, latency, "standings Get Post"];
    assert_eq!(told, [&first[..], &second[..]].concat());
}

#[test]
fn what_a_profiled_start_shows_stands_after_it_and_ends_no_run() {
    let mut plan = plan(&["a", "b"], &["Get"]);
    (plan.mode, plan.stop.forks) = (Mode::Profiled, Forks::Fixed { count: 2 });
    let outcome = Simulation::new(plan).run_with(&|_| vec![standing("g", "Get", "b", false)]);
    let standings = steps(&outcome).iter().filter(|step| step.starts_with("standings")).count();
    assert_eq!(standings, 2, "{:?}", steps(&outcome));
}

#[test]
fn a_restart_is_shown_before_the_scenario_that_it_is_for() {
    let mut plan = plan(&["a", "b"], &["Get", "Post"]);
    plan.stop.forks = Forks::Fixed { count: 1 };
    let deaths = vec![(1, "Get"), (1, "Post")];
    let outcome = Simulation::new(plan).plant("b", Planted { deaths, ..Planted::default() }).run();
    let steps = steps(&outcome);
    let at = |wanted: &str| steps.iter().position(|step| *step == wanted).unwrap();
    assert!(at("event ServerEnded") < at("starting g"));
    assert!(at("starting g") < at("event ServerRestarted"));
    let next = steps.iter().rposition(|step| step.contains("  warming up ")).unwrap();
    assert!(at("event ServerRestarted") < next);
}

#[test]
fn events_are_stamped_with_the_time_at_which_they_happen() {
    let outcome = Simulation::new(plan(&["a", "b"], &["Get"]))
        .plant("b", Planted { mute_in: vec!["Get"], ..Planted::default() })
        .run();
    let failed = outcome.event(EventName::NoAnswers).at_ns;
    let first_round = outcome.record.slices.iter().take(2);
    let end = first_round.map(|slice| slice.load.window_end_ns()).max();
    assert_eq!(Some(failed), end, "at the end of the round without an answer");
    assert!(outcome.record.events.is_sorted_by_key(|event| event.at_ns));
}

#[test]
fn slices_follow_each_other_without_overlap() {
    let mut slices = Simulation::new(plan(&["a", "b", "c"], &["Get", "Post"])).run().record.slices;
    // The record keeps a round's slices in the order of the servers, whatever the order in which they were loaded.
    slices.sort_by_key(|slice| slice.load.window_start_ns());
    for pair in slices.windows(2) {
        assert!(pair[0].load.window_end_ns() <= pair[1].load.window_start_ns());
    }
}
