//! Earlier forks: what a run leaves for later plans, and what a plan's prior does to an interval and its words.

use tare_analysis::earlier::{self, EARLIER_FILE};
use tare_analysis::summarize;
use tare_analysis::summary::PriorEffect;
use tare_plan::earlier::EarlierForks;
use tare_plan::plan::{Forks, SliceKind};
use tare_plan::{Currency, PriorUse};
use tare_record::RunRecord;

use crate::synthetic::{self, Truth, baseline, throughput, variant, with_prior};

const LAYER: &str = "http4s.Tapir";

/// Four forks that differ by about 2 %, and a plan with a prior of this standard deviation.
fn run_with_prior(sd: f64) -> RunRecord {
    let scattered = |truth: Truth| Truth { fork_sd: 0.02, ..truth };
    let truths = [scattered(baseline()), scattered(variant(LAYER, 0.9))];
    with_prior(synthetic::run(&truths, 4, &[SliceKind::Saturating]), sd)
}

/// The prior's effect on the throughput of the only comparison, with its interval.
fn effect(record: &RunRecord) -> (PriorEffect, (f64, f64)) {
    let summary = summarize(record);
    let mut currencies = summary.comparisons[0].currencies.iter();
    let throughput = currencies.find(|currency| currency.prior.is_some()).unwrap();
    assert_eq!(throughput.label, "throughput", "no other currency has a prior");
    (throughput.prior.clone().unwrap(), (throughput.lo.unwrap(), throughput.hi.unwrap()))
}

#[test]
fn a_prior_narrows_the_interval_and_both_are_shown() {
    let record = run_with_prior(0.02);
    let (effect, (lo, hi)) = effect(&record);
    assert!(effect.is_used);
    assert!(effect.lo_without < lo && hi < effect.hi_without, "[{lo}, {hi}] {effect:?}");
    let expected = "the interval also rests on the standard deviation of 31 earlier comparisons of SimpleGet on this machine (2 %)";
    assert!(effect.text.starts_with(expected), "{}", effect.text);
    let mut alone = record;
    alone.header.plan.stop.earlier = EarlierForks::default();
    let throughput = &summarize(&alone).comparisons[0].currencies[0];
    assert_eq!((throughput.lo, throughput.hi), (Some(effect.lo_without), Some(effect.hi_without)));
    assert_eq!(throughput.prior, None);
}

#[test]
fn a_prior_that_the_forks_contradict_is_dropped_and_the_report_says_so() {
    let record = run_with_prior(0.000_5);
    let (effect, interval) = effect(&record);
    assert!(!effect.is_used);
    assert_eq!(interval, (effect.lo_without, effect.hi_without));
    assert!(effect.text.starts_with("the interval does not use the standard deviation of 31"), "{}", effect.text);
    assert!(effect.text.contains("its own starts differ by"), "{}", effect.text);
    let method = &summarize(&record).comparisons[0].currencies[0].method;
    assert!(method.starts_with("repeated intervals up to 4 starts, α"), "{method}");
}

#[test]
fn a_run_leaves_its_spread_and_its_time_for_later_plans() {
    let folder = tempfile::tempdir().unwrap();
    let record = synthetic::standard();
    assert_eq!(earlier::read(folder.path()), None, "nothing is there yet");
    let left = serde_json::to_vec(&earlier::of_run(&record, &summarize(&record))).unwrap();
    std::fs::write(folder.path().join(EARLIER_FILE), left).unwrap();
    let run = earlier::read(folder.path()).unwrap();
    assert_eq!(run.place.machine, "Test CPU, unknown, unknown");
    assert_eq!((run.place.jdk, run.place.server_cpus.as_str()), (Some(25), "0"));
    let of_throughput: Vec<_> = run.spreads.iter().filter(|spread| spread.of == throughput()).collect();
    assert_eq!(of_throughput.len(), 2, "the comparison and the control");
    assert!(of_throughput.iter().all(|spread| spread.forks == 8 && spread.sd > 0.0), "{of_throughput:?}");
    assert_eq!(run.fork_times.len(), 1);
    assert!((run.fork_times[0].taken_s - 20.0).abs() < 1e-9, "a fork begins every 20 s: {:?}", run.fork_times);
    std::fs::write(folder.path().join(EARLIER_FILE), "{").unwrap();
    assert_eq!(earlier::read(folder.path()), None, "a damaged file says nothing");
}

#[test]
fn too_few_forks_and_plain_runs_leave_no_spread() {
    let two = synthetic::run(&[baseline(), variant(LAYER, 0.9)], 2, &[SliceKind::Saturating]);
    assert_eq!(earlier::of_run(&two, &summarize(&two)).unwrap().spreads, []);
    let plain = synthetic::sequential(&[baseline(), variant(LAYER, 0.9)]);
    assert_eq!(earlier::of_run(&plain, &summarize(&plain)), None);
}

/// A run of this many variants with three forks of each, whose number was fixed beforehand. The first scatters by `first_sd`.
fn table(variants: usize, first_sd: f64) -> RunRecord {
    const NAMES: [&str; 12] = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L"];
    let one = |(at, name): (usize, &&'static str)| Truth {
        fork_sd: if at == 0 { first_sd } else { 0.02 },
        ..variant(name, 0.9)
    };
    let truths: Vec<Truth> =
        std::iter::once(baseline()).chain(NAMES.iter().enumerate().take(variants).map(one)).collect();
    let mut record = synthetic::run(&truths, 3, &[SliceKind::Saturating]);
    record.header.plan.stop.forks = Forks::Fixed { count: 3 };
    record
}

/// What the forks of other comparisons do to the throughput of each.
fn effects(record: &RunRecord) -> Vec<Option<PriorEffect>> {
    let of_throughput = |comparison: tare_analysis::summary::Comparison| {
        comparison.currencies.into_iter().find(|one| one.name == Currency::Throughput).unwrap().prior
    };
    summarize(record).comparisons.into_iter().map(of_throughput).collect()
}

#[test]
fn many_comparisons_of_one_run_share_their_spread_and_the_report_says_so_once() {
    let record = table(12, 0.02);
    let used: Vec<PriorEffect> = effects(&record).into_iter().flatten().filter(|effect| effect.is_used).collect();
    assert!(used.len() >= 10, "{used:?}");
    let expected =
        "the interval also rests on the standard deviation of 12 comparisons of short requests in this run (";
    assert!(used.iter().all(|effect| effect.text.starts_with(expected) && effect.comparisons == 12), "{used:?}");
    assert!(used.iter().all(|effect| effect.text == used[0].text), "a report states equal words once: {used:?}");
    let method = &summarize(&record).comparisons[1].currencies[0].method;
    assert!(method.starts_with("Student t, with the spread of this run's comparisons"), "{method}");
    let mut by_itself = record;
    by_itself.header.plan.stop.prior = PriorUse::Off;
    assert!(effects(&by_itself).iter().all(Option::is_none));
}

#[test]
fn a_run_of_three_comparisons_borrows_nothing() {
    let record = table(3, 0.02);
    assert_eq!(effects(&record), [None, None, None]);
    let method = &summarize(&record).comparisons[0].currencies[0].method;
    assert!(method.starts_with("Student t, α"), "{method}");
}

#[test]
fn a_wild_comparison_of_a_table_is_judged_by_its_own_forks_and_says_so() {
    let wild = effects(&table(12, 0.5)).remove(0).unwrap();
    assert!(
        !wild.is_used && wild.text.contains("does not use") && wild.text.contains("its own starts differ by"),
        "{wild:?}"
    );
    let (tame, beside_wild) =
        (effects(&table(12, 0.02)).remove(1).unwrap(), effects(&table(12, 0.5)).remove(1).unwrap());
    assert!(
        beside_wild.is_used && beside_wild.sd < 2.0 * tame.sd,
        "one wild comparison widens all: {tame:?} {beside_wild:?}"
    );
}
