//! Servers that fail: to start, to keep the contract, in a scenario.

use std::collections::BTreeSet;

use tare_plan::contract::{ExpectBody, HexBody};
use tare_plan::profile::{Profile, ProfileEvent};

use super::*;

/// The order of scenarios in the first fork.
fn scenario_order(plan: &Plan) -> Vec<String> {
    let mut order: Vec<String> = Simulation::new(plan.clone())
        .run()
        .scored()
        .filter(|s| s.key.fork == 1)
        .map(|s| s.key.scenario.clone())
        .collect();
    order.dedup();
    order
}

/// A plan of three servers under three scenarios and one fork, and the order of the scenarios.
fn three_by_three() -> (Plan, Vec<&'static str>) {
    let mut plan = plan(&["a", "b", "c"], &["Get", "Post", "Put"]);
    plan.stop.forks = Forks::Fixed { count: 1 };
    let known = |name: String| *["Get", "Post", "Put"].iter().find(|known| **known == name).unwrap();
    let order = scenario_order(&plan).into_iter().map(known).collect();
    (plan, order)
}

/// Scored slices of one cell in one fork.
const SLICES: usize = 4;

#[test]
fn one_server_that_does_not_start_leaves_the_others_to_be_measured() {
    let outcome = Simulation::new(plan(&["a", "b", "c"], &["Get"]))
        .plant("b", Planted { failing_starts: vec![1, 2], ..Planted::default() })
        .run();
    assert_eq!(["a", "b", "c"].map(|name| outcome.count("Get", name)), [2 * SLICES, 0, 2 * SLICES]);
    let event = outcome.event(EventName::ServerNotStarted);
    assert_eq!((event.variant.as_deref(), event.fork, event.voids), (Some("b"), Some(1), true));
    let ends: Vec<&str> =
        outcome.record.forks.iter().filter(|fork| fork.variant == "b").map(|fork| fork.end.as_str()).collect();
    assert_eq!(ends, ["did not start"], "it is void, and not tried again");
}

#[test]
fn a_start_whose_ports_others_took_does_not_count_and_voids_nothing() {
    let outcome = Simulation::new(plan(&["a", "b"], &["Get"]))
        .plant("b", Planted { starts_without_port: vec![2], ..Planted::default() })
        .run();
    assert_eq!(["a", "b"].map(|name| outcome.count("Get", name)), [2 * SLICES, SLICES]);
    let event = outcome.event(EventName::ServerNotStarted);
    assert_eq!((event.fork, event.voids, event.level), (Some(2), false, EventLevel::Warning));
    assert!(event.text.contains("port 40000 was free when tare chose it"), "{}", event.text);
}

#[test]
fn a_program_that_is_built_anew_during_the_run_is_named_once() {
    let run = |rebuilt_at| {
        let outcome = Simulation::new(plan(&["a", "b"], &["Get"])).rebuild_at(rebuilt_at).run();
        let changed = |event: &&EventRecord| event.kind.name() == EventName::ProgramChanged;
        outcome.record.events.iter().filter(changed).cloned().collect::<Vec<_>>()
    };
    let [event] = &run(3 * SECOND)[..] else { panic!("once, at the second start") };
    assert!(event.text.starts_with("/app.jar is not what it was when the run began"), "{}", event.text);
    assert_eq!((event.voids, event.level), (false, EventLevel::Warning));
    assert!(run(Duration::MAX).is_empty());
}

#[test]
fn a_slice_of_a_warm_up_in_which_nothing_happened_is_no_failure() {
    let outcome = Simulation::new(plan(&["a", "b"], &["Get"]))
        .plant("b", Planted { starved_warming_up_in: Some(1), ..Planted::default() })
        .run();
    assert_eq!(["a", "b"].map(|name| outcome.count("Get", name)), [2 * SLICES; 2]);
    assert!(outcome.record.events.iter().all(|event| !event.voids), "{:?}", outcome.record.events);
}

#[test]
fn a_server_that_breaks_its_contract_gets_no_load() {
    let outcome = Simulation::new(plan(&["a", "b", "c"], &["Get"]))
        .plant("c", Planted { lying_starts: vec![1], ..Planted::default() })
        .run();
    let event = outcome.event(EventName::ContractMismatch);
    assert_eq!((event.text.as_str(), event.voids), ("Get: status 500, not 200", true));
    assert!(!outcome.driven().iter().take_while(|(_, _, load)| load.round != u32::MAX).any(|(name, ..)| name == "c"));
    assert_eq!(
        (outcome.count("Get", "c"), outcome.acted(&Action::Start("c".to_owned()))),
        (0, 1),
        "it is void for good"
    );
    assert_eq!(outcome.count("Get", "a"), 2 * SLICES);
}

#[test]
fn a_server_that_ends_while_it_is_verified_is_not_said_to_answer_wrongly() {
    let outcome = Simulation::new(plan(&["a", "b", "c"], &["Get", "Post"]))
        .plant("b", Planted { starts_that_die_verified: vec![1], ..Planted::default() })
        .run();
    let of_b = outcome.record.events.iter().filter(|event| event.variant.as_deref() == Some("b"));
    let said: Vec<_> = of_b.map(|event| (event.kind.name(), event.voids)).collect();
    assert_eq!(said, [(EventName::ServerEnded, true)], "once, whatever else it was to answer");
    assert!(outcome.event(EventName::ServerEnded).text.ends_with(", at the check Get"), "the first of them");
    assert_eq!(["a", "b", "c"].map(|name| outcome.count("Get", name)), [2 * SLICES, 0, 2 * SLICES]);
}

#[test]
fn a_server_that_answers_otherwise_than_its_baseline_gets_no_load() {
    let outcome = Simulation::new(plan(&["a", "b", "c"], &["Get"]))
        .plant("b", Planted { body: "goodbye", ..Planted::default() })
        .run();
    let event = outcome.event(EventName::ContractMismatch);
    assert_eq!((event.variant.as_deref(), event.voids), (Some("b"), true));
    assert!(
        event.text.starts_with("Get: not what a answers: body: expected 5 bytes \"hello\", got 7 bytes \"goodbye\""),
        "{}",
        event.text
    );
    assert!(event.text.ends_with("write in [scenarios.Get]: may_differ = [\"body\"]"), "{}", event.text);
    assert_eq!(["a", "b", "c"].map(|name| outcome.count("Get", name)), [2 * SLICES, 0, 2 * SLICES]);
    assert_eq!(outcome.acted(&Action::Start("b".to_owned())), 1, "a difference ends its comparison at once");
    let mut expect = Expect::default();
    outcome.agreed.unwrap().add_to(&mut expect);
    let hello = Some(ExpectBody::Hex(HexBody::of(b"hello")));
    assert_eq!(expect.body, hello, "what the baseline answered holds under load");
}

#[test]
fn no_other_server_takes_the_place_of_a_baseline_that_could_not_start() {
    let outcome = Simulation::new(plan(&["a", "b", "c"], &["Get"]))
        .plant("a", Planted { starts_without_port: vec![1], ..Planted::default() })
        .plant("b", Planted { body: "goodbye", ..Planted::default() })
        .run();
    let is_compared =
        |event: &&EventRecord| matches!(event.kind.name(), EventName::ContractMismatch | EventName::HeadersDiffer);
    let compared = outcome.record.events.iter().filter(is_compared);
    let compared: Vec<_> = compared.map(|event| (event.variant.as_deref(), event.fork, event.voids)).collect();
    assert_eq!(compared, [(Some("b"), Some(2), true)], "once the baseline has started");
    assert_eq!(outcome.count("Get", "c"), 2 * SLICES);
}

#[test]
fn a_server_that_dies_in_a_scenario_is_started_again_for_the_later_ones() {
    let (plan, order) = three_by_three();
    let outcome = Simulation::new(plan).plant("b", Planted { deaths: vec![(1, order[0])], ..Planted::default() }).run();
    let counts = |name: &str| order.iter().map(|scenario| outcome.count(scenario, name)).collect::<Vec<_>>();
    assert_eq!(counts("a"), [SLICES, SLICES, SLICES]);
    assert_eq!(counts("b"), [1, SLICES, SLICES], "the slice in which it died, then all of its new start");
    let death = outcome.event(EventName::ServerEnded);
    assert_eq!((death.scenario.as_deref(), death.voids), (Some(order[0]), true));
    let again = outcome.event(EventName::ServerRestarted);
    assert_eq!((again.scenario.as_deref(), again.variant.as_deref()), (Some(order[1]), Some("b")));
    assert!(!again.voids, "the cells of the later scenarios count");
    assert_eq!(outcome.acted(&Action::Start("b".to_owned())), 2);
    assert_eq!(outcome.acted(&Action::Verify("b".to_owned())), 2, "the new start is verified, too");
    assert_eq!(outcome.acted(&Action::Start("a".to_owned())), 1);
    let ends: Vec<(&str, bool)> = outcome
        .record
        .forks
        .iter()
        .filter(|fork| fork.variant == "b")
        .map(|fork| (fork.end.as_str(), fork.healthy))
        .collect();
    assert_eq!(ends, [("killed by signal 9", false), ("stopped", true)]);
}

#[test]
fn a_server_is_started_again_once_for_each_scenario_in_which_it_dies() {
    let (plan, order) = three_by_three();
    let outcome = Simulation::new(plan)
        .plant("b", Planted { deaths: vec![(1, order[0]), (2, order[1])], ..Planted::default() })
        .run();
    let counts: Vec<usize> = order.iter().map(|scenario| outcome.count(scenario, "b")).collect();
    assert_eq!(counts, [1, 1, SLICES]);
    assert_eq!(outcome.acted(&Action::Start("b".to_owned())), 3);
}

#[test]
fn a_server_that_runs_elsewhere_is_asked_again_and_not_said_to_be_started_again() {
    let (mut plan, order) = three_by_three();
    let program = Program::External { url: "http://10.0.0.7:80".to_owned(), transport: Default::default() };
    plan.groups[0].variants[1].program = program;
    let outcome = Simulation::new(plan).plant("b", Planted { mute_in: vec![order[0]], ..Planted::default() }).run();
    assert_eq!(order.iter().map(|scenario| outcome.count(scenario, "b")).collect::<Vec<_>>(), [0, SLICES, SLICES]);
    assert!(outcome.record.events.iter().all(|event| event.kind != EventKind::ServerRestarted));
}

#[test]
fn a_server_that_dies_in_the_last_scenario_is_not_started_again() {
    let (plan, order) = three_by_three();
    let outcome = Simulation::new(plan).plant("b", Planted { deaths: vec![(1, order[2])], ..Planted::default() }).run();
    assert_eq!(outcome.acted(&Action::Start("b".to_owned())), 1);
}

#[test]
fn a_server_whose_new_start_fails_or_lies_is_out_for_the_fork() {
    let (plan, order) = three_by_three();
    let deaths = vec![(1, order[0])];
    let fails = Planted { deaths: deaths.clone(), failing_starts: vec![2], ..Planted::default() };
    let lies = Planted { deaths, lying_starts: vec![2], ..Planted::default() };
    for planted in [fails, lies] {
        let outcome = Simulation::new(plan.clone()).plant("b", planted).run();
        let counts: Vec<usize> = order.iter().map(|scenario| outcome.count(scenario, "b")).collect();
        assert_eq!(counts, [1, 0, 0]);
        assert_eq!(outcome.acted(&Action::Start("b".to_owned())), 2, "it is not tried a third time");
        assert!(outcome.record.events.iter().all(|event| event.kind != EventKind::ServerRestarted));
        assert_eq!(outcome.count(order[2], "a"), SLICES);
    }
}

#[test]
fn a_new_start_warms_up_as_long_as_a_first_one() {
    let (plan, order) = three_by_three();
    // Its JIT never rests, so that each warm-up lasts to its cap.
    let busy = Planted { compiler_share: 0.3, ..Planted::default() };
    let spans = |outcome: &Outcome| -> Vec<u64> {
        let of = |scenario: &&'static str| {
            let is_it = |w: &&tare_record::WarmupRecord| w.variant == "b" && w.scenario == **scenario;
            outcome.record.warmups.iter().find(is_it).unwrap().span_ns / 1_000_000_000
        };
        order.iter().map(of).collect()
    };
    let steady = Simulation::new(plan.clone()).plant("b", busy.clone()).run();
    assert_eq!(spans(&steady), [30, 20, 20]);
    let dying = Simulation::new(plan).plant("b", Planted { deaths: vec![(1, order[0])], ..busy }).run();
    assert_eq!(spans(&dying), [30, 30, 20]);
}

#[test]
fn a_server_that_answers_nothing_fails_and_the_others_go_on() {
    let outcome = Simulation::new(plan(&["a", "b", "c"], &["Get"]))
        .plant("b", Planted { mute_in: vec!["Get"], ..Planted::default() })
        .run();
    assert!(outcome.event(EventName::NoAnswers).voids);
    assert_eq!(["a", "b", "c"].map(|name| outcome.count("Get", name)), [2 * SLICES, 0, 2 * SLICES]);
}

#[test]
fn a_group_in_which_nothing_can_be_compared_stops() {
    let dead = Planted { failing_starts: vec![1], ..Planted::default() };
    let gone = Planted { unavailable: Some("no JDK".to_owned()), ..Planted::default() };
    // Whose failure, and how many forks are measured.
    for (variants, planted, forks) in [
        (["a"].as_slice(), &dead, 0),
        (["b", "c"].as_slice(), &dead, 0),
        (["b"].as_slice(), &dead, 3),
        (["a"].as_slice(), &gone, 0),
        (["b"].as_slice(), &gone, 3),
    ] {
        let mut plan = plan(&["a", "b", "c"], &["Get"]);
        plan.stop.forks = Forks::Fixed { count: 3 };
        let simulation = Simulation::new(plan);
        let simulation = variants.iter().fold(simulation, |simulation, name| simulation.plant(name, planted.clone()));
        let outcome = simulation.run();
        assert_eq!(outcome.forks().len(), forks, "{variants:?} {planted:?}");
        assert_eq!(outcome.status, EndStatus::Complete);
    }
}

#[test]
fn servers_without_a_baseline_go_on_when_the_first_of_them_is_void() {
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.groups[0].variants[0].role = Role::Compared;
    let events = vec![ProfileEvent::Cpu];
    plan.profile = Some(Profile { events, forks: 3, span: Span::from_secs(5), focus: String::new() });
    let dead = Planted { failing_starts: vec![1], ..Planted::default() };
    let outcome = Simulation::new(plan.profiling().unwrap()).plant("a", dead).run();
    assert_eq!(outcome.record.profiles.len(), 3, "as after a plain run of several servers");
}

#[test]
fn a_group_goes_on_while_one_of_its_scenarios_can_be_compared() {
    let mut plan = plan(&["a", "b"], &["Get", "Post"]);
    plan.stop.forks = Forks::Fixed { count: 3 };
    let outcome =
        Simulation::new(plan).plant("b", Planted { deaths: vec![(1, "Get"), (2, "Get")], ..Planted::default() }).run();
    assert_eq!(outcome.forks().len(), 3);
    assert_eq!(outcome.count("Post", "b"), 3 * SLICES);
}

#[test]
fn a_void_comparison_does_not_keep_a_run_going() {
    let mut plan = plan(&["a", "b", "c"], &["Get"]);
    plan.stop.forks = until_decided(10_000, 2);
    let outcome = Simulation::new(plan)
        .plant("b", Planted { failing_starts: vec![1], ..Planted::default() })
        .run_with(&|_| vec![standing("g", "Get", "b", false), standing("g", "Get", "c", true)]);
    assert_eq!(outcome.forks().len(), 2);
    assert_eq!(outcome.status, EndStatus::Complete);
}

#[test]
fn a_control_keeps_no_group_going_whose_comparison_is_void() {
    // The void one, and how many forks are measured.
    for (variants, void, forks) in [
        (["a", "b", "again"].as_slice(), "b", 0),
        (["a", "b", "again"].as_slice(), "again", 3),
        (["a", "again"].as_slice(), "again", 0),
    ] {
        let mut plan = plan(variants, &["Get"]);
        plan.groups[0].variants.last_mut().unwrap().role = Role::Control;
        plan.stop.forks = Forks::Fixed { count: 3 };
        let dead = Planted { failing_starts: vec![1], ..Planted::default() };
        assert_eq!(Simulation::new(plan).plant(void, dead).run().forks().len(), forks, "{variants:?} {void}");
    }
}

#[test]
fn a_server_that_this_machine_cannot_run_is_reported_once_and_not_started() {
    let outcome = Simulation::new(plan(&["a", "b", "c"], &["Get"]))
        .plant("b", Planted { unavailable: Some("needs JDK 25".to_owned()), ..Planted::default() })
        .run();
    let events: Vec<&EventRecord> =
        outcome.record.events.iter().filter(|event| event.kind.name() == EventName::ServerUnavailable).collect();
    assert_eq!(events.len(), 1);
    assert_eq!((events[0].text.as_str(), events[0].fork, events[0].voids), ("needs JDK 25", None, true));
    assert_eq!(outcome.acted(&Action::Start("b".to_owned())), 0);
    assert!(outcome.shown.contains(&"starting 2 servers".to_owned()), "{:?}", outcome.shown);
    assert_eq!(["a", "b", "c"].map(|name| outcome.count("Get", name)), [2 * SLICES, 0, 2 * SLICES]);
}

#[test]
fn when_all_servers_fail_the_fork_ends_and_the_next_scenario_starts_them_again() {
    let (plan, order) = three_by_three();
    let dying = || Planted { deaths: vec![(1, order[0])], ..Planted::default() };
    let outcome = Simulation::new(plan).plant("a", dying()).plant("b", dying()).plant("c", dying()).run();
    for name in ["a", "b", "c"] {
        let counts: Vec<usize> = order.iter().map(|scenario| outcome.count(scenario, name)).collect();
        assert_eq!(counts, [1, SLICES, SLICES], "{name}");
    }
}

#[test]
fn servers_are_looked_at_again_while_one_is_not_at_rest() {
    for (rest_cpu_share, looks) in [(0.0, 1), (0.004, 1), (0.3, 4)] {
        let outcome = Simulation::new(plan(&["a", "b"], &["Get"]))
            .plant("b", Planted { rest_cpu_share, ..Planted::default() })
            .run();
        assert_eq!(outcome.acted(&Action::ObserveRest), 2 * looks, "{rest_cpu_share} of a core, in two forks");
        let of_b = outcome.record.forks.iter().find(|fork| fork.variant == "b").unwrap();
        assert_eq!(of_b.rest_cpu_share, Some(rest_cpu_share));
    }
}

/// A run of two profiled servers under two scenarios.
fn profiled() -> Simulation {
    let mut plan = plan(&["a", "b"], &["Get", "Post"]);
    plan.profile =
        Some(Profile { events: vec![ProfileEvent::Cpu], forks: 1, span: Span::from_secs(5), focus: String::new() });
    Simulation::new(plan.profiling().unwrap())
}

#[test]
fn a_server_that_dies_of_a_sampler_is_started_again_for_the_next_scenario() {
    let outcome = profiled().plant("b", Planted { starts_that_die_sampled: vec![1], ..Planted::default() }).run();
    let died_in = outcome.event(EventName::ServerEnded).scenario.clone().unwrap();
    let again = outcome.event(EventName::ServerRestarted);
    assert_eq!(again.variant.as_deref(), Some("b"));
    assert_ne!(again.scenario.as_deref(), Some(&*died_in));
    let of_b = outcome.record.profiles.iter().filter(|profile| profile.variant == "b");
    let scenarios: Vec<&str> = of_b.map(|profile| &*profile.scenario).collect();
    assert_eq!(scenarios, [again.scenario.as_deref().unwrap()], "the other scenario has its profile");
}

#[test]
fn what_a_sampler_saw_until_ctrl_c_is_not_read() {
    let whole = profiled().run();
    assert_eq!((whole.record.profiles.len(), whole.acted(&Action::ReadSampled)), (4, 4));
    let ends_ns = whole.record.slices.iter().rfind(|slice| slice.key.phase == Phase::Profile);
    let ends_ns = ends_ns.map(|slice| slice.load.window_end_ns()).unwrap();
    let cut = profiled().interrupt_at(Duration::from_nanos(ends_ns - 1)).run();
    assert_eq!((cut.record.profiles.len(), cut.acted(&Action::ReadSampled)), (3, 3));
}

#[test]
fn each_log_and_each_profile_has_a_file_of_its_own_where_joined_names_are_alike() {
    let mut plan = plan(&["b", "a-b"], &["Get", "Get-a"]);
    plan.groups.push(group("g-a", &["b", "c"], &["Get"]));
    plan.profile =
        Some(Profile { events: vec![ProfileEvent::Cpu], forks: 1, span: Span::from_secs(5), focus: String::new() });
    let simulation = Simulation::new(plan.profiling().unwrap());
    let world = Rc::clone(&simulation.world);
    let profiles = simulation.run().record.profiles.len();
    let files = world.borrow().files.clone();
    let starts = files.iter().filter(|file| file.ends_with(".log")).count();
    assert_eq!((starts, files.len()), (4, 4 + profiles));
    assert_eq!(files.iter().collect::<BTreeSet<_>>().len(), files.len(), "{files:?}");
}
