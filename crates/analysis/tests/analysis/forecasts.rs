//! What a plan says beforehand of the differences that it will show.

use tare_analysis::forecast::forecast;
use tare_plan::Currency;
use tare_plan::GroupOrder;
use tare_plan::Plan;
use tare_plan::contract::Push;
use tare_plan::earlier::{EarlierForkTime, EarlierSpread, SpreadOf};
use tare_plan::plan::{Forks, Mode, SliceKind, Source};
use tare_plan::turn::TurnLength;
use tare_stats::Method;
use tare_stats::power::detectable_difference;
use tare_units::Span;

use crate::synthetic::{self, baseline, variant};

/// Four forks, by Student's interval.
fn plan() -> Plan {
    let mut plan = synthetic::run(&[baseline(), variant("http4s.Tapir", 0.9)], 1, &[SliceKind::Saturating]).header.plan;
    plan.slices.turn = TurnLength::Auto;
    plan.slices.fixed = 0;
    plan.stop.alpha = 0.05;
    plan.stop.forks = Forks::Fixed { count: 4 };
    plan
}

fn earlier(plan: &mut Plan, currency: Currency, sd: f64) {
    let of = SpreadOf { family: "http4s".to_owned(), scenario: None, currency, load: SliceKind::Saturating };
    plan.stop.earlier.spreads.push(EarlierSpread { of, comparisons: 3, sd, prior: None });
}

#[test]
fn a_forecast_is_the_detectable_difference_of_earlier_forks() {
    let mut plan = plan();
    earlier(&mut plan, Currency::Throughput, 0.5);
    earlier(&mut plan, Currency::CpuPerRequest, 0.02);
    let log = detectable_difference(0.02, Method::FIXED_FORKS, 4, 0.8).unwrap();
    let percent = format!("{:.1} %", (log.exp_m1() * 1_000.0).ceil() / 10.0);
    let text = forecast(&plan).unwrap();
    assert!(text.contains(&format!("4 starts show differences of {percent} or more")), "{percent}: {text}");
    assert!(text.ends_with("(power 0.8; by 3 earlier comparisons on this machine)"), "{text}");
    // Where servers do not alternate in turns, throughput decides.
    plan.slices.turn = TurnLength::Whole;
    assert!(!forecast(&plan).unwrap().contains(&percent));
}

#[test]
fn without_earlier_runs_the_assumption_is_said() {
    let text = forecast(&plan()).unwrap();
    assert!(text.ends_with("if starts differ by 3 %; no earlier run on this machine says by how much)"), "{text}");
}

#[test]
fn each_limit_has_a_forecast_by_the_spread_of_its_own_currency() {
    let mut plan = plan();
    let limits = ["cpu > +3%", "throughput < -1%", "allocated > +1%"];
    plan.set_limits(limits.iter().map(|limit| limit.parse().unwrap()).collect(), Source::Flag);
    earlier(&mut plan, Currency::CpuPerRequest, 0.005);
    earlier(&mut plan, Currency::Throughput, 0.02);
    // One of three limits has two thirds of α.
    let reach = |sd: f64, alpha: f64| detectable_difference(sd, Method::FIXED_FORKS.at_level(alpha), 4, 0.8).unwrap();
    let from = |limit: f64, log: f64| format!("{:.1} %", ((limit.ln() + log).exp_m1() * 100.0).abs());
    let text = forecast(&plan).unwrap();
    let parts: Vec<&str> = text.split("; ").collect();
    let cpu = from(1.03, reach(0.005, 0.05 * 2.0 / 3.0));
    assert!(parts[0].contains(&format!("4 starts: cpu > +3% is seen exceeded from +{cpu} on (by 3 earlier")), "{text}");
    let throughput = from(0.99, -reach(0.02, 0.05 * 2.0 / 3.0));
    let narrow =
        format!("throughput < -1% is seen exceeded from −{throughput} on, and an equal build may stay undecided");
    assert!(parts[1].starts_with(&narrow), "{text}");
    // With twice α: a limit holds by one side.
    let sd = 1.01_f64.ln() / reach(1.0, 0.1) * 100.0;
    let unknown = format!("allocated > +1% holds for an equal build if starts differ by {sd:.1} % at most");
    assert!(
        parts[2].starts_with(&unknown) && parts[3].starts_with("no earlier run on this machine says by how much"),
        "{text}"
    );
}

#[test]
fn an_equal_build_does_not_keep_a_limit_that_asks_for_a_gain() {
    let mut plan = plan();
    plan.set_limits(vec!["cpu > -5%".parse().unwrap()], Source::Flag);
    let unknown = forecast(&plan).unwrap();
    assert!(unknown.contains("cpu > -5% is seen exceeded by an equal build if starts differ by "), "{unknown}");
    earlier(&mut plan, Currency::CpuPerRequest, 0.5);
    let known = forecast(&plan).unwrap();
    assert!(known.contains(" on (by 3 earlier comparisons"), "an equal build is none that should be told: {known}");
}

#[test]
fn the_cpu_of_a_scenario_with_pushes_is_that_of_its_pushes() {
    let mut plan = plan();
    plan.groups[0].scenarios[0].scenario.push = Some(Push { period: Span::from_millis(10), messages: 100 });
    plan.set_limits(vec!["cpu > +3%".parse().unwrap()], Source::Flag);
    earlier(&mut plan, Currency::CpuPerRequest, 0.5);
    assert!(forecast(&plan).unwrap().contains("no earlier run"), "that of saturating slices is another");
    plan.stop.earlier.spreads[0].of.load = SliceKind::Push;
    assert!(forecast(&plan).unwrap().contains("by 3 earlier comparisons"));
}

#[test]
fn the_time_is_that_of_the_forks_which_the_group_gets() {
    let mut plan = plan();
    plan.stop.forks = Forks::UntilDecided { budget: Span::from_secs(3_600), at_least: 3, max_forks: Some(6) };
    plan.stop.order = GroupOrder::Listed;
    let mut second = plan.groups[0].clone();
    second.id = "second".to_owned();
    plan.groups.push(second);
    let formula_s = tare_plan::estimate::fork_time(&plan, &plan.groups[0]).as_secs_f64();
    plan.stop.earlier.times =
        vec![EarlierForkTime { family: "http4s".to_owned(), groups: 1, factor: 50.0 / formula_s }];
    let listed = forecast(&plan).unwrap();
    assert!(listed.starts_with("in 5 min, 6 starts of the first group show"), "{listed}");
    plan.stop.order = GroupOrder::Even;
    let even = forecast(&plan).unwrap();
    assert!(even.starts_with("in 10 min, 6 starts show"), "both groups share the time: {even}");
}

#[test]
fn a_plan_that_compares_nothing_has_no_forecast() {
    let mut plan = plan();
    plan.mode = Mode::Sequential;
    assert_eq!(forecast(&plan), None);
}

#[test]
fn a_budget_that_decides_nothing_has_no_forecast() {
    let mut plan = plan();
    plan.stop.forks = Forks::UntilDecided { budget: Span::from_secs(1), at_least: 3, max_forks: Some(6) };
    assert_eq!(forecast(&plan), None);
}
