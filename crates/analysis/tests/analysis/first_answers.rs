//! The first answer of profiled starts, held against shares that are planted.

use std::collections::BTreeSet;
use std::path::Path;

use tare_analysis::profile::{BETWEEN_STARTS, first_answers, no_sample_in};
use tare_analysis::summarize_with;
use tare_plan::plan::{Mode, Setting, Source};
use tare_plan::profile::{Profile, ProfileEvent};
use tare_record::profile::{PackedText, ProfileRecord, Weight};
use tare_record::{EventKind, EventRecord, RunRecord};
use tare_stats::VariancePrior;
use tare_stats::interval::student_t_half_width;
use tare_units::Span;

use crate::synthetic::{Noise, baseline, run, variant};

const LAYER: &str = "http4s.Tapir";
const SAMPLES: u64 = 10_000;

fn cpu_profile(fork: u32, variant: &str, stacks: &str) -> ProfileRecord {
    ProfileRecord {
        fork,
        group: "http4s".to_owned(),
        scenario: "SimpleGet".to_owned(),
        variant: variant.to_owned(),
        event: ProfileEvent::Cpu,
        sampler: "a sampler".to_owned(),
        span_ns: 20_000_000_000,
        offered_per_s: 1_000.0,
        requests: 20_000,
        cpu_ns: Some(1_000_000_000),
        file: None,
        weight: Weight::Samples { every_ns: 1_000_000 },
        stacks: PackedText::pack(stacks),
    }
}

/// Profiled starts of a server with a layer and of the one beneath it. In each, so many of the samples are the layer's. In some
/// more it calls what the server beneath runs, too.
fn profiled(hits: &[u64], source: Source) -> RunRecord {
    let mut record = run(&[baseline(), variant(LAYER, 0.95)], 1, &[]);
    let plan = &mut record.header.plan;
    plan.mode = Mode::Profiled;
    let focus = r"sttp\.tapir|sttp\.model".to_owned();
    plan.settings.push(Setting::new("profile", "focus", focus.clone(), source, ""));
    let (events, forks, span) = (vec![ProfileEvent::Cpu], hits.len() as u32, Span::from_secs(20));
    plan.profile = Some(Profile { events, forks, span, focus });
    for (fork, hits) in (1..).zip(hits) {
        let (bare, write) = ("net.Server.handle_[j]", "net.Server.write_[j]");
        let beneath = format!("{bare} 900\n{bare};{write} 100\n");
        record.profiles.push(cpu_profile(fork, "http4s.Vanilla", &beneath));
        let written = if *hits == 0 { 0 } else { (SAMPLES - hits) / 10 };
        let rest = SAMPLES - hits - written;
        let layer = format!(
            "{bare} {rest}\n{bare};sttp.tapir.Uri$.parse_[i];java.lang.String.split_[j] {hits}\n\
             {bare};sttp.tapir.Server.respond_[j];{write} {written}\n"
        );
        record.profiles.push(cpu_profile(fork, LAYER, &layer));
    }
    record
}

fn sentences(record: &RunRecord) -> Vec<String> {
    let profiles = summarize_with(record, None).profiles.unwrap();
    profiles.whys.iter().flat_map(|why| &why.sentences).map(|sentence| sentence.text.clone()).collect()
}

#[test]
fn one_start_says_how_much_is_in_the_frames_of_the_layer() {
    let record = profiled(&[1_030], Source::Default);
    let all = sentences(&record);
    let said = "] of the CPU of http4s.Tapir is in sttp.tapir and sttp.model, with what they call that http4s.Vanilla \
                does not run; it is one start";
    assert!(all[1].starts_with("At least 10.3 % [") && all[1].contains(said), "{all:?}");
    assert!(all.iter().all(|text| !text.contains("CPU of http4s.Vanilla")), "{all:?}");
    let mut half_seen = record.clone();
    half_seen.profiles[1].cpu_ns = Some(2 * SAMPLES * 1_000_000);
    assert!(sentences(&half_seen)[1].starts_with("At least 5.1 % ["), "{:?}", sentences(&half_seen));
    let answers = first_answers(&record);
    assert_eq!((answers.len(), answers[0].variant.as_str(), answers[0].reason_to_stop), (1, LAYER, None));
    let said = "] of its CPU is in sttp.tapir and sttp.model, with what they call that http4s.Vanilla does not run";
    assert!(answers[0].text.starts_with("At least 10.3 % [") && answers[0].text.ends_with(said), "{answers:?}");
}

/// Lower and upper end of the first interval in a text, as shares.
fn ends(text: &str) -> (f64, f64) {
    let (lo, hi) = text[text.find('[').unwrap() + 1..text.find(']').unwrap()].split_once(", ").unwrap();
    (lo.parse::<f64>().unwrap() / 100.0, hi.parse::<f64>().unwrap() / 100.0)
}

#[test]
fn each_start_narrows_the_interval_unless_starts_differ_beyond_the_prior() {
    let width = |hits: &[u64]| {
        let text = &sentences(&profiled(hits, Source::Flag))[1];
        assert_eq!(text.contains("it is one start"), hits.len() == 1, "{text}");
        let (lo, hi) = ends(text);
        hi - lo
    };
    let widths = [width(&[1_000]), width(&[1_000, 1_020]), width(&[1_000, 1_020, 980])];
    assert!(widths.is_sorted_by(|a, b| a > b), "{widths:?}");
    assert!(width(&[1_000, 1_500, 3_000]) > 0.3, "such starts are not of the prior's kind");
}

#[test]
fn a_start_without_a_sample_in_the_layer_counts_in_the_interval() {
    for hits in [[0, 1_030], [3, 0]] {
        let text = &sentences(&profiled(&hits, Source::Flag))[1];
        let mean = (hits[0] + hits[1]) as f64 / (2 * SAMPLES) as f64;
        let (lo, hi) = ends(text);
        assert!(lo <= mean && mean < hi, "{text}");
    }
}

#[test]
fn without_the_server_beneath_all_that_the_layer_calls_counts() {
    let mut record = profiled(&[1_000, 1_000], Source::Flag);
    let plan = &mut record.header.plan;
    plan.groups[0].variants.remove(0);
    let said = "of the CPU of http4s.Tapir is in sttp.tapir and sttp.model, with all that they call.";
    let is_all = |text: &str| text.starts_with("At least 19.0 % [") && text.ends_with(said);
    assert!(is_all(&sentences(&record)[0]), "{:?}", sentences(&record));
    // Another build of the same server has the layer, too.
    let mut record = profiled(&[1_000, 1_000], Source::Flag);
    for at in [0, 2] {
        record.profiles[at].stacks = record.profiles[1].stacks.clone();
    }
    assert!(is_all(&sentences(&record)[1]), "{:?}", sentences(&record));
}

#[test]
fn a_focus_that_matches_nothing_is_said_if_somebody_asked_for_it() {
    let of = |source| sentences(&profiled(&[0], source)).into_iter().find(|text| text.contains("sttp"));
    let said = "None of 10,000 samples of the CPU of http4s.Tapir is in sttp.tapir and sttp.model, with what they call \
                that http4s.Vanilla does not run: less than 0.030 % of it.";
    assert_eq!(of(Source::Flag).as_deref(), Some(said));
    assert_eq!(of(Source::Default), None, "the catalog's focus is not that of every server");
}

#[test]
fn a_server_without_a_profiler_has_its_reason() {
    let mut record = profiled(&[1_000], Source::Default);
    record.profiles.retain(|profile| profile.variant != LAYER);
    let mut event = EventRecord::new(EventKind::ProfileFailed { reason: "cannot attach".to_owned() });
    (event.variant, event.scenario) = (Some(LAYER.to_owned()), Some("SimpleGet".to_owned()));
    record.events.push(event);
    assert_eq!(sentences(&record), ["http4s.Tapir was not profiled: cannot attach."]);
}

#[test]
fn starts_without_a_sample_are_named() {
    let mut record = profiled(&[1_000, 1_000], Source::Default);
    for at in [1, 3] {
        record.profiles[at].stacks = PackedText::pack("");
    }
    let said = "http4s.Tapir has no usable cpu profile of starts 1 and 2 (it holds no samples: did the program do \
                anything while it was profiled?).";
    assert_eq!(sentences(&record), [said]);
}

#[test]
fn that_no_sample_lies_in_a_change_is_said_only_where_frames_tell() {
    let record = profiled(&[1_000], Source::Default);
    let of = |record: &RunRecord, class: &str| no_sample_in(record, &BTreeSet::from([class.to_owned()]));
    let text = of(&record, "Codec").unwrap();
    assert!(text.starts_with("none of 11,000 samples lies in code that this change touches (Codec): "), "{text}");
    assert_eq!(of(&record, "Uri"), None, "its inlined code was seen");
    let mut native = record;
    native.profiles.push(cpu_profile(1, "axum", "main;tower::call 10\n"));
    assert_eq!(of(&native, "Codec"), None);
}

/// The share of first answers whose interval misses the truth. `wide`: how much more the starts of a server differ than
/// [`BETWEEN_STARTS`] says.
fn missed(share: f64, wide: f64) -> f64 {
    const RUNS: u32 = 400;
    let mut noise = Noise(5_381);
    let log_odds = (share / (1.0 - share)).ln();
    let misses = (0..RUNS).filter(|_| {
        // As Smyth's model has it: the precision of a server is that of chi-squared.
        let squares: f64 = (0..BETWEEN_STARTS.df.round() as u32).map(|_| noise.normal().powi(2)).sum();
        let sd = wide * BETWEEN_STARTS.sd * (BETWEEN_STARTS.df.round() / squares).sqrt();
        let own = 1.0 / (1.0 + (-(log_odds + sd * noise.normal())).exp());
        let by_chance = (SAMPLES as f64 * own * (1.0 - own)).sqrt() * noise.normal();
        let hits = (SAMPLES as f64 * own + by_chance).round().clamp(1.0, SAMPLES as f64 - 1.0);
        let text = &first_answers(&profiled(&[hits as u64], Source::Default))[0].text;
        let (lo, hi) = ends(text);
        // The text has one decimal.
        !(lo - 0.000_5 <= share && share <= hi + 0.000_5)
    });
    misses.count() as f64 / f64::from(RUNS)
}

#[test]
fn a_first_answer_misses_a_planted_share_in_one_of_twenty_runs_at_most() {
    for share in [0.01, 0.1, 0.5] {
        let (fits, wide) = (missed(share, 1.0), missed(share, 1.5));
        println!("{share}: {fits} {wide}");
        // A share of 5 % has a standard error of 1.1 % here.
        assert!(fits <= 0.072, "{share}: {fits}");
        assert!(wide <= 0.16, "{share}: {wide}");
    }
}

/// `bench/first_answer.py` writes the file: a line for each server, with the mean share of its starts and Student's interval.
#[test]
fn the_spread_between_starts_is_that_of_the_measured_ones() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/first_answer.csv");
    let of_line = |line: &str| {
        let values: Vec<f64> = line.split(',').skip(3).map(|value| value.parse().unwrap()).collect();
        let [starts, _, share, lo, hi] = values[..] else { panic!("{line}") };
        let sd = (hi - lo) / 2.0 / student_t_half_width(starts as usize, 1.0, 0.05).unwrap();
        (sd / (share * (1.0 - share)), starts - 1.0)
    };
    let groups: Vec<(f64, f64)> = std::fs::read_to_string(file).unwrap().lines().skip(1).map(of_line).collect();
    let fitted = VariancePrior::fit(&groups).unwrap().unwrap();
    assert!((fitted.sd - BETWEEN_STARTS.sd).abs() < 0.001 && (fitted.df - BETWEEN_STARTS.df).abs() < 0.1, "{fitted:?}");
}
