//! Golden summaries: what this crate writes, as files that the tests of the page read (`web/fixtures/golden`).
//!
//! A summary of another form than its file fails here; a file that the page's types do not describe fails in `npm test`.

use std::path::Path;
use std::{env, fs};

use serde_json::{Number, Value};
use tare_analysis::summary::{AcrossVersions, Estimate, VersionRow};
use tare_analysis::{Summary, summarize, summarize_with};
use tare_plan::plan::{Forks, SliceKind};
use tare_plan::profile::ProfileEvent;
use tare_record::PackedHistogram;
use tare_record::{ClockEstimate, ErrorClass, ErrorTally, EventKind, EventRecord, RunRecord, ServerUse};
use tare_report::load;
use tare_stats::histogram::LatencyHistogram;

use crate::synthetic::{ALL_KINDS, Truth, baseline, control, run, variant, with_prior};
use crate::{cross_checks, loads, profiles, pushes};

/// Digits of a number in a golden file: the last bits of a logarithm differ between machines.
const DIGITS: usize = 6;
/// Set to anything, this variable makes the test write the files.
const UPDATE: &str = "UPDATE";

#[test]
fn golden_summaries_are_those_that_the_page_is_tested_with() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/fixtures/golden");
    let update = env::var_os(UPDATE).is_some();
    let mut differing = Vec::new();
    for (name, summary) in golden_summaries() {
        let path = folder.join(format!("{name}.json"));
        if update {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, printed(&rounded(summary), 0) + "\n").unwrap();
        } else {
            let known: Value =
                fs::read(&path).ok().and_then(|json| serde_json::from_slice(&json).ok()).unwrap_or_default();
            let difference = difference("summary", &known, &summary);
            differing.extend(difference.map(|difference| format!("{}: {difference}", path.display())));
        }
    }
    assert!(
        differing.is_empty(),
        "these summaries differ in form from their golden files:\n  {}\nIf the change is intended: \
         UPDATE=1 cargo test -p tare-report golden, then npm test in web/",
        differing.join("\n  ")
    );
}

#[test]
fn every_golden_file_has_a_summary() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/fixtures/golden");
    let names: Vec<&str> = golden_summaries().into_iter().map(|(name, _)| name).collect();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(names.contains(&stem.as_str()), "{} belongs to no summary: delete it", path.display());
    }
}

/// One summary for each kind of run, by the name of its file.
fn golden_summaries() -> Vec<(&'static str, Value)> {
    vec![
        ("decided", to_json(&summarize(&decided()))),
        ("undecided", to_json(&summarize(&undecided()))),
        ("odd-start", to_json(&summarize(&odd_start()))),
        ("equivalent", to_json(&summarize(&equivalent()))),
        ("broken", to_json(&summarize(&broken()))),
        ("slo", to_json(&summarize(&pushes::searched(&[("http4s.Vanilla", 10_000.0), ("b", 8_000.0)])))),
        ("slo-alone", to_json(&summarize(&pushes::searched(&[("http4s.Vanilla", 10_000.0)])))),
        ("pushes", to_json(&summarize(&two_clocks(pushes::pushed(2))))),
        ("profile", to_json(&summarize_with(&profiles::profiled(), None))),
        ("explained", to_json(&explained())),
        ("ladder", to_json(&summarize(&ladder()))),
        ("sequential", to_json(&sequential())),
        ("load", to_json(&load::summary_as_run(loads::record(), &loads::summary(&["p99>1s"])))),
    ]
}

fn to_json(summary: &Summary) -> Value {
    serde_json::to_value(summary).unwrap()
}

/// The record without its later rounds: a golden file shows each kind of point, not many of them.
fn one_round(mut record: RunRecord) -> RunRecord {
    record.slices.retain(|slice| slice.key.round == 0);
    record
}

/// A baseline, a server that is 5 % slower, and the control; earlier runs have shown how much starts differ.
fn decided() -> RunRecord {
    let steady = |truth: Truth| Truth { fork_sd: 0.001, ..truth };
    let truths = [baseline(), variant("http4s.Tapir", 0.95), control()].map(steady);
    with_prior(one_round(run(&truths, 10, &[SliceKind::Saturating, SliceKind::Poisson])), 0.006)
}

/// Starts that differ from each other by far more than the servers do.
fn undecided() -> RunRecord {
    let noisy = Truth { fork_sd: 0.08, ..variant("http4s.Tapir", 0.97) };
    let mut record = one_round(run(&[baseline(), noisy, control()], 4, &ALL_KINDS));
    record.header.git_revision = None;
    record.header.plan.groups[0].variants[1].version = Some("1.11.15".to_owned());
    // Other programs disturbed one start.
    record
        .slices
        .iter_mut()
        .filter(|slice| slice.key.fork == 2)
        .for_each(|slice| slice.server.others_share = Some(0.5));
    // Enough answers in one slice for its 99th percentile.
    let mut many = LatencyHistogram::new();
    (0..2_000).for_each(|i| many.record_ns(100_000 + i * 1_000));
    record.slices[0].load.response = PackedHistogram::from(&many);
    record
}

/// Five starts, and in one of them the compared server settled at half its speed.
fn odd_start() -> RunRecord {
    let mut record = one_round(run(&[baseline(), variant("http4s.Tapir", 0.95)], 5, &[SliceKind::Saturating]));
    for slice in record.slices.iter_mut().filter(|slice| slice.key.fork == 3 && slice.key.variant == "http4s.Tapir") {
        slice.load.completed /= 2;
    }
    record
}

/// The same server under two names, in enough starts to say so.
fn equivalent() -> RunRecord {
    let steady = |truth: Truth| Truth { fork_sd: 0.001, ..truth };
    let truths = [baseline(), variant("http4s.Tapir", 1.0)].map(steady);
    let mut record = run(&truths, 20, &[SliceKind::Saturating]);
    record.slices.retain(|slice| slice.key.round < 2);
    record
}

/// Starts without JVM, failures, a server that died, and an event with its last words.
fn broken() -> RunRecord {
    let mut record = one_round(run(&[baseline(), variant("http4s.Tapir", 0.95)], 2, &[SliceKind::Saturating]));
    record.end = None;
    record.header.plan.stop.forks = Forks::Fixed { count: 3 };
    for slice in record.slices.iter_mut().filter(|slice| slice.key.variant == "http4s.Tapir") {
        (slice.load.ok, slice.load.completed, slice.load.failed) = (0, 0, 900);
        slice.server = ServerUse::default();
        let tally = ErrorTally { count: 900, example: "connection refused".to_owned() };
        slice.load.errors = [(ErrorClass::Connect, tally)].into_iter().collect();
    }
    record.events.push(EventRecord {
        at_ns: 21_000_000_000,
        group: Some("http4s".to_owned()),
        variant: Some("http4s.Tapir".to_owned()),
        scenario: Some("SimpleGet".to_owned()),
        fork: Some(2),
        log: Some("java.lang.OutOfMemoryError: <b>Java heap space</b>".to_owned()),
        ..EventRecord::new(EventKind::ServerEnded { end: "exited with code 137".to_owned() })
    });
    record
}

/// One fork, with what another load tool measured and why a second one could not be asked.
fn sequential() -> Summary {
    let mut summary = cross_checks::measured();
    summary.cross_checks.extend(cross_checks::not_possible().cross_checks);
    summary
}

/// The server of `b` has a clock of its own.
fn two_clocks(mut record: RunRecord) -> RunRecord {
    let clock =
        ClockEstimate { offset_ns: Some(3_000_000_456), messages: 3, round_trip_ns: Some(40_000), is_confirmed: true };
    for slice in record.slices.iter_mut().filter(|slice| slice.key.variant == "b") {
        slice.load.messages.clock = Some(clock);
    }
    record
}

/// A scored run with its profiles, and one method of them at two versions.
fn explained() -> Summary {
    let record = run(&[baseline(), variant("http4s.Tapir", 0.95)], 3, &[SliceKind::Saturating]);
    let mut summary = summarize_with(&one_round(record), Some(&profiles::profiled()));
    let share = |value: f64| Estimate { value, lo: Some(value - 0.01), hi: Some(value + 0.01) };
    let (short, name) = ("Uri.parse".to_owned(), "layer.Uri.parse".to_owned());
    summary.profiles.as_mut().unwrap().versions.push(AcrossVersions {
        server: "http4s.Tapir".to_owned(),
        scenario: "SimpleGet".to_owned(),
        event: ProfileEvent::Cpu,
        versions: ["1.9.11", "1.11.15"].map(str::to_owned).to_vec(),
        rows: vec![VersionRow { short, name, shares: vec![share(0.12), share(0.08)] }],
    });
    summary
}

/// Three steps. The last costs nothing.
fn ladder() -> RunRecord {
    let steps = [baseline(), variant("http4s.Tapir", 0.9), variant("http4s.TapirLog", 0.9)];
    let mut record = one_round(run(&steps, 3, &[SliceKind::Fixed]));
    record.header.plan.groups[0].ladder = true;
    record
}

/// Indented JSON. A value without arrays and objects is on one line.
fn printed(value: &Value, depth: usize) -> String {
    let nested = |value: &Value| value.is_array() || value.is_object();
    let (open, close, items): (char, char, Vec<String>) = match value {
        Value::Array(items) if items.iter().any(nested) => {
            ('[', ']', items.iter().map(|item| printed(item, depth + 1)).collect())
        }
        Value::Object(entries) if entries.values().any(nested) => {
            let entry = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(key.as_str()), printed(value, depth + 1))
            };
            ('{', '}', entries.iter().map(entry).collect())
        }
        flat => return flat.to_string(),
    };
    let (inner, outer) = ("  ".repeat(depth + 1), "  ".repeat(depth));
    format!("{open}\n{inner}{}\n{outer}{close}", items.join(&format!(",\n{inner}")))
}

/// The same JSON with each number rounded to [`DIGITS`] significant digits.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            let shown = format!("{:.*e}", DIGITS - 1, number.as_f64().unwrap());
            Value::Number(Number::from_f64(shown.parse().unwrap()).unwrap())
        }
        Value::Array(items) => items.into_iter().map(rounded).collect(),
        Value::Object(entries) => entries.into_iter().map(|(key, value)| (key, rounded(value))).collect(),
        other => other,
    }
}

/// Where two summaries differ in form, in words. Numbers and texts may differ: they change with every rule and wording,
/// and the page shows any. Keys, kinds of values and the names of enums may not.
fn difference(path: &str, known: &Value, now: &Value) -> Option<String> {
    match (known, now) {
        (Value::Object(known), Value::Object(now)) => {
            let missing = known.keys().find(|key| !now.contains_key(*key));
            let added = now.keys().find(|key| !known.contains_key(*key));
            let inner = |(key, value): (&String, &Value)| difference(&format!("{path}.{key}"), value, now.get(key)?);
            missing
                .map(|key| format!("{path}.{key} is gone"))
                .or_else(|| added.map(|key| format!("{path}.{key} is new")))
                .or_else(|| known.iter().find_map(inner))
        }
        (Value::Array(known), Value::Array(now)) if known.len() == now.len() => {
            let mut pairs = known.iter().zip(now).enumerate();
            pairs.find_map(|(index, (known, now))| difference(&format!("{path}[{index}]"), known, now))
        }
        (Value::Array(known), Value::Array(now)) => {
            Some(format!("{path} had {} items, has {}", known.len(), now.len()))
        }
        (Value::Number(_), Value::Number(_)) => None,
        (Value::String(known), Value::String(now)) if !(is_name(known) && is_name(now)) => None,
        _ => (known != now).then(|| format!("{path} was {known}, is {now}")),
    }
}

/// Whether a text is the name of an enum, and no words for people.
fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}
