//! What speaks against a cell: failures and deaths void it, doubts are named.

use tare_analysis::summary::{Concern, FindingKind, ReportFinding, Severity, ValidityState, VerdictKind};
use tare_analysis::{Currency, Summary, summarize};
use tare_plan::plan::SliceKind;
use tare_record::{
    ErrorClass, ErrorTallies, ErrorTally, EventKind, EventLevel, EventRecord, PackedHistogram, RunRecord, StoredSlice,
};
use tare_stats::histogram::LatencyHistogram;

use crate::synthetic::{ALL_KINDS, Truth, baseline, run, standard, variant};

fn timeouts(count: u64) -> ErrorTallies {
    [(ErrorClass::Timeout, ErrorTally { count, example: "no answer in 10 s".to_owned() })].into_iter().collect()
}

#[test]
fn a_dying_server_voids_its_cell_and_shows_its_log() {
    let mut record = standard();
    record.events.push(EventRecord {
        at_ns: 1,
        kind: EventKind::Other,
        level: EventLevel::Error,
        voids: true,
        group: Some("http4s".to_owned()),
        variant: Some("http4s.Tapir".to_owned()),
        scenario: None,
        fork: Some(3),
        title: "died".to_owned(),
        text: "exited with code 137".to_owned(),
        remedy: Some("Give it more memory.".to_owned()),
        log: Some("java.lang.OutOfMemoryError".to_owned()),
    });
    let summary = summarize(&record);
    let cell = summary.cells.iter().find(|c| c.variant == "http4s.Tapir").unwrap();
    assert_eq!(cell.validity.state, ValidityState::Void);
    assert_eq!(cell.validity.joined_reasons(), "died: exited with code 137");
    assert_eq!(summary.sentences[0].verdict, VerdictKind::Void);
    assert!(summary.sentences[0].text.ends_with("http4s.Tapir on SimpleGet is void: died: exited with code 137."));
    let finding = &summary.findings[0];
    assert_eq!((finding.severity, finding.title.as_str()), (Severity::Error, "http4s.Tapir: died"));
    assert_eq!(finding.log.as_deref(), Some("java.lang.OutOfMemoryError"));
    assert_eq!(summary.cells[0].validity.state, ValidityState::Valid, "the others go on");
}

#[test]
fn failures_void_a_cell_above_one_in_a_thousand_and_cast_doubt_below() {
    for (failed, state) in [(0, ValidityState::Valid), (30, ValidityState::Suspect), (9_000, ValidityState::Void)] {
        let mut record = standard();
        let slice = record.slices.iter_mut().find(|s| s.key.variant == "http4s.Tapir").unwrap();
        slice.load.failed = failed;
        slice.load.errors = timeouts(failed);
        let summary = summarize(&record);
        let cell = summary.cells.iter().find(|c| c.variant == "http4s.Tapir").unwrap();
        assert_eq!(cell.validity.state, state, "{failed}: {:?}", cell.validity.reasons);
        assert_eq!(cell.validity.reasons.iter().any(|r| r.text.contains("timeout")), failed > 0);
    }
}

#[test]
fn doubts_are_named() {
    let mut record = standard();
    for warmup in record.warmups.iter_mut().filter(|w| w.variant == "http4s.Tapir" && w.fork <= 2) {
        warmup.steady = false;
        warmup.reason = "the JIT takes 3 % of CPU".to_owned();
    }
    for slice in
        record.slices.iter_mut().filter(|s| s.key.variant == "http4s.Tapir" && s.key.kind == SliceKind::Poisson)
    {
        slice.load.generator_cpu_ns = slice.load.window_ns * 9 / 10;
        slice.load.send_lag = slice.load.response.clone();
        slice.load.stamp_lag = slice.load.response.clone();
    }
    for slice in record.slices.iter_mut().filter(|s| s.key.variant == "http4s.Tapir" && s.key.kind == SliceKind::Fixed)
    {
        slice.load.generator_cpu_ns = slice.load.window_ns * 9 / 10;
    }
    record.forks.iter_mut().filter(|f| f.variant == "http4s.Tapir").for_each(|f| f.rest_cpu_share = Some(0.03));
    let summary = summarize(&record);
    let cell = summary.cells.iter().find(|c| c.variant == "http4s.Tapir").unwrap();
    let all = cell.validity.joined_reasons();
    for reason in [
        "not steady in 2 of 8 starts",
        "sent requests late: by",
        "read answers late: by up to",
        "90 % of its cores",
        "3 % of a core without load",
    ] {
        assert!(all.contains(reason), "{reason} is missing in\n{all}");
    }
    assert_eq!((cell.validity.state, cell.steady_forks), (ValidityState::Suspect, 6));
}

/// The standard record, in which others take two fifths of the cores in all slices of these forks; there the compared server
/// answers half as much.
fn disturbed_in(forks: &[u32]) -> RunRecord {
    let mut record = standard();
    for slice in record.slices.iter_mut().filter(|s| forks.contains(&s.key.fork)) {
        slice.server.others_share = Some(0.4);
        if slice.key.variant == "http4s.Tapir" {
            slice.load.completed /= 2;
        }
    }
    record
}

#[test]
fn forks_that_others_disturbed_are_set_aside() {
    let (clean, disturbed) = (summarize(&disturbed_in(&[])), summarize(&disturbed_in(&[2, 5])));
    for variant in 0..3 {
        let (before, now) = (&clean.cells[variant], &disturbed.cells[variant]);
        assert_eq!((before.forks, now.forks), (8, 6), "{}: of all servers alike", now.variant);
        assert_eq!(now.validity.state, ValidityState::Valid, "{:?}", now.validity.reasons);
        assert_eq!(now.timeline.len(), before.timeline.len(), "they are still shown");
    }
    let throughput = |summary: &Summary| summary.comparisons[0].currencies[0].clone();
    assert_eq!((throughput(&disturbed).forks, throughput(&disturbed).fork_ratios.len()), (6, 6));
    assert!((throughput(&disturbed).ratio - throughput(&clean).ratio).abs() < 0.01, "what others did moves nothing");
    let told = disturbed.findings.iter().find(|f| f.kind == FindingKind::Report(ReportFinding::ForksSetAside)).unwrap();
    assert!(told.text.contains("SimpleGet: http4s.Vanilla 2 of 8 starts, http4s.Tapir 2 of 8 starts"), "{}", told.text);
    assert!(!clean.findings.iter().any(|f| f.kind == told.kind));
}

#[test]
fn a_machine_that_is_always_disturbed_makes_its_cells_suspect() {
    let summary = summarize(&disturbed_in(&[1, 2, 3, 4, 5]));
    assert_eq!(summary.cells[1].forks, 8, "more than half of the forks are not set aside");
    let reason = "other programs used up to 40 % of the cores, and more than 10 % in 60 of 96 slices";
    for cell in &summary.cells {
        assert_eq!(cell.validity.state, ValidityState::Suspect);
        assert!(cell.validity.reasons.iter().any(|r| r.text == reason), "{:?}", cell.validity.reasons);
    }
}

#[test]
fn the_next_step_of_a_disturbed_run_begins_with_what_helps_against_that() {
    let quiet = summarize(&standard()).next.unwrap();
    assert!(quiet.command.starts_with("tare profile http4s.Tapir"), "{quiet:?}");
    let remedy = "Stop other programs, or measure on another machine.";

    let mut record = standard();
    record.slices.iter_mut().for_each(|slice| slice.server.others_share = Some(0.4));
    let decided = summarize(&record).next.unwrap();
    assert_eq!(decided.text, format!("{remedy} Then measure again: most figures of this run are suspect."));
    assert!(decided.command.starts_with("tare run"), "{decided:?}");

    let mut record = run(&[baseline(), Truth { fork_sd: 0.1, ..variant("http4s.Tapir", 1.0) }], 4, &ALL_KINDS);
    record.slices.iter_mut().for_each(|slice| slice.server.others_share = Some(0.4));
    let undecided = summarize(&record);
    assert_eq!(undecided.next.as_ref(), Some(&decided), "more time would end in suspect figures again");
    let first = &undecided.comparisons[0].currencies[0];
    assert_eq!((first.verdict, first.needed_s), (VerdictKind::Inconclusive, None));
    let text = &undecided.headline.text;
    assert!(text.ends_with(" Other programs disturbed the run, so stop them first."), "{text}");
}

#[test]
fn where_nothing_differs_more_starts_narrow_what_is_open() {
    let truths = [baseline(), Truth { fork_sd: 0.004, ..variant("http4s.Tapir", 1.0) }];
    let has_equal_first_and_open_rest = |summary: &Summary| {
        let verdicts: Vec<_> = summary.comparisons[0].currencies.iter().map(|currency| currency.verdict).collect();
        verdicts[0] == VerdictKind::NoMaterialDifference && verdicts.contains(&VerdictKind::Inconclusive)
    };
    let (forks, summary) = (3..16)
        .map(|forks| (forks, summarize(&run(&truths, forks, &ALL_KINDS))))
        .find(|(_, summary)| has_equal_first_and_open_rest(summary))
        .expect("the first measure is decided before the others");
    let next = summary.next.unwrap();
    let twice = 2 * forks;
    assert_eq!(next.text, format!("Makes {twice} starts instead of {forks}. That narrows what is not decided yet."));
    assert!(next.command.ends_with(&format!("--forks {twice}")), "{next:?}");
}

#[test]
fn a_forecast_on_a_busy_machine_says_that_a_quieter_one_needs_less() {
    let mut record = run(&[baseline(), variant("http4s.Tapir", 0.9)], 3, &ALL_KINDS);
    let text = |record: &RunRecord| summarize(record).next.unwrap().text;
    assert!(text(&record).ends_with(" more."), "{}", text(&record));
    record.events.push(EventRecord::new(EventKind::CpuPressure { waiting_share: 0.6 }));
    assert!(text(&record).ends_with("On a quieter machine it needs less: tare doctor says what disturbs."));
}

#[test]
fn a_fork_can_bear_some_disturbed_slices() {
    let mut record = standard();
    for slice in
        record.slices.iter_mut().filter(|s| s.key.fork == 3 && s.key.kind == SliceKind::Fixed && s.key.round < 2)
    {
        slice.server.others_share = Some(0.9);
    }
    let summary = summarize(&record);
    assert_eq!((summary.cells[1].forks, summary.cells[1].validity.state), (8, ValidityState::Valid));
}

#[test]
fn disturbed_rounds_are_left_out_where_servers_alternate() {
    let alternating = |disturbed_rounds: u32| {
        let mut record = standard();
        for slice in record.slices.iter_mut().filter(|slice| slice.key.kind == SliceKind::Saturating) {
            slice.load.turns = 20;
            if slice.key.fork == 3 && slice.key.round < disturbed_rounds {
                slice.server.others_share = Some(0.9);
                if slice.key.variant == "http4s.Tapir" {
                    slice.load.completed /= 2;
                }
            }
        }
        summarize(&record)
    };
    let (clean, disturbed) = (alternating(0), alternating(2));
    let throughput = |summary: &Summary| {
        let currencies = &summary.comparisons[0].currencies;
        currencies.iter().find(|currency| currency.name == Currency::Throughput).unwrap().clone()
    };
    assert_eq!((disturbed.cells[1].forks, disturbed.cells[1].validity.state), (8, ValidityState::Valid));
    assert_eq!(throughput(&disturbed).forks, 8, "the fork rests on its other rounds");
    assert!((throughput(&disturbed).ratio - throughput(&clean).ratio).abs() < 0.01, "what others did moves nothing");
    assert_eq!(throughput(&alternating(4)).forks, 7, "no saturating round of the fork is left");
}

/// The standard record, in which the generator stood still for 3 ms in the first Poisson rounds of fork 3.
fn with_standstills(rounds: u32) -> RunRecord {
    let mut record = standard();
    let mut lag = LatencyHistogram::new();
    (0..100).for_each(|_| lag.record_ns(3_000_000));
    let is_late = |slice: &&mut StoredSlice| {
        slice.key.kind == SliceKind::Poisson && slice.key.variant == "http4s.Tapir" && slice.key.round < rounds
    };
    for slice in record.slices.iter_mut().filter(is_late).filter(|slice| rounds > 1 || slice.key.fork == 3) {
        slice.load.stamp_lag = PackedHistogram::from(&lag);
        slice.load.response = PackedHistogram::from(&lag);
    }
    record
}

/// The same, in which requests that were due waited for it, and not answers that had arrived.
fn with_late_sends(rounds: u32) -> RunRecord {
    let mut record = with_standstills(rounds);
    for slice in &mut record.slices {
        if slice.load.stamp_lag.unpack().max_ns().is_some_and(|lag| lag > 1_000_000) {
            std::mem::swap(&mut slice.load.stamp_lag, &mut slice.load.send_lag);
        }
    }
    record
}

#[test]
fn a_round_in_which_the_generator_stood_still_is_left_out_for_all_servers() {
    let clean = summarize(&with_standstills(0));
    for late in [with_standstills(1), with_late_sends(1)] {
        assert_left_out(&clean, &summarize(&late));
    }
}

/// Eight forks whose first Poisson round of fork 3 has this share of requests that left half a millisecond late.
fn with_some_late_sends(late: u64, of: u64) -> RunRecord {
    let mut record = standard();
    let is_it = |s: &&mut StoredSlice| (s.key.fork, s.key.kind, s.key.round) == (3, SliceKind::Poisson, 0);
    for slice in record.slices.iter_mut().filter(is_it) {
        let mut lag = LatencyHistogram::new();
        (0..of).for_each(|n| lag.record_ns(if n < late { 500_000 } else { 1_000 }));
        slice.load.send_lag = PackedHistogram::from(&lag);
    }
    record
}

#[test]
fn a_window_in_which_too_many_requests_left_late_for_a_p99_is_left_out() {
    assert_left_out(&summarize(&standard()), &summarize(&with_some_late_sends(40, 10_000)));
    for few in [with_some_late_sends(20, 10_000), with_some_late_sends(5, 500)] {
        let summary = summarize(&few);
        assert!(!summary.findings.iter().any(|f| f.kind == FindingKind::Report(ReportFinding::RoundsLeftOut)));
    }
}

/// Asserts that the first Poisson round of fork 3 is left out.
fn assert_left_out(clean: &Summary, late: &Summary) {
    let poisson = |summary: &Summary, variant: usize| {
        let latency = summary.cells[variant].latency.iter().find(|latency| latency.slice_kind == SliceKind::Poisson);
        latency.unwrap().response.clone()
    };
    for variant in 0..3 {
        assert_eq!(late.cells[variant].validity.state, ValidityState::Valid);
        assert!(poisson(late, variant).count < poisson(clean, variant).count, "of all servers alike");
        assert_eq!(late.cells[variant].forks, 8);
    }
    let told = late.findings.iter().find(|f| f.kind == FindingKind::Report(ReportFinding::RoundsLeftOut)).unwrap();
    assert!(told.text.contains("SimpleGet: http4s.Vanilla 1 round"), "{}", told.text);
    assert!(!clean.findings.iter().any(|f| f.kind == told.kind));
}

#[test]
fn a_round_with_requests_that_waited_for_a_connection_is_kept() {
    let mut record = with_late_sends(1);
    for slice in &mut record.slices {
        slice.load.blocked = slice.load.ok / 50;
    }
    let summary = summarize(&record);
    assert!(!summary.findings.iter().any(|f| f.kind == FindingKind::Report(ReportFinding::RoundsLeftOut)));
}

#[test]
fn late_sends_of_a_closed_loop_matter_where_the_server_has_time_to_spare() {
    for (busy_percent, is_doubted) in [(95, false), (80, true)] {
        let mut record = standard();
        let saturating = |s: &&mut StoredSlice| s.key.variant == "http4s.Tapir" && s.key.kind == SliceKind::Saturating;
        for slice in record.slices.iter_mut().filter(saturating) {
            slice.load.send_lag = slice.load.response.clone();
            let cpu = slice.server.cpu.as_mut().unwrap();
            cpu.total_ns = cpu.wall_ns * busy_percent / 100;
        }
        let summary = summarize(&record);
        let cell = summary.cells.iter().find(|c| c.variant == "http4s.Tapir").unwrap();
        let found = cell.validity.reasons.iter().any(|r| r.text.starts_with("the generator sent requests late"));
        assert_eq!(found, is_doubted, "{busy_percent} %: {:?}", cell.validity.reasons);
    }
}

#[test]
fn a_generator_that_always_stands_still_makes_latency_suspect_and_nothing_else() {
    let always = summarize(&with_standstills(u32::MAX));
    let cell = &always.cells[1];
    let of = |currency| cell.validity.state_in(currency);
    assert_eq!((cell.validity.state, of(Currency::LatencyP99)), (ValidityState::Valid, ValidityState::Suspect));
    assert_eq!((of(Currency::CpuPerRequest), of(Currency::Throughput)), (ValidityState::Valid, ValidityState::Valid));
    assert!(cell.validity.joined_reasons().contains("may have read answers late"), "{:?}", cell.validity.reasons);
    assert!(!always.findings.iter().any(|f| f.kind == FindingKind::Report(ReportFinding::RoundsLeftOut)));
}

#[test]
fn failures_in_a_fork_that_is_set_aside_are_still_told() {
    let mut record = disturbed_in(&[2]);
    let slice = record.slices.iter_mut().find(|s| s.key.fork == 2 && s.key.variant == "http4s.Tapir").unwrap();
    slice.load.failed = 9_000;
    slice.load.errors = timeouts(9_000);
    let cell = &summarize(&record).cells[1];
    assert_eq!(
        (cell.validity.state, cell.requests_failed),
        (ValidityState::Void, 9_000),
        "{:?}",
        cell.validity.reasons
    );
}

#[test]
fn a_server_without_room_to_spare_under_an_open_load_is_doubted() {
    for (kind, percent, is_doubted) in [
        (SliceKind::Fixed, 95, true),
        (SliceKind::Poisson, 90, true),
        (SliceKind::Poisson, 80, false),
        // That is what a saturating load is for.
        (SliceKind::Saturating, 99, false),
    ] {
        let mut record = standard();
        for slice in record.slices.iter_mut().filter(|s| s.key.variant == "http4s.Tapir" && s.key.kind == kind) {
            let cpu = slice.server.cpu.as_mut().unwrap();
            cpu.total_ns = cpu.wall_ns * percent / 100;
        }
        let summary = summarize(&record);
        let cell = summary.cells.iter().find(|c| c.variant == "http4s.Tapir").unwrap();
        let reason = format!("the server used {percent} % of its cores under {}", kind.load_name());
        let found = cell.validity.reasons.iter().any(|r| r.text.starts_with(&reason));
        assert_eq!(found, is_doubted, "{percent} % under {}: {:?}", kind.name(), cell.validity.reasons);
    }
}

#[test]
fn who_waits_for_a_connection_does_not_blame_the_generator() {
    let mut record = standard();
    for slice in
        record.slices.iter_mut().filter(|s| s.key.variant == "http4s.Tapir" && s.key.kind == SliceKind::Poisson)
    {
        slice.load.blocked = slice.load.ok / 10;
        slice.load.send_lag = slice.load.response.clone();
    }
    let summary = summarize(&record);
    let cell = summary.cells.iter().find(|c| c.variant == "http4s.Tapir").unwrap();
    let [only] = cell.validity.reasons.as_slice() else { panic!("{:?}", cell.validity.reasons) };
    assert!(only.text.contains("waited for a free"), "{only:?}");
}

#[test]
fn a_doubt_about_one_measure_is_told_and_leaves_an_answer_in_another_one_valid() {
    let busy = |mut record: RunRecord, variant: &str| {
        let open = |s: &&mut StoredSlice| s.key.variant == variant && s.key.kind != SliceKind::Saturating;
        record.slices.iter_mut().filter(open).for_each(|s| s.load.generator_cpu_ns = s.load.window_ns * 9 / 10);
        summarize(&record)
    };
    let summary = busy(standard(), "http4s.Tapir");
    assert!(!summary.headline.text.contains("p99"), "{:?}", summary.headline);
    let tapir = &summary.cells[1];
    assert_eq!(tapir.validity.doubtful_measures(), [Concern::Latency]);
    assert_eq!((tapir.validity.state, summary.trust.state), (ValidityState::Valid, ValidityState::Valid));
    let [reason] = summary.trust.reasons.as_slice() else { panic!("{:?}", summary.trust) };
    let told = "http4s.Tapir on SimpleGet is suspect in latency: the generator used 90 % of its cores under open load";
    assert!(reason.starts_with(told), "{reason}");

    let alone = busy(run(&[baseline()], 5, &ALL_KINDS), "http4s.Vanilla");
    assert_eq!(alone.trust.state, ValidityState::Suspect, "every figure of a run without comparisons is an answer");
}
