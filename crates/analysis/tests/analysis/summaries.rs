//! Summaries: planted truths are found, identical servers do not differ, and missing values are reported.

use tare_analysis::Currency;
use tare_analysis::summarize;
use tare_analysis::summary::{
    Bottleneck, FindingKind, Mode, ReportFinding, RunStatus, Summary, ValidityState, VerdictKind,
};
use tare_plan::plan::{Forks, Skipped, SliceKind};
use tare_record::{EndStatus, EventKind, EventLevel, EventName, EventRecord, RunRecord};

use crate::synthetic::{self, ALL_KINDS, baseline, control, standard, standard_summary, variant};

pub(crate) fn kinds(summary: &Summary) -> Vec<FindingKind> {
    summary.findings.iter().map(|f| f.kind).collect()
}

#[test]
fn a_planted_slowdown_of_five_percent_is_found_with_an_interval_that_holds_it() {
    let summary = standard_summary();
    assert_eq!(summary.comparisons.len(), 1, "the control is no comparison");
    let throughput = &summary.comparisons[0].currencies[0];
    assert_eq!((throughput.name, throughput.verdict), (Currency::Throughput, VerdictKind::Worse));
    assert!(throughput.lo.unwrap() < 0.95 && 0.95 < throughput.hi.unwrap(), "{throughput:?}");
    let cpu = &summary.comparisons[0].currencies[1];
    assert_eq!((cpu.name, cpu.verdict), (Currency::CpuPerRequest, VerdictKind::Worse));
    assert!(cpu.lo.unwrap() < 1.0 / 0.95 && 1.0 / 0.95 < cpu.hi.unwrap(), "{cpu:?}");
    let text = &summary.sentences[0].text;
    assert!(text.starts_with("http4s.Tapir answers ") && text.contains(" It uses "), "{text}");
    assert!(text.contains(" % fewer requests per second than http4s.Vanilla on SimpleGet ["), "{text}");
    assert_eq!((&summary.headline.text, summary.headline.verdict), (text, VerdictKind::Worse));
}

#[test]
fn a_fork_in_another_mode_counts_in_no_currency_of_its_comparison() {
    let mut record = synthetic::run(&[baseline(), variant("http4s.Tapir", 0.95)], 9, &[SliceKind::Saturating]);
    let usual = summarize(&record).comparisons[0].clone();
    assert!(usual.odd_forks.is_empty());
    for slice in record.slices.iter_mut().filter(|slice| slice.key.fork == 5 && slice.key.variant == "http4s.Tapir") {
        slice.load.completed /= 2;
    }
    let summary = summarize(&record);
    let comparison = &summary.comparisons[0];
    assert_eq!(comparison.odd_forks.iter().map(|odd| odd.fork).collect::<Vec<_>>(), [5]);
    assert!((0.45..0.5).contains(&comparison.odd_forks[0].ratio), "{:?}", comparison.odd_forks);
    for (with, without) in comparison.currencies.iter().zip(&usual.currencies) {
        assert_eq!((with.forks, with.fork_ratios.len()), (8, 8), "{:?}", with.name);
        assert!((with.ratio / without.ratio - 1.0).abs() < 0.01, "{} against {}", with.ratio, without.ratio);
    }
    let left_out = FindingKind::Report(ReportFinding::OddForksLeftOut);
    let finding = summary.findings.iter().find(|finding| finding.kind == left_out).unwrap();
    assert!(finding.text.contains("SimpleGet/http4s.Tapir: 8 of 9 starts differ by about −"), "{}", finding.text);
    assert!(finding.text.contains("the other 1 by −5"), "{}", finding.text);
}

#[test]
fn levels_agree_with_arithmetic_by_hand() {
    // Two forks of one slice: 900 and 1,100 answers in 0.5 s; CPU 60 ms / 1,000 and 80 ms / 1,000 requests, and 10 ms of
    // compilers.
    let mut record = synthetic::run(&[baseline()], 2, &[SliceKind::Saturating]);
    record.slices.retain(|s| s.key.round == 0);
    for (slice, (completed, cpu_ns)) in record.slices.iter_mut().zip([(900, 60_000_000), (1_100, 80_000_000)]) {
        slice.load.completed = completed;
        slice.load.window_ns = 500_000_000;
        let cpu = slice.server.cpu.as_mut().unwrap();
        (cpu.total_ns, cpu.requests, cpu.wall_ns) = (cpu_ns + 10_000_000, 1_000, 500_000_000);
        cpu.by_kind = [("application".to_owned(), cpu_ns), ("jit".to_owned(), 10_000_000)].into();
        slice.load.generator_cpu_ns = 475_000_000;
    }
    let cell = &summarize(&record).cells[0];
    let throughput = cell.throughput_per_s.unwrap();
    assert!((throughput.value - 2_000.0).abs() < 1e-9);
    // sd of 1,800 and 2,200 is 282.84; t(0.995, 1) = 63.657; half-width 63.657 · 282.84 / √2 = 12,731: down to 0 at most.
    assert_eq!(throughput.lo, Some(0.0));
    assert!((throughput.hi.unwrap() - 14_731.3).abs() < 1.0, "{throughput:?}");
    assert!((cell.cpu_ns_per_request.unwrap().value - 70_000.0).abs() < 1e-9);
    assert_eq!(cell.cpu_load, "saturating");
    assert!((cell.generator_cpu_share.unwrap() - 0.95).abs() < 1e-12);
    // The server used 16 % of its core, the generator 95 % of its own.
    let states = [Currency::Throughput, Currency::CpuPerRequest].map(|currency| cell.validity.state_in(currency));
    assert_eq!((cell.bottleneck, states), (Bottleneck::Generator, [ValidityState::Suspect, ValidityState::Valid]));
}

#[test]
fn a_server_that_is_busy_in_its_own_turns_is_the_bottleneck() {
    // Two servers alternate, so that a round lasts twice as long as the turns of each.
    let bottlenecks = |busy_percent: u64, generator_percent: u64| {
        let truths = [baseline(), variant("http4s.Tapir", 0.9)];
        let mut record = synthetic::run(&truths, 2, &[SliceKind::Saturating]);
        for slice in &mut record.slices {
            slice.load.turns = 12;
            slice.load.generator_cpu_ns = slice.load.window_ns * generator_percent / 100;
            let cpu = slice.server.cpu.as_mut().unwrap();
            (cpu.total_ns, cpu.wall_ns) = (cpu.wall_ns * busy_percent / 100, cpu.wall_ns * 2);
        }
        summarize(&record).cells.iter().map(|cell| cell.bottleneck).collect::<Vec<_>>()
    };
    for (busy, generator, expected) in [
        (95, 25, Bottleneck::Server),
        (95, 95, Bottleneck::Both),
        (80, 25, Bottleneck::Neither),
        (80, 95, Bottleneck::Generator),
    ] {
        assert_eq!(bottlenecks(busy, generator), [expected; 2], "{busy} % and {generator} %");
    }
}

#[test]
fn a_void_server_is_no_step_of_a_ladder() {
    let truths = [baseline(), variant("http4s.Tapir", 0.9), variant("http4s.TapirLog", 0.8)];
    let mut record = synthetic::run(&truths, 3, &[SliceKind::Saturating]);
    record.header.plan.groups[0].ladder = true;
    for slice in record.slices.iter_mut().filter(|slice| slice.key.variant == "http4s.Tapir") {
        slice.load.failed = slice.load.ok;
    }
    let steps = &summarize(&record).ladders[0].steps;
    let known: Vec<_> = steps.iter().map(|step| (step.cpu_ns.is_some(), step.cpu_ns_added.is_some())).collect();
    assert_eq!(known, [(true, false), (false, false), (true, false)]);
    assert!(steps[1].allocated_bytes.is_none() && steps[2].allocated_bytes_added.is_none(), "{steps:?}");
}

#[test]
fn shares_of_time_are_of_a_server_s_own_turns() {
    let figures = |record: &RunRecord| {
        let cell = summarize(record).cells.remove(0);
        let cores: Vec<_> = cell.timeline.into_iter().map(|point| point.cpu).collect();
        (cell.gc_pause_share, cell.stopped_time_share, cell.probes.safepoint_share, cores)
    };
    let mut record = standard();
    let alone = figures(&record);
    for slice in record.slices.iter_mut().filter(|slice| slice.key.kind == SliceKind::Saturating) {
        slice.load.turns = 12;
        slice.server.cpu.as_mut().unwrap().wall_ns *= 2;
    }
    assert_eq!(figures(&record), alone);
}

#[test]
fn fixed_forks_are_judged_by_students_t_by_hand() {
    // Log-ratios per fork 0.07, 0.08, 0.09 (throughput); t(0.995, 2) = 9.9248, half-width 9.9248 · 0.01 / √3 = 0.057301.
    let mut record = synthetic::run(&[baseline(), variant("b", 1.0)], 3, &[SliceKind::Saturating]);
    record.header.plan.stop.forks = Forks::Fixed { count: 3 };
    record.slices.retain(|s| s.key.round == 0);
    for slice in &mut record.slices {
        slice.load.window_ns = 1_000_000_000;
        let faster = slice.key.variant == "b";
        let ratio = if faster { (0.06 + 0.01 * f64::from(slice.key.fork)).exp() } else { 1.0 };
        slice.load.completed = (1e7 * ratio).round() as u64;
    }
    let summary = summarize(&record);
    let currency = &summary.comparisons[0].currencies[0];
    assert!((currency.ratio.ln() - 0.08).abs() < 1e-6);
    assert!((currency.lo.unwrap().ln() - 0.022_699).abs() < 1e-5, "{currency:?}");
    assert!((currency.hi.unwrap().ln() - 0.137_301).abs() < 1e-5);
    // At 0.9 α, the share of the deciding currency, t is 10.479: the lower end is 0.019495, within the region of 2 %.
    assert_eq!((currency.verdict, currency.material), (VerdictKind::Better, false));
    assert_eq!(currency.method, "Student t, α 0.01, 3 starts");
    assert!((currency.sd_forks.unwrap() - 0.01).abs() < 1e-6);
}

#[test]
fn slices_are_paired_by_round_whatever_their_order() {
    let mut record = standard();
    let expected = summarize(&record).comparisons;
    record.slices.reverse();
    let got = summarize(&record).comparisons;
    assert!((got[0].currencies[0].ratio - expected[0].currencies[0].ratio).abs() < 1e-12);
}

#[test]
fn a_slice_without_an_answer_is_not_dropped() {
    let mut record = synthetic::run(&[baseline(), variant("b", 1.0)], 5, &[SliceKind::Saturating]);
    for slice in record.slices.iter_mut().filter(|s| s.key.variant == "b" && s.key.round == 3) {
        slice.load.completed = 0;
    }
    // A quarter of the time nothing came: 75 % of the throughput.
    let ratio = summarize(&record).comparisons[0].currencies[0].ratio;
    assert!((ratio - 0.75).abs() < 0.02, "{ratio}");
}

#[test]
fn too_few_forks_are_inconclusive_with_the_time_still_needed() {
    let summary = summarize(&synthetic::run(&[baseline(), variant("http4s.Tapir", 0.9)], 3, &ALL_KINDS));
    let currency = &summary.comparisons[0].currencies[0];
    assert_eq!(currency.verdict, VerdictKind::Inconclusive);
    assert!(currency.needed_s.is_some_and(|s| s > 5.0), "{currency:?}");
    assert!(summary.sentences[0].text.contains("more would decide it."), "{}", summary.sentences[0].text);
}

#[test]
fn a_sequential_run_has_ratios_and_no_interval() {
    let summary = summarize(&synthetic::sequential(&[baseline(), variant("http4s.Tapir", 0.9)]));
    assert_eq!(summary.run.mode, Mode::Sequential);
    let currency = &summary.comparisons[0].currencies[0];
    assert_eq!((currency.verdict, currency.lo, currency.hi), (VerdictKind::NoInterval, None, None));
    assert!((currency.ratio - 0.9).abs() < 0.02);
    assert!(kinds(&summary).contains(&FindingKind::Report(ReportFinding::OneFork)));
    assert!(summary.cells[0].fork_values.is_empty());
    assert!(summary.cells.iter().all(|c| c.throughput_per_s.unwrap().lo.is_none()));
}

#[test]
fn an_empty_run_is_a_summary_of_void_cells() {
    let mut record = synthetic::run(&[baseline(), variant("http4s.Tapir", 0.9)], 0, &ALL_KINDS);
    record.end = None;
    let summary = summarize(&record);
    assert_eq!((summary.run.status, summary.cells.len()), (RunStatus::Partial, 2));
    assert!(summary.cells.iter().all(|c| c.validity.joined_reasons() == "nothing was measured"));
    assert_eq!(summary.sentences[0].text, "http4s.Tapir on SimpleGet is void: nothing was measured.");
    assert!(kinds(&summary).contains(&FindingKind::Report(ReportFinding::RecordUnfinished)));
    let unmeasured =
        kinds(&summary).into_iter().filter(|kind| *kind == FindingKind::Report(ReportFinding::CellsUnmeasured));
    assert_eq!(unmeasured.count(), 1, "once, not cell by cell");
    record.header.plan.groups.clear();
    assert!(summarize(&record).cells.is_empty());
}

#[test]
fn a_record_cut_short_anywhere_gives_a_summary() {
    let whole = standard();
    for keep in [1, 2, 5, 13, 40, 100] {
        let mut record = whole.clone();
        record.slices.truncate(keep);
        record.forks.truncate(keep / 12);
        record.warmups.truncate(keep / 12);
        record.end = None;
        let summary = summarize(&record);
        assert_eq!((summary.cells.len(), summary.run.status), (3, RunStatus::Partial));
        let json = serde_json::to_string(&summary).unwrap();
        // NaN and infinity would be written as null, and null is no number.
        serde_json::from_str::<Summary>(&json).unwrap();
    }
}

#[test]
fn a_precise_interval_that_decides_nothing_says_so() {
    let mut record = synthetic::run(&[baseline(), variant("http4s.Tapir", 0.98)], 8, &[SliceKind::Saturating]);
    record.header.plan.stop.precision = 0.5;
    record.header.plan.stop.region = 0.001;
    record.header.plan.stop.floor = 0.02;
    let summary = summarize(&record);
    let currency = &summary.comparisons[0].currencies[0];
    assert_eq!((currency.verdict, currency.needed_s), (VerdictKind::Inconclusive, None));
    assert!(summary.sentences[0].text.ends_with("it is as precise as was asked for."), "{}", summary.sentences[0].text);
}

#[test]
fn cpu_is_taken_from_the_most_comparable_load_there_is() {
    for (kinds, load) in [
        (&ALL_KINDS[..], "same fixed rate"),
        (&[SliceKind::Saturating, SliceKind::Poisson], "Poisson 4,000/s"),
        (&[SliceKind::Saturating], "saturating"),
    ] {
        let summary = summarize(&synthetic::run(&[baseline()], 2, kinds));
        assert_eq!(summary.cells[0].cpu_load, load);
    }
}

#[test]
fn cpu_of_a_slice_with_a_few_requests_is_not_compared_where_there_is_a_better_one() {
    let with_slow_answers = |kinds: &[SliceKind]| {
        let mut record = synthetic::run(&[baseline()], 2, kinds);
        for slice in record.slices.iter_mut().filter(|slice| slice.key.kind != SliceKind::Saturating) {
            slice.server.cpu.as_mut().unwrap().requests = 49;
        }
        summarize(&record).cells[0].cpu_load.clone()
    };
    assert_eq!(with_slow_answers(&ALL_KINDS), "saturating");
    assert_eq!(with_slow_answers(&[SliceKind::Poisson]), "Poisson 4,000/s", "there is no other");
}

#[test]
fn without_saturating_slices_cpu_decides() {
    let kinds = [SliceKind::Fixed, SliceKind::Poisson];
    let summary = summarize(&synthetic::run(&[baseline(), variant("http4s.Tapir", 0.9)], 8, &kinds));
    assert_eq!(summary.comparisons[0].currencies[0].name, Currency::CpuPerRequest);
    assert!(summary.sentences[0].text.contains(" % more CPU per request than http4s.Vanilla"));
    assert!(summary.cells[0].throughput_per_s.is_none());
}

#[test]
fn only_percentiles_with_ten_samples_above_them_are_stated() {
    // 8 forks × 4 slices × 400 samples: 12,800, enough for p99.9; a fork has 1,600, enough for p99.
    let summary = standard_summary();
    let poisson = summary.cells[0].latency.iter().find(|l| l.slice_kind == SliceKind::Poisson).unwrap();
    let stated: Vec<f64> = poisson.response.percentiles.iter().map(|p| p.percentile).collect();
    assert_eq!(stated, [50.0, 75.0, 90.0, 95.0, 99.0, 99.9]);
    let bounded: Vec<bool> = poisson.response.percentiles.iter().map(|p| p.lo_ns.is_some()).collect();
    assert_eq!(bounded, [true, true, true, true, true, false], "no fork alone can state p99.9");
    assert_eq!(poisson.response.gatling_ranges, [12_800, 0, 0]);
    assert_eq!(poisson.response.curve.last().unwrap().percentile, 100.0);
    assert!(summary.cells[0].latency[0].send_lag.is_none(), "a closed load has no send lag");
}

#[test]
fn a_noise_floor_above_the_region_and_skipped_cells_are_findings() {
    let mut loud = control();
    loud.fork_sd = 0.08;
    let mut record = synthetic::run(&[baseline(), variant("http4s.Tapir", 0.95), loud], 6, &ALL_KINDS);
    for what in ["a × b", "a × c"] {
        record.header.plan.skipped.push(Skipped { what: what.to_owned(), because: "one route".to_owned() });
    }
    record.header.environment.sections[0].facts[1].1 = "powersave".to_owned();
    record.end = Some((EndStatus::BudgetSpent, 1));
    let summary = summarize(&record);
    for kind in [
        FindingKind::Report(ReportFinding::NoiseAboveRegion),
        FindingKind::Report(ReportFinding::CellsLeftOut),
        FindingKind::Event(EventName::CpuGovernor),
    ] {
        assert!(kinds(&summary).contains(&kind), "{kind:?} is missing in {:?}", kinds(&summary));
    }
    let left_out =
        summary.findings.iter().find(|f| f.kind == FindingKind::Report(ReportFinding::CellsLeftOut)).unwrap();
    assert_eq!(left_out.text, "a × b, a × c: one route.");
    assert!(summary.findings.is_sorted_by_key(|f| std::cmp::Reverse(f.severity)));
}

#[test]
fn what_an_event_says_of_the_machine_is_not_found_again_in_its_facts() {
    let mut record = standard();
    record.header.environment.sections[0].facts[1].1 = "powersave".to_owned();
    let of_governor = |record: &RunRecord| {
        let found = kinds(&summarize(record));
        found.into_iter().filter(|kind| *kind == FindingKind::Event(EventName::CpuGovernor)).count()
    };
    assert_eq!(of_governor(&record), 1, "from the facts");
    record.events.push(EventRecord::new(EventKind::CpuGovernor { governor: "powersave".to_owned() }));
    assert_eq!(of_governor(&record), 1, "from the event");
}

#[test]
fn the_kind_of_a_finding_is_one_name_in_json() {
    for (kind, name) in [
        (FindingKind::Event(EventName::CpuGovernor), "cpu_governor"),
        (FindingKind::Report(ReportFinding::OddForksLeftOut), "odd_forks_left_out"),
    ] {
        let json = serde_json::to_value(kind).unwrap();
        assert_eq!(json, name);
        assert_eq!(serde_json::from_value::<FindingKind>(json).unwrap(), kind);
    }
}

#[test]
fn what_several_forks_have_to_say_alike_is_said_once() {
    let mut record = standard();
    let group = record.header.plan.groups[0].id.clone();
    let notice = |level, fork| EventRecord {
        at_ns: 1,
        kind: EventKind::Other,
        level,
        voids: false,
        group: Some(group.clone()),
        variant: Some("http4s.Tapir".to_owned()),
        scenario: Some("SimpleGet".to_owned()),
        fork: Some(fork),
        title: "slow to start".to_owned(),
        text: "took long".to_owned(),
        remedy: None,
        log: None,
    };
    record.events.extend((1..=3).map(|fork| notice(EventLevel::Warning, fork)));
    record.events.extend((1..=2).map(|fork| notice(EventLevel::Error, fork)));
    let summary = summarize(&record);
    let said: Vec<_> = summary.findings.iter().filter(|f| f.title == "http4s.Tapir: slow to start").collect();
    assert_eq!(said.len(), 3, "each error by itself, the warnings together");
    assert_eq!(said[2].text, "took long (SimpleGet, starts 1, 2, 3)");
}

#[test]
fn a_table_of_identical_servers_has_no_false_finding() {
    let names: Vec<&'static str> = (0..12).map(|i| &*Box::leak(format!("same {i}").into_boxed_str())).collect();
    let truths: Vec<_> = std::iter::once(baseline()).chain(names.iter().map(|n| variant(n, 1.0))).collect();
    let summary = summarize(&synthetic::run(&truths, 6, &[SliceKind::Saturating]));
    let different = |c: &&tare_analysis::summary::Comparison| {
        matches!(c.currencies[0].verdict, VerdictKind::Worse | VerdictKind::Better)
    };
    assert_eq!(summary.comparisons.iter().filter(different).count(), 0);
}

/// The names that an enum has in JSON: the error for an unknown name lists them.
fn names_of<T: serde::de::DeserializeOwned + std::fmt::Debug>() -> Vec<String> {
    let error = serde_json::from_str::<T>("\"no such name\"").unwrap_err().to_string();
    let (_, expected) = error.split_once("expected one of ").unwrap();
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_documentation_lists_every_kind_of_finding() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/SUMMARY.md");
    let page = std::fs::read_to_string(file).unwrap();
    let (_, table) = page.split_once("| `kind` is about |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let names: Vec<String> = [names_of::<EventName>(), names_of::<ReportFinding>()].concat();
    assert!(names.len() > 40, "{names:?}");
    for name in names {
        assert_eq!(table.matches(&format!("`{name}`")).count(), 1, "{name} in docs/SUMMARY.md");
    }
}
