//! Earlier forks: what a run leaves for later plans, and what a plan's prior does to an interval and its words.

use tare_analysis::earlier::{self, EARLIER_FILE};
use tare_analysis::summarize;
use tare_analysis::summary::PriorEffect;
use tare_plan::earlier::EarlierForks;
use tare_plan::plan::SliceKind;
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
