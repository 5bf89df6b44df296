//! What profiles say, held against stacks whose truth is planted.

use tare_analysis::summary::{AcrossVersions, Profiles};
use tare_analysis::{summarize, summarize_with};
use tare_plan::plan::Mode;
use tare_plan::profile::{Profile, ProfileEvent};
use tare_record::RunRecord;
use tare_record::profile::{PackedText, ProfileRecord, Weight};
use tare_report::text::{Style, render};
use tare_report::{html, json, markdown, write_profiles};
use tare_units::Span;

use crate::synthetic::{baseline, run, standard, variant};

const LAYER: &str = "http4s.Tapir";

fn profile(fork: u32, variant: &str, event: ProfileEvent, cpu_ns: u64, stacks: &str) -> ProfileRecord {
    ProfileRecord {
        fork,
        group: "http4s".to_owned(),
        scenario: "SimpleGet".to_owned(),
        variant: variant.to_owned(),
        event,
        sampler: "a sampler".to_owned(),
        span_ns: 20_000_000_000,
        offered_per_s: 1_000.0,
        requests: 20_000,
        cpu_ns: (event == ProfileEvent::Cpu).then_some(cpu_ns),
        file: Some(format!("{variant}-{fork}.jfr")),
        weight: if event == ProfileEvent::Cpu { Weight::Samples { every_ns: 1_000_000 } } else { Weight::Bytes },
        stacks: PackedText::pack(stacks),
    }
}

/// Three profiled starts of a bare server (50 µs a request) and of one with a layer (60 µs), in which 8 % are planted under
/// `Uri.parse` and 4 % under `Path.show`, and which allocates 4 KB more, half of it in `Uri.parse`.
pub fn profiled() -> RunRecord {
    let mut record = run(&[baseline(), variant(LAYER, 0.95)], 1, &[]);
    record.header.plan.mode = Mode::Profiled;
    let events = vec![ProfileEvent::Cpu, ProfileEvent::Alloc];
    record.header.plan.profile =
        Some(Profile { events, forks: 3, span: Span::from_secs(20), focus: r"^layer\.".to_owned() });
    for fork in 1..=3 {
        let wobble = u64::from(fork) * 10;
        let bare = "main;net.Server.handle_[j] 900\nmain;[unknown_Java] 100\n";
        record.profiles.push(profile(fork, "http4s.Vanilla", ProfileEvent::Cpu, 1_000_000_000 + wobble, bare));
        let (uri, path) = (800 + wobble, 400 - wobble);
        let layer = format!(
            "main;net.Server.handle_[j] {}\nmain;net.Server.handle_[j];layer.Run.all_[j];layer.Uri.parse_[j] {uri}\n\
             main;net.Server.handle_[j];layer.Run.all_[j];layer.Path.show_[i] {path}\n",
            10_000 - uri - path
        );
        record.profiles.push(profile(fork, LAYER, ProfileEvent::Cpu, 1_200_000_000 + wobble, &layer));
        let bytes = |kb: u64| kb * 1_000 * 20_000;
        let bare = format!("main;net.Server.handle_[j];byte[]_[c] {}\n", bytes(10));
        record.profiles.push(profile(fork, "http4s.Vanilla", ProfileEvent::Alloc, 0, &bare));
        let layer = format!(
            "{bare}main;net.Server.handle_[j];layer.Uri.parse_[j];byte[]_[c] {}\nmain;net.Server.handle_[j];layer.B.b_[j];X_[c] {}\n",
            bytes(2) + wobble,
            bytes(2)
        );
        record.profiles.push(profile(fork, LAYER, ProfileEvent::Alloc, 0, &layer));
    }
    record
}

fn studied() -> Profiles {
    summarize_with(&profiled(), None).profiles.unwrap()
}

#[test]
fn a_profiled_run_begins_with_how_much_more_it_costs() {
    let summary = summarize_with(&profiled(), None);
    let answer = &summary.headline.text;
    assert!(answer.starts_with("http4s.Tapir uses 60.0 µs of CPU per request"), "{answer}");
    assert_eq!(*answer, summary.profiles.as_ref().unwrap().whys[0].sentences[0].text);
    let text = render(&summary, &Style { colored: false, width: 1_000 });
    assert_eq!(text.matches(answer.as_str()).count(), 1, "{text}");
    assert!(!text.contains("throughput"), "no table of scores: {text}");
    assert!(text.contains("  method, with all that it calls\n"), "{text}");
}

#[test]
fn the_sentences_name_the_planted_methods_with_their_shares_and_costs() {
    let profiles = studied();
    assert_eq!(profiles.whys.len(), 1);
    let texts: Vec<&str> = profiles.whys[0].sentences.iter().map(|sentence| sentence.text.as_str()).collect();
    assert!(texts[0].starts_with("http4s.Tapir uses 60.0 µs of CPU per request, 10.0 µs"), "{texts:?}");
    assert!(texts[0].contains("more than http4s.Vanilla (+20.0 %"), "{texts:?}");
    let layer = "of the CPU of http4s.Tapir is in layer, with what it calls that http4s.Vanilla does not run.";
    assert!(texts[1].starts_with("At least 12.0 % [") && texts[1].ends_with(layer), "{texts:?}");
    assert!(texts[2].starts_with("Of its CPU, 8.2 % (±"), "{texts:?}");
    assert!(texts[2].contains("under `Uri.parse` and 3.8 % (±") && texts[2].contains("under `Path.show`"), "{texts:?}");
    assert!(texts[2].ends_with("neither of which runs in the baseline."), "{texts:?}");
    assert!(texts[3].starts_with("It allocates 4.00 KB"), "{texts:?}");
    assert!(texts[3].contains("2.00 KB in `Uri.parse`"), "{texts:?}");
}

#[test]
fn what_takes_less_than_in_the_baseline_is_not_said_to_be_the_same() {
    let mut record = profiled();
    for profile in &mut record.profiles {
        profile.variant = if profile.variant == LAYER { "http4s.Vanilla" } else { LAYER }.to_owned();
    }
    let profiles = summarize_with(&record, None).profiles.unwrap();
    let cpu = profiles.views.iter().find(|view| view.id == "http4s/SimpleGet/http4s.Tapir/cpu").unwrap();
    let less = cpu.moved.iter().find(|frame| frame.name == "layer.Uri.parse").unwrap();
    assert!(less.certain && less.difference.value < 0.0, "{less:?}");
    let texts: Vec<&str> = profiles.whys[0].sentences.iter().map(|sentence| sentence.text.as_str()).collect();
    let none = "Of its CPU, no method that can be named takes more than in the baseline beyond its interval.";
    assert!(texts.contains(&none), "{texts:?}");
}

#[test]
fn shares_of_the_focus_failures_and_coverage_are_told() {
    let profiles = studied();
    let of = |id: &str| profiles.views.iter().find(|view| view.id == id).unwrap();
    let layer = of("http4s/SimpleGet/http4s.Tapir/cpu");
    assert!((layer.focus_share.unwrap().value - 0.12).abs() < 1e-9);
    assert!((layer.coverage.unwrap() - 30.0 / 3.6).abs() < 0.01, "30,000 samples of 1 ms, of 3 times 1.2 s of CPU");
    assert_eq!(layer.hot[0].name, "net.Server.handle");
    let bare = of("http4s/SimpleGet/http4s.Vanilla/cpu");
    assert!((bare.failed_share - 0.1).abs() < 1e-9 && bare.baseline.is_none());
    assert_eq!((layer.samples, of("http4s/SimpleGet/http4s.Tapir/alloc").samples), (Some(30_000), None));
}

#[test]
fn every_form_shows_profiles_and_no_name_is_markup() {
    let mut record = profiled();
    let hostile = "main;<script>alert(1)</script>\u{1b}[31m 10\n";
    record.profiles.push(profile(4, LAYER, ProfileEvent::Cpu, 1_000, hostile));
    let summary = summarize_with(&record, None);
    let text = render(&summary, &Style { colored: false, width: 120 });
    assert!(text.contains("why http4s.Tapir on SimpleGet") && !text.contains('\u{1b}'), "{text}");
    assert!(text.contains("Uri.parse"), "{text}");
    assert!(!html::render(&summary).unwrap().contains("<script>alert"));
    assert!(json::render(&summary).unwrap().contains("\"difference_per_request\""));
    let markdown = markdown::render(&summary);
    assert!(markdown.contains("## Why http4s.Tapir on SimpleGet\n\n- http4s.Tapir uses"), "{markdown}");
    assert!(markdown.contains("- At least ") && !markdown.contains("<script>"), "{markdown}");
    let folder = tempfile::tempdir().unwrap();
    let files = write_profiles(&record, folder.path()).unwrap();
    let endings = ["collapsed", "speedscope.json", "pb.gz", "svg", "difference.svg"];
    for ending in endings {
        let named = |path: &&std::path::PathBuf| path.to_string_lossy().ends_with(ending);
        assert!(files.iter().find(named).is_some_and(|path| path.exists()), "{ending}");
    }
}

#[test]
fn profiles_of_servers_with_names_alike_have_files_of_their_own() {
    let mut record = run(&[baseline(), variant("a b", 1.0), variant("a/b", 1.0)], 1, &[]);
    let events = vec![ProfileEvent::Cpu];
    record.header.plan.profile = Some(Profile { events, forks: 1, span: Span::from_secs(20), focus: String::new() });
    record.profiles = ["a b", "a/b"].map(|name| profile(1, name, ProfileEvent::Cpu, 1_000, "main;x_[j] 10\n")).to_vec();
    let folder = tempfile::tempdir().unwrap();
    let mut files = write_profiles(&record, folder.path()).unwrap();
    files.sort();
    files.dedup();
    assert_eq!(files.len(), 8, "four forms of each: {files:?}");
}

#[test]
fn methods_across_versions_stand_in_a_table_of_their_own() {
    let mut summary = summarize_with(&profiled(), None);
    let versions = ["1.9.11", "1.11.15"].map(str::to_owned).to_vec();
    let (server, scenario, event) = (LAYER.to_owned(), "SimpleGet".to_owned(), ProfileEvent::Cpu);
    let table = AcrossVersions { server, scenario, event, versions, rows: Vec::new() };
    summary.profiles.as_mut().unwrap().versions.push(table);
    let text = render(&summary, &Style { colored: false, width: 120 });
    assert!(text.contains("\ncpu of http4s.Tapir by version, SimpleGet\n  no method stands out\n"), "{text}");
}

#[test]
fn a_profile_that_cannot_be_read_costs_only_itself() {
    let mut record = profiled();
    record.profiles[1].stacks = PackedText::from_bytes(vec![0xff, 1, 2]);
    record.profiles[3].stacks = PackedText::pack("no stack");
    let profiles = summarize_with(&record, None).profiles.unwrap();
    let layer = profiles.views.iter().find(|view| view.id.ends_with("Tapir/cpu")).unwrap();
    assert_eq!(layer.forks, 2);
    let why = profiles.whys.iter().find(|why| why.variant == LAYER).unwrap();
    for (event, reason) in [("cpu", ""), ("alloc", "line 1 is no collapsed stack (\"no stack\")")] {
        let said = format!("http4s.Tapir has no usable {event} profile of start 1 ({reason}");
        assert!(why.sentences.iter().any(|sentence| sentence.text.starts_with(&said)), "{said}: {:?}", why.sentences);
    }
}

#[test]
fn a_scored_run_says_nothing_of_profiles_and_changes_in_nothing_beside_them() {
    let scored = standard();
    assert!(scored.profiles.is_empty() && summarize(&scored).profiles.is_none());
    assert!(scored.forks.iter().all(|fork| fork.command.iter().all(|word| !word.contains("asyncProfiler"))));
    let mut beside = summarize_with(&scored, Some(&profiled()));
    let why = beside.profiles.take().unwrap().whys.remove(0);
    assert!(why.sentences[0].text.contains("scored: CPU/request"), "{}", why.sentences[0].text);
    assert_eq!(beside, summarize(&scored));
}
