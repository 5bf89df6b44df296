//! Runs that are interrupted and resumed measure what an uninterrupted run would have.

use tare_plan::turn::TurnLength;

use super::*;

/// Two groups, one with two scenarios, and a load that the first fork fixes.
fn mixed_plan(forks: Forks) -> Plan {
    let mut plan = plan(&["a", "b"], &["Get"]);
    plan.groups = vec![group("first", &["a", "b"], &["Get", "Post"]), group("second", &["c", "d"], &["Get"])];
    plan.slices.turn = TurnLength::Auto;
    plan.stop.forks = forks;
    plan
}

fn simulation(plan: &Plan) -> Simulation {
    let slow = Planted { per_s: 7_000.0, ..Planted::default() };
    Simulation::new(plan.clone()).plant("b", slow.clone()).plant("d", Planted { per_s: 3_000.0, ..slow })
}

/// The first group is settled after its second fork.
fn decides(record: &RunRecord) -> Vec<ComparisonState> {
    let forks = |group: &str| record.forks.iter().filter(|fork| fork.group == group).map(|fork| fork.fork).max();
    let settled = forks("first").is_some_and(|forks| forks >= 2);
    vec![standing("first", "Get", "b", settled), standing("second", "Get", "d", false)]
}

/// Interrupts at these shares of the whole run, one after the other, and resumes each time.
fn run_in_parts(plan: &Plan, whole: &Outcome, shares: &[f64]) -> Outcome {
    let (_, whole_ns) = whole.record.end.unwrap();
    let at = |share: f64| Duration::from_nanos(whole_ns).mul_f64(share);
    let mut outcome = simulation(plan).interrupt_at(at(shares[0])).run_with(&decides);
    for next in shares[1..].iter().map(|share| Some(at(*share))).chain([None]) {
        assert_eq!(outcome.status, EndStatus::Interrupted, "{shares:?}");
        let again = simulation(plan);
        again.world.borrow_mut().interrupted_at = next;
        outcome = again.resume(outcome.record, &decides);
    }
    outcome
}

fn assert_same(parts: &Outcome, whole: &Outcome, shares: &[f64]) {
    let (parts_record, whole_record) = (&parts.record, &whole.record);
    assert_eq!(parts.status, whole.status, "{shares:?}");
    assert_eq!(parts_record.slices, whole_record.slices, "{shares:?}: slices");
    assert_eq!(parts_record.forks, whole_record.forks, "{shares:?}: starts");
    assert_eq!(parts_record.warmups, whole_record.warmups, "{shares:?}: warm-ups");
    assert_eq!(parts_record.events, whole_record.events, "{shares:?}: events");
    assert_eq!(parts_record.end, whole_record.end, "{shares:?}: end");
    assert_eq!(parts_record.checkpoint, whole_record.checkpoint, "{shares:?}: checkpoint");
}

#[test]
fn a_resumed_run_is_the_run_that_was_not_interrupted() {
    for forks in [Forks::Fixed { count: 3 }, until_decided(260, 2)] {
        let plan = mixed_plan(forks);
        let whole = simulation(&plan).run_with(&decides);
        assert!(whole.forks().len() >= 5, "{:?}", whole.forks());
        for percent in 1..20 {
            let shares = [f64::from(percent) / 20.0];
            assert_same(&run_in_parts(&plan, &whole, &shares), &whole, &shares);
        }
        let shares = [0.1, 0.35, 0.36, 0.8];
        assert_same(&run_in_parts(&plan, &whole, &shares), &whole, &shares);
    }
}

#[test]
fn a_run_that_stops_right_after_a_fork_measures_none_of_it_again() {
    let plan = mixed_plan(Forks::Fixed { count: 2 });
    let whole = simulation(&plan).run();
    let steps = &whole.record.checkpoint.as_ref().unwrap().steps;
    let mut ends_ns = 0;
    for done in 1..steps.len() {
        ends_ns += steps[done - 1].taken_ns;
        let stopped = simulation(&plan).interrupt_at(Duration::from_nanos(ends_ns + 1)).run();
        assert_eq!(stopped.record.checkpoint.as_ref().unwrap().steps.len(), done);
        let resumed = simulation(&plan).resume(stopped.record, &|_| Vec::new());
        assert_same(&resumed, &whole, &[]);
        let started = resumed.actions.iter().filter(|action| matches!(action, Action::Start(_))).count();
        assert_eq!(started, (steps.len() - done) * 2, "only the forks that are left start servers");
    }
}

#[test]
fn a_group_that_was_left_out_is_left_out_once() {
    let plan = {
        let mut plan = mixed_plan(until_decided(12, 1));
        plan.groups.push(group("third", &["e", "f"], &["Get"]));
        plan
    };
    let whole = simulation(&plan).run();
    let left_out = |outcome: &Outcome| {
        let is_left_out = |event: &&EventRecord| event.kind.name() == EventName::GroupNotMeasured;
        outcome.record.events.iter().filter(is_left_out).count()
    };
    assert_eq!(left_out(&whole), 2);
    let resumed = simulation(&plan).resume(whole.record, &|_| Vec::new());
    assert_eq!((left_out(&resumed), resumed.forks().len()), (2, 1));
}

#[test]
fn a_resumed_run_still_knows_that_its_budget_left_a_group_out() {
    let within = |budget| {
        let mut plan = mixed_plan(Forks::UntilDecided { budget: Span(budget), at_least: 3, max_forks: None });
        let long = group("second", &["c", "d"], &["Get", "Post", "Put", "Patch", "Head", "Delete"]);
        plan.groups = vec![group("first", &["a", "b"], &["Get"]), long];
        plan
    };
    let steps_of = |outcome: &Outcome| outcome.record.checkpoint.as_ref().unwrap().steps.clone();
    let one_fork = steps_of(&simulation(&within(SECOND)).run_with(&decides))[0].taken_ns;
    let plan = within(Duration::from_nanos(one_fork).mul_f64(3.2));
    let whole = simulation(&plan).run_with(&decides);
    assert_eq!((steps_of(&whole).len(), whole.status), (3, EndStatus::BudgetSpent), "three short forks, no long one");
    // In the third fork: the group that was left out is known from the record alone.
    assert_same(&run_in_parts(&plan, &whole, &[0.9]), &whole, &[0.9]);
}

fn sequential_plan() -> Plan {
    let mut plan = mixed_plan(Forks::Fixed { count: 1 });
    plan.mode = Mode::Sequential;
    plan.warmup = Warmup::Fixed { span: Span(SECOND), users: 16 };
    plan.slices.turn = TurnLength::Whole;
    plan
}

#[test]
fn a_sequential_run_goes_on_with_the_cell_that_was_cut_short() {
    let plan = sequential_plan();
    let whole = simulation(&plan).run();
    let cells = whole.record.checkpoint.as_ref().unwrap().steps.len();
    assert_eq!(cells, 6);
    for percent in [10, 40, 70] {
        let shares = [f64::from(percent) / 100.0];
        assert_same(&run_in_parts(&plan, &whole, &shares), &whole, &shares);
    }
}

#[test]
fn a_sequential_run_that_goes_on_behind_its_baseline_asks_that_again() {
    let plan = sequential_plan();
    let resumed = |body| {
        let planted = || simulation(&plan).plant("b", Planted { body, ..Planted::default() });
        let whole = planted().run();
        let of_baseline = whole.record.checkpoint.as_ref().unwrap().steps[0].taken_ns;
        let stopped = planted().interrupt_at(Duration::from_nanos(of_baseline + 1)).run();
        assert_eq!(stopped.record.checkpoint.as_ref().unwrap().steps.len(), 1);
        (planted().resume(stopped.record, &|_| Vec::new()), whole)
    };
    let (other, whole) = resumed("goodbye");
    let mismatches = |outcome: &Outcome| {
        let all = outcome.record.events.iter().filter(|event| event.kind.name() == EventName::ContractMismatch);
        all.map(|event| event.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!((mismatches(&other), other.count("Get", "b")), (mismatches(&whole), 0));
    assert_eq!(mismatches(&other).len(), 2, "of both scenarios");
    let (alike, whole) = resumed("hello");
    assert_eq!((alike.count("Get", "b"), alike.record.forks), (whole.count("Get", "b"), whole.record.forks));
}
