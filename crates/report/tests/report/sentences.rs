//! Every verdict as a sentence.

use tare_analysis::differences::compare_servers;
use tare_analysis::summarize;
use tare_analysis::summary::{Summary, VerdictKind};
use tare_plan::Currency;
use tare_plan::plan::{Program, SliceKind};
use tare_record::{EventKind, EventRecord, PackedHistogram, RunRecord};
use tare_report::text::{Style, render, render_findings};
use tare_report::{ci, csv, markdown};
use tare_stats::histogram::LatencyHistogram;

use crate::synthetic::{self, baseline, control, variant};

const KINDS: [SliceKind; 2] = [SliceKind::Saturating, SliceKind::Poisson];

#[test]
fn every_verdict_is_a_sentence() {
    let two = |speed, forks| synthetic::run(&[baseline(), variant("http4s.Tapir", speed)], forks, &KINDS);
    let mut noisy = control();
    noisy.fork_sd = 0.05;
    let mut dead = two(0.9, 6);
    dead.slices.retain(|s| s.key.variant != "http4s.Tapir");
    let mut baseline_dead = two(0.9, 6);
    baseline_dead.slices.retain(|s| s.key.variant == "http4s.Tapir");
    let records = [
        ("worse, materially", two(0.9, 8)),
        ("better, materially", two(1.25, 8)),
        ("worse, perhaps not materially", two(0.972, 12)),
        ("no material difference", two(1.0, 16)),
        ("too few forks", two(0.9, 3)),
        ("too wide", synthetic::run(&[baseline(), variant("a", 0.99), variant("b", 0.985)], 6, &KINDS)),
        ("one fork", synthetic::sequential(&[baseline(), variant("http4s.Tapir", 0.9)])),
        ("void", dead),
        ("void baseline", baseline_dead),
        ("against itself", synthetic::run(&[baseline(), control()], 16, &KINDS)),
        ("against itself, noisy", synthetic::run(&[baseline(), noisy], 6, &KINDS)),
    ];
    let said = records.iter().flat_map(|(case, record)| {
        let sentences = summarize(record).sentences.into_iter();
        sentences.map(move |s| format!("{case} ({:?}):\n  {}\n", s.verdict, s.text))
    });
    insta::assert_snapshot!(said.collect::<String>());
}

/// The p99 of the standard summary, as one start would give it.
fn with_p99_of_one_start() -> Summary {
    let mut summary = synthetic::standard_summary();
    let p99 = summary.comparisons[0].currencies.iter_mut().find(|ratio| ratio.name == Currency::LatencyP99).unwrap();
    (p99.verdict, p99.ratio, p99.lo, p99.hi) = (VerdictKind::NoInterval, 1.524, None, None);
    p99.short = "+52.4 %".to_owned();
    p99.reason = Some("one of 8 starts can state it for both servers".to_owned());
    summary
}

/// The standard run with other response times under the load of the latency. `response_ns` has the start, and whether the server
/// is the one with the layer.
fn with_responses(response_ns: impl Fn(u32, bool) -> Vec<u64>) -> RunRecord {
    let mut record = synthetic::standard();
    for slice in record.slices.iter_mut().filter(|slice| slice.key.kind == SliceKind::Poisson) {
        let mut response = LatencyHistogram::new();
        response_ns(slice.key.fork, slice.key.variant == "http4s.Tapir").iter().for_each(|ns| response.record_ns(*ns));
        slice.load.response = PackedHistogram::from(&response);
    }
    record
}

#[test]
fn a_percentile_of_one_start_is_marked_and_not_told_as_a_change() {
    let summary = with_p99_of_one_start();
    let why = "one of 8 starts can state it for both servers";
    for width in [140, 80] {
        let text = render(&summary, &Style { colored: false, width });
        assert!(!text.contains("52.4") && text.contains("? not decided"), "{text}");
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(&format!("http4s.Tapir: p99 at half load ?, {why}")), "{text}");
    }
    let comment = ci::comment::render(&summary);
    assert!(comment.contains(&format!("p99 at half load ? ({why})")) && !comment.contains("52.4"), "{comment}");
    assert!(!ci::openmetrics::render(&summary).contains("currency=\"latency_p99\""), "no ratio of p99");
    assert!(!ci::bencher::render(&summary).unwrap().contains("latency-p99-ratio"));
    assert!(ci::junit::render(&summary).contains(&format!("p99 at half load: ? ({why})")));
    let markdown = markdown::render(&summary);
    let row = markdown.lines().find(|line| line.starts_with("| http4s.Tapir |")).unwrap();
    assert!(row.contains(" ms ? | ") && markdown.contains("\n? not decided, or too few"), "{markdown}");
    let cells = csv::cells_as_csv(&summary);
    let column = cells.lines().next().unwrap().split(',').position(|name| name == "latency_p99_ratio").unwrap();
    assert!(cells.lines().skip(1).all(|line| line.split(',').nth(column).is_none_or(|ratio| !ratio.contains("52"))));
}

/// What a comparison of both servers says of their p99, as a level and as a ratio.
fn shorts_of_p99(summary: &Summary) -> Vec<String> {
    let found = compare_servers(summary, "http4s.Vanilla", "http4s.Tapir").unwrap().changes.into_iter();
    let shorts: Vec<String> = found.filter(|one| one.name == "latency_p99").map(|one| one.short).collect();
    assert!(!shorts.is_empty());
    shorts
}

#[test]
fn a_percentile_that_one_start_of_several_can_state_says_so() {
    // 4 slices of 260 requests are enough for a p99, and 4 of 240 are not.
    let record = with_responses(|fork, _| vec![1_000_000; if fork == 3 { 260 } else { 240 }]);
    let summary = summarize(&record);
    let comparison = &summary.comparisons[0];
    let p99 = comparison.currencies.iter().find(|ratio| ratio.name == Currency::LatencyP99).unwrap();
    assert_eq!((p99.verdict, p99.forks), (VerdictKind::NoInterval, 1));
    assert_eq!(comparison.untold(p99), Some("one of 8 starts can state it for both servers"));
    assert_eq!(shorts_of_p99(&summary), ["? one of 8 starts states it"]);
}

#[test]
fn a_difference_against_its_own_two_figures_is_not_decided() {
    let usual = |is_layer| vec![if is_layer { 1_100_000 } else { 1_000_000 }; 300];
    let figures = |record: &RunRecord| {
        let summary = summarize(record);
        let ratios = &summary.comparisons[0].currencies;
        (ratios.iter().find(|ratio| ratio.name == Currency::LatencyP99).unwrap().clone(), summary)
    };
    let (p99, _) = figures(&with_responses(|_, is_layer| usual(is_layer)));
    assert_eq!(p99.verdict, VerdictKind::Worse, "{p99:?}");
    // A start of the bare server is slow, and the layer has too few requests in it for a ratio.
    let opposite = with_responses(|fork, is_layer| match (fork, is_layer) {
        (1, false) => [vec![1_000_000; 200], vec![100_000_000; 100]].concat(),
        (1, true) => vec![1_100_000; 200],
        _ => usual(is_layer),
    });
    let (p99, summary) = figures(&opposite);
    assert!(p99.variant_value < p99.baseline_value && p99.ratio > 1.0, "{p99:?}");
    assert_eq!(p99.verdict, VerdictKind::Inconclusive, "{p99:?}");
    let why = "the two figures of all starts differ in the other direction";
    assert_eq!(p99.reason.as_deref(), Some(why));
    let text = render(&summary, &Style { colored: false, width: 400 });
    assert!(text.contains(&format!("http4s.Tapir: p99 at half load ?, {why}")), "{text}");
    assert!(ci::comment::render(&summary).contains(&format!("? ({why})")));
    assert!(ci::junit::render(&summary).contains(why));
    assert!(summary.headline.text.contains(" Not decided yet: p99 at half load."), "{}", summary.headline.text);
    assert_eq!(shorts_of_p99(&summary), ["? the two figures differ in the other direction"]);
}

#[test]
fn what_can_never_be_compared_has_a_question_mark() {
    let mut summary = synthetic::standard_summary();
    summary.comparisons[0].currencies.retain(|ratio| ratio.name != Currency::LatencyP99);
    let text = render(&summary, &Style { colored: false, width: 140 });
    assert!(text.contains(" ms ?") && text.contains("? not decided"), "{text}");
}

#[test]
fn the_cost_in_cpu_time_is_that_of_the_ratio_in_every_form() {
    let summary = synthetic::standard_summary();
    let comparison = &summary.comparisons[0];
    let cpu = comparison.currencies.iter().find(|ratio| ratio.name == Currency::CpuPerRequest).unwrap();
    let cost = comparison.cpu_cost.as_ref().unwrap();
    assert!((cost.ns_per_request - (cpu.ratio - 1.0) * cpu.baseline_value).abs() < 1e-6, "{cost:?}");
    // 2.2 µs a request, 1,000 times a second, are 2.2 ms a second: 0.2 % of a core.
    assert!(cost.text.starts_with("+2.2") && cost.text.contains(" µs [+1."), "{}", cost.text);
    assert!(cost.text.ends_with("] of CPU a request = 0.2 % of a core at 1,000 requests/s"), "{}", cost.text);
    assert!(summary.headline.text.contains(&format!(" That is {}.", cost.text)), "{}", summary.headline.text);
    let style = Style { colored: false, width: 400 };
    let text = cost.text.as_str();
    assert_eq!(render(&summary, &style).matches(text).count(), 1, "the headline has it");
    let mut without = summary.clone();
    without.headline.text.clear();
    assert!(render(&without, &style).contains(&format!("http4s.Tapir: {text}")), "else a note has it");
    assert!(ci::comment::render(&summary).contains("of CPU a request"));
    assert!(ci::junit::render(&summary).contains(&cost.text));
    let metrics = ci::openmetrics::render(&summary);
    for (end, ns) in [("", Some(cost.ns_per_request)), ("_lower", cost.lo), ("_upper", cost.hi)] {
        let name = format!("tare_added_cpu_seconds_per_request{end}{{");
        let gauge = metrics.lines().find(|line| line.starts_with(&name)).unwrap();
        let value: f64 = gauge.rsplit(' ').next().unwrap().parse().unwrap();
        assert!((value * 1e9 - ns.unwrap()).abs() < 1e-3, "{gauge}");
    }
}

#[test]
fn servers_that_tare_does_not_start_have_no_interval_over_starts() {
    let mut record = synthetic::standard();
    for variant in &mut record.header.plan.groups[0].variants {
        variant.program = Program::External { url: "http://127.0.0.1:8080".to_owned(), transport: Default::default() };
    }
    record.events.push(EventRecord::new(EventKind::ExternalServer));
    let summary = summarize(&record);
    let style = Style { colored: false, width: 400 };
    let text = render(&summary, &style);
    assert!(
        text.contains("tare did not start these servers: the interval shows how repeated measurements differ"),
        "{text}"
    );
    assert!(text.contains("interval of repeated measurements of the same start"), "{text}");
    assert!(!text.contains("confidence interval"), "{text}");
    let facts = render_findings(&summary, &style);
    assert!(facts.contains("server: not started by tare · generator: core 1"), "{facts}");
    assert!(facts.contains("keep it off the generator's cores"), "{facts}");
    for ratio in &summary.comparisons[0].currencies {
        assert!(!ratio.method.contains("start") && !ratio.reason.iter().any(|why| why.contains("start")), "{ratio:?}");
    }
    // Fewer than an interval needs.
    record.slices.retain(|slice| slice.key.fork < 3);
    record.forks.retain(|fork| fork.fork < 3);
    let summary = summarize(&record);
    assert_eq!(summary.comparisons[0].currencies[0].reason.as_deref(), Some("2 of at least 5 repeats"));
    record.slices.retain(|slice| slice.key.fork < 2);
    record.forks.retain(|fork| fork.fork < 2);
    let text = render(&summarize(&record), &style);
    assert!(text.contains("In one repeat each, "), "{text}");
    assert!(text.contains("One repeat gives no interval."), "{text}");
    assert!(text.contains("One repeat, no interval: Two repeats of one program differ"), "{text}");
}

#[test]
fn the_list_of_all_findings_has_every_reason_in_full() {
    let mut record = synthetic::standard();
    record.slices.iter_mut().for_each(|slice| slice.server.others_share = Some(0.4));
    let summary = summarize(&record);
    let style = Style { colored: false, width: 60 };
    for text in [render_findings(&summary, &style), render(&summary, &style)] {
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!text.contains('…'), "{text}");
        assert!(
            joined.contains("suspect, other programs used up to 40 % of the cores, and more than 10 % in "),
            "{text}"
        );
    }
}

#[test]
fn a_remedy_names_no_flag_that_a_run_does_not_have() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let settings = std::fs::read_to_string(root.join("../../docs/SETTINGS.md")).unwrap();
    let load = ["--seed", "--timeout", "--cacert", "--cert", "--insecure"];
    let others = [&["--suite", "--findings", "--against", "--home", "--dir"][..], &load].concat();
    let files = ["summary/finding", "cell/validity", "compare/wording", "words/next_step", "words/limit_words"];
    for file in files {
        let path = root.join("../analysis/src").join(file).with_extension("rs");
        let text = std::fs::read_to_string(path).unwrap();
        let is_flag = |word: &&str| word.starts_with("--") && word.len() > 3;
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(is_flag);
        for flag in words {
            assert!(others.contains(&flag) || settings.contains(flag), "{file} names {flag}");
        }
    }
}
