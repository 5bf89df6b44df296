//! What a plan takes from earlier runs: the prior of its intervals, and the time of a fork.

use super::inventory;
use crate::Currency;
use crate::choices::{PriorUse, SchedulingPolicy};
use crate::contract::tests::TEXT as CONTRACT;
use crate::earlier::{EarlierRun, ForkSpread, ForkTime, RunConditions, SpreadOf};
use crate::estimate::fork_time;
use crate::plan::{Forks, SliceKind};
use crate::resolve::*;
use tare_units::CpuSet;

const SUITE: &str = "[run]\nservers = [\"http4s.Tapir\"]\nscenarios = [\"SimpleGet\"]";

pub(super) fn two_cores() -> MachineFacts {
    MachineFacts { cores: (0..2).map(|cpu| CpuSet::from_indices([cpu])).collect(), ..MachineFacts::default() }
}

fn here() -> RunConditions {
    RunConditions {
        machine: "Test CPU, 0-1, 8 GiB".to_owned(),
        jdk: Some(25),
        server_cpus: "0".to_owned(),
        scheduling: SchedulingPolicy::Batch,
    }
}

fn cpu(family: &str) -> SpreadOf {
    cpu_of(family, None)
}

/// The spread of one scenario, or of all scenarios of a family together.
fn cpu_of(family: &str, scenario: Option<&str>) -> SpreadOf {
    SpreadOf {
        family: family.to_owned(),
        scenario: scenario.map(str::to_owned),
        currency: Currency::CpuPerRequest,
        load: SliceKind::Saturating,
    }
}

/// A run of one comparison whose six forks scatter by `sd`.
fn run(place: RunConditions, family: &str, sd: f64) -> EarlierRun {
    EarlierRun { place, spreads: vec![ForkSpread { of: cpu(family), sd, forks: 6 }], fork_times: Vec::new() }
}

/// As many runs of one scenario of http4s.
fn runs_of(scenario: &str, count: u32, sd: f64) -> Vec<EarlierRun> {
    let spread = |i: u32| ForkSpread { of: cpu_of("http4s", Some(scenario)), sd: sd + f64::from(i) * 1e-4, forks: 6 };
    (0..count).map(|i| EarlierRun { spreads: vec![spread(i)], ..run(here(), "http4s", sd) }).collect()
}

/// This many runs whose forks scatter by 2 % and a little more each.
fn runs(count: u32) -> Vec<EarlierRun> {
    (0..count).map(|i| run(here(), "http4s", 0.02 + f64::from(i) * 1e-4)).collect()
}

fn plan(earlier: &[EarlierRun], flags: &Options) -> Plan {
    resolve_plan(&Inputs {
        suite: &Suite::parse("s.toml", SUITE).unwrap(),
        flags,
        profile: None,
        inventory: &inventory(),
        contract: &Contract::parse("contract.toml", CONTRACT).unwrap(),
        machine: &MachineFacts { identity: here().machine, jdk: here().jdk, ..two_cores() },
        earlier,
        fallback_seed: 7,
    })
    .unwrap()
}

fn row(plan: &Plan) -> (&str, &str) {
    row_of(plan, "prior of http4s").unwrap()
}

fn row_of<'a>(plan: &'a Plan, key: &str) -> Option<(&'a str, &'a str)> {
    plan.settings.iter().find(|setting| setting.key == key).map(|row| (row.value.as_str(), row.meaning.as_str()))
}

#[test]
fn ten_earlier_comparisons_give_a_prior_and_nine_none() {
    let enough = plan(&runs(10), &Options::default());
    let spread = enough.stop.earlier.spread(&cpu("http4s")).unwrap();
    let prior = spread.prior.unwrap();
    assert_eq!((spread.comparisons, prior.df), (10, 6.0), "alike, and of another day");
    assert!((0.0221..0.0265).contains(&prior.sd), "above 2.00 … 2.09 % by a standard error: {}", prior.sd);
    assert!((spread.sd - 0.020_45).abs() < 1e-9, "a forecast assumes the median: {}", spread.sd);
    let (value, meaning) = row(&enough);
    assert_eq!(value, "10 earlier comparisons");
    let expected = format!(
        "standard deviation between starts: cpu_per_request (saturating) {:.1} % like 7 forks",
        prior.sd * 100.0
    );
    assert_eq!(meaning, expected);
    let few = plan(&runs(9), &Options::default());
    assert_eq!(few.stop.earlier.spread(&cpu("http4s")).unwrap().prior, None);
    assert_eq!(row(&few).0, "none: 9 of 10 earlier comparisons");
    assert_eq!(row(&plan(&[], &Options::default())).0, "none: 0 of 10 earlier comparisons");
}

#[test]
fn a_scenario_that_was_compared_ten_times_has_a_prior_of_its_own() {
    let uploads = runs_of("PostLongBytes", 10, 0.08);
    let with = |gets: u32| plan(&[uploads.clone(), runs_of("SimpleGet", gets, 0.02)].concat(), &Options::default());
    let spread_of = |plan: &Plan, scenario| {
        let spread = plan.stop.earlier.spread(&cpu_of("http4s", Some(scenario))).unwrap();
        (spread.comparisons, spread.prior.unwrap().sd)
    };
    let enough = with(10);
    let (comparisons, sd) = spread_of(&enough, "SimpleGet");
    assert!(comparisons == 10 && sd < 0.0265, "uploads scatter more and do not count: {sd}");
    let (comparisons, sd) = spread_of(&enough, "PostBytes");
    assert!(comparisons == 20 && sd > 0.04, "all scenarios together: {sd}");
    assert_eq!(row_of(&enough, "prior of http4s, SimpleGet").unwrap().0, "10 earlier comparisons");
    assert_eq!(row_of(&enough, "prior of http4s, PostLongBytes"), None, "the plan has no upload");
    let few = with(9);
    assert_eq!(row_of(&few, "prior of http4s, SimpleGet"), None);
    assert_eq!(spread_of(&few, "SimpleGet").0, 19, "too few of its own: all scenarios together");
}

#[test]
fn runs_of_another_place_family_or_currency_are_ignored() {
    let elsewhere = [
        RunConditions { machine: "Other CPU, 0-1, 8 GiB".to_owned(), ..here() },
        RunConditions { jdk: Some(21), ..here() },
        RunConditions { server_cpus: "0-1".to_owned(), ..here() },
        RunConditions { scheduling: SchedulingPolicy::Normal, ..here() },
    ];
    for place in elsewhere {
        let mut earlier = runs(9);
        earlier.push(run(place.clone(), "http4s", 0.02));
        let expected = "none: 9 of 10 earlier comparisons; runs on another processor, JDK or cores, or scheduled otherwise, do not count: 1";
        assert_eq!(row(&plan(&earlier, &Options::default())).0, expected, "{place:?}");
    }
    let mut earlier = runs(9);
    earlier.push(run(here(), "netty", 0.02));
    earlier.push(run(RunConditions { jdk: None, ..here() }, "http4s", 0.02));
    earlier[0].spreads[0].forks = 2;
    let plan = plan(&earlier, &Options::default());
    assert_eq!(row(&plan).0, "none: 9 of 10 earlier comparisons", "no JDK fits all; two forks are too few");
    assert!(plan.stop.earlier.spread(&cpu("netty")).is_none());
}

#[test]
fn runs_on_the_same_cores_count_however_these_are_listed() {
    let place = RunConditions { server_cpus: "0,1,2".to_owned(), ..here() };
    let earlier: Vec<EarlierRun> = (0..10).map(|_| run(place.clone(), "http4s", 0.02)).collect();
    let plan = plan(&earlier, &Options { server_cpus: Some("0-2".parse().unwrap()), ..Options::default() });
    assert_eq!(plan.stop.earlier.spread(&cpu("http4s")).map(|spread| spread.comparisons), Some(10));
}

#[test]
fn runs_that_are_too_unlike_one_another_give_no_prior() {
    let unlike: Vec<EarlierRun> = (0..20).map(|i| run(here(), "http4s", 0.005 * 1.6f64.powi(i))).collect();
    assert_eq!(row(&plan(&unlike, &Options::default())).0, "none: 20 earlier comparisons are too unlike one another");
}

#[test]
fn a_plan_may_refuse_the_prior_and_keeps_the_forecast() {
    let off = plan(&runs(10), &Options { prior: Some(PriorUse::Off), ..Options::default() });
    let spread = off.stop.earlier.spread(&cpu("http4s")).unwrap();
    assert_eq!((spread.prior, spread.comparisons), (None, 10));
    assert!(off.settings.iter().all(|setting| setting.key != "prior of http4s"));
}

#[test]
fn forks_are_declared_by_how_long_earlier_ones_took() {
    let by_formula = plan(&[], &Options::default());
    let group = &by_formula.groups[0];
    let time = |factor: f64| {
        let formula_s = fork_time(&by_formula, group).as_secs_f64();
        ForkTime { family: "http4s".to_owned(), formula_s, taken_s: factor * formula_s }
    };
    let fork_times = [2.0, 2.2, 1.8, 500.0].map(time).to_vec();
    let earlier = [EarlierRun { place: here(), spreads: Vec::new(), fork_times }];
    let longer = plan(&earlier, &Options::default());
    let ratio = fork_time(&longer, group).as_secs_f64() / fork_time(&by_formula, group).as_secs_f64();
    assert!((ratio - 2.0).abs() < 1e-6, "the median of those that can be true: {ratio}");
    let declared = |plan: &Plan| match plan.stop.forks {
        Forks::UntilDecided { max_forks, .. } => max_forks.unwrap(),
        Forks::Fixed { .. } => unreachable!(),
    };
    let flags = Options { budget: Some("60m".parse().unwrap()), ..Options::default() };
    let (few, many) = (declared(&plan(&earlier, &flags)), declared(&plan(&[], &flags)));
    assert!(many.abs_diff(2 * few) <= 1, "{few} forks of twice the time, {many} by the formula");
}

#[test]
fn a_high_cap_of_the_warm_up_is_not_planned_for() {
    let start_s = |cap: &str| {
        let plan = plan(&[], &Options { warmup_cap: Some(cap.parse().unwrap()), ..Options::default() });
        fork_time(&plan, &plan.groups[0]).as_secs_f64()
    };
    assert!(start_s("20s") + 10.0 < start_s("40s"), "{} and {} s", start_s("20s"), start_s("40s"));
    assert_eq!(start_s("3m"), start_s("10m"));
}

/// The row that says how the comparisons of a plan are judged.
#[test]
fn a_plan_says_in_one_sentence_how_its_comparisons_are_judged() {
    let judged = |scenarios: u32, flags: &Options| {
        let names: Vec<String> = (0..scenarios).map(|i| format!("S{i}")).collect();
        let scenario =
            |name: &String| format!("[scenarios.{name}]\nrequest = {{ path = \"/\" }}\nexpect = {{ status = 200 }}\n");
        let contract = format!("schema = 1\n{}", names.iter().map(scenario).collect::<String>());
        let suite = format!("[run]\nservers = [\"http4s.Tapir\"]\nscenarios = {names:?}");
        let plan = resolve_plan(&Inputs {
            suite: &Suite::parse("s.toml", &suite).unwrap(),
            flags,
            profile: None,
            inventory: &inventory(),
            contract: &Contract::parse("contract.toml", &contract).unwrap(),
            machine: &two_cores(),
            earlier: &[],
            fallback_seed: 7,
        })
        .unwrap();
        let (value, meaning) = row_of(&plan, "judged").unwrap();
        (value.to_owned(), meaning.to_owned())
    };
    let fixed = Options { forks: Some(3), ..Options::default() };
    let off = Options { prior: Some(PriorUse::Off), ..fixed.clone() };
    let (value, meaning) = judged(9, &fixed);
    assert_eq!((value.as_str(), meaning.contains("fewer than 10")), ("one by one", true), "{meaning}");
    let (value, meaning) = judged(10, &fixed);
    assert_eq!(value, "as a table of 10");
    assert!(
        meaning.contains("spread of starts comes from all comparisons") && meaning.contains("5% are false"),
        "{meaning}"
    );
    assert!(judged(10, &off).1.contains("by the spread of its own starts"), "{}", judged(10, &off).1);
}
