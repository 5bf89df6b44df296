//! What servers push, and the largest load that keeps a curve: in the summary and in words.

use tare_analysis::Currency;
use tare_analysis::stop::{Looks, ReasonToStop};
use tare_analysis::summary::{Cell, CurrencyRatio, RatioBound, Validity, ValidityState, VerdictKind};
use tare_analysis::{Summary, summarize};
use tare_plan::contract::Push;
use tare_plan::plan::{Plan, SliceKind};
use tare_plan::slo::{LoadBy, Slo};
use tare_record::PackedHistogram;
use tare_record::{ClockEstimate, MessageTally, RunRecord, StoredSlice};
use tare_report::text::{Style, render};
use tare_stats::histogram::LatencyHistogram;

use crate::synthetic::{Truth, baseline, run, slice, variant};

/// Two forks in which `b` loses messages, this many in each slice.
pub fn pushed(missing: u64) -> RunRecord {
    let mut record = run(&[baseline(), variant("b", 0.9)], 2, &[SliceKind::Push]);
    let push = Push { period: tare_units::Span::from_millis(100), messages: 600 };
    let scenario = &mut record.header.plan.groups[0].scenarios[0].scenario;
    (scenario.push, scenario.expect.status) = (Some(push), 101);
    for slice in &mut record.slices {
        let mut jitter = LatencyHistogram::new();
        (0..2_000).for_each(|i| jitter.record_ns(i * 1_000));
        let missing = if slice.key.variant == "b" { missing } else { 0 };
        slice.load.messages = MessageTally {
            received: slice.load.ok,
            missing,
            late: 3,
            subscriptions: 128,
            clock_within_ns: 250,
            ..MessageTally::default()
        };
        slice.load.jitter = PackedHistogram::from(&jitter);
        slice.key.offered_per_s = None;
    }
    record
}

fn cell<'a>(summary: &'a Summary, variant: &str) -> &'a Cell {
    summary.cells.iter().find(|cell| cell.variant == variant).unwrap()
}

#[test]
fn messages_add_up_over_slices_and_their_latency_decides() {
    let summary = summarize(&pushed(0));
    let b = cell(&summary, "b");
    let messages = b.messages.as_ref().unwrap();
    let tally = messages.tally;
    assert_eq!((tally.late, tally.subscriptions, tally.clock_within_ns), (24, 1_024, 250));
    assert_eq!((tally.subscriptions, messages.jitter.count), (b.requests_ok, 16_000));
    assert_eq!(b.shown_latency().unwrap().model, "pushed every 100ms to 128 users");
    let currencies: Vec<Currency> = summary.comparisons[0].currencies.iter().map(|c| c.name).collect();
    assert_eq!(currencies[..2], [Currency::LatencyP50, Currency::LatencyP99]);
    let text = render(&summary, &Style { colored: false, width: 400 });
    assert!(text.contains("none missing, 24 late") && text.contains("clocks agree within"), "{text}");
    assert!(text.contains(" by p50 of pushes ") && !text.contains("throughput"), "{text}");
}

#[test]
fn a_message_that_did_not_come_makes_its_cell_suspect() {
    let summary = summarize(&pushed(2));
    let (vanilla, b) = (cell(&summary, "http4s.Vanilla"), cell(&summary, "b"));
    assert_eq!((vanilla.validity.state, b.validity.state), (ValidityState::Valid, ValidityState::Suspect));
    assert!(b.validity.reasons[0].text.starts_with("16 of "), "{:?}", b.validity.reasons);
}

#[test]
fn a_clock_that_could_not_be_estimated_makes_latency_suspect_and_one_that_was_is_told() {
    for (offset_ns, state, says) in [
        (Some(3_000_000_456), ValidityState::Valid, "server's clock is 3.0000005 s ahead, within 250 ns"),
        (None, ValidityState::Suspect, "server's clock is not known"),
    ] {
        let mut record = pushed(0);
        for slice in &mut record.slices {
            let clock = ClockEstimate { offset_ns, messages: 3, ..ClockEstimate::default() };
            slice.load.messages.clock = Some(clock);
        }
        let summary = summarize(&record);
        let validity = &cell(&summary, "b").validity;
        assert_eq!((validity.state, validity.state_in(Currency::LatencyP50)), (ValidityState::Valid, state));
        assert_eq!(summary.trust.state, state, "the answer is about latency");
        assert_eq!(validity.reasons.iter().any(|reason| reason.text.contains("no push latency")), offset_ns.is_none());
        let text = render(&summary, &Style { colored: false, width: 400 });
        assert!(text.contains(says), "{text}");
    }
}

#[test]
fn a_clock_whose_error_exceeds_the_median_makes_latency_suspect() {
    let estimated = Some(ClockEstimate { offset_ns: Some(0), ..ClockEstimate::default() });
    for (clock, within_ns, says) in [
        (None, 100, None),
        (None, 3_600_000_000_000, Some("the wall clock may have jumped by up to 3600 s")),
        (estimated, 100, None),
        (estimated, 10_000_000_000, Some("known within 10.0 s only")),
    ] {
        let mut record = pushed(0);
        let tallies = record.slices.iter_mut().map(|slice| &mut slice.load.messages);
        tallies.for_each(|tally| (tally.clock, tally.clock_within_ns) = (clock, within_ns));
        let summary = summarize(&record);
        let validity = &cell(&summary, "b").validity;
        let state = if says.is_some() { ValidityState::Suspect } else { ValidityState::Valid };
        assert_eq!(validity.state_in(Currency::LatencyP50), state, "{validity:?}");
        assert_eq!(validity.state_in(Currency::CpuPerRequest), ValidityState::Valid);
        assert!(
            says.is_none_or(|says| validity.reasons.iter().any(|reason| reason.text.contains(says))),
            "{validity:?}"
        );
    }
}

/// Tries as a search makes them, of servers whose latency grows with the rate: `limit_per_s` is the most that keeps p50 < 1 ms.
pub fn searched(limits_per_s: &[(&'static str, f64)]) -> RunRecord {
    searched_up_to(1e6, &limits_per_s.iter().map(|(name, limit)| (*name, [*limit; 3])).collect::<Vec<_>>())
}

/// The same with no load above `most_per_s`, and another limit in each start. No load at all is kept where it is below 1 per second.
fn searched_up_to<const STARTS: usize>(most_per_s: f64, limits_per_s: &[(&'static str, [f64; STARTS])]) -> RunRecord {
    let others = limits_per_s.iter().skip(1).map(|(name, _)| variant(name, 1.0));
    let truths: Vec<Truth> = std::iter::once(baseline()).chain(others).collect();
    let mut record = run(&truths, 0, &[]);
    let slo = Slo {
        curve: "p50<1ms,p99<5ms".parse().unwrap(),
        by: LoadBy::Rate,
        most_users: 1_000,
        most_per_s,
        each: tare_units::Span::from_secs(2),
    };
    for fork in 1..=STARTS as u32 {
        record.forks.extend(limits_per_s.iter().map(|(name, _)| crate::synthetic::fork_record(name, fork)));
        for (name, limits) in limits_per_s {
            let limit = limits[fork as usize - 1];
            let mut search = tare_record::curve::start_search(&slo, slo.by, 1);
            let mut round = 0;
            while let Some(load) = search.next_load() {
                let mut tried = slice(name, fork, SliceKind::Capacity, round, 0, 1.0);
                tried.key.offered_per_s = Some(load);
                let mut response = LatencyHistogram::new();
                (0..100).for_each(|_| response.record_ns((1e6 * load / limit) as u64));
                tried.load.response = PackedHistogram::from(&response);
                search.note_outcome(tare_record::curve::keeps_curve(&slo, &tried));
                record.slices.push(tried);
                round += 1;
            }
        }
    }
    record.header.plan = Plan { slo: Some(slo), ..record.header.plan };
    record
}

#[test]
fn the_largest_load_that_keeps_the_curve_is_found_again_from_its_tries() {
    let summary = summarize(&searched(&[("http4s.Vanilla", 10_000.0), ("b", 8_000.0)]));
    for (variant, limit) in [("http4s.Vanilla", 10_000.0), ("b", 8_000.0)] {
        let found = cell(&summary, variant).capacity.as_ref().unwrap();
        assert!(found.load.value < limit && limit < found.load.value * 1.05, "{variant}: {found:?}");
        assert_eq!((found.by, found.forks_at_most, found.forks.len()), (LoadBy::Rate, 0, 3));
        let failed: Vec<(&str, u32)> = found.limits.iter().map(|l| (l.condition.as_str(), l.failed_forks)).collect();
        assert_eq!(failed, [("p50<1ms", 3), ("p99<5ms", 0), ("errors<=0.1%", 0)]);
        let (fork, tried) =
            (&found.forks[0], |load: f64| found.tries.iter().filter(move |t| t.fork == 1 && t.load == load));
        assert!(tried(fork.load).filter(|t| t.kept).count() >= 2, "{:?}", found.tries);
        assert!(tried(fork.failed_at.unwrap()).all(|t| !t.kept && t.values[0].unwrap() >= 1e6), "{:?}", found.tries);
        assert_eq!(cell(&summary, variant).validity.state, ValidityState::Valid);
    }
    let first = &summary.comparisons[0].currencies[0];
    assert!(first.name == Currency::Capacity && (first.ratio - 0.8).abs() < 0.05, "{first:?}");
    let text = render(&summary, &Style { colored: false, width: 400 });
    assert!(text.contains("b: keeps p50<1ms,p99<5ms up to 7,9"), "{text}");
    assert!(text.contains("; fails first: p50<1ms (3 of 3 starts)"), "{text}");
}

/// What is said of the capacity of `b` beside the baseline, in all forms.
fn capacity_of_b(record: &RunRecord) -> (Summary, CurrencyRatio, String) {
    let summary = summarize(record);
    let first = summary.comparisons[0].currencies[0].clone();
    assert_eq!(first.name, Currency::Capacity, "no other measure takes its place");
    let text = render(&summary, &Style { colored: false, width: 4_000 });
    (summary, first, text)
}

#[test]
fn two_capacities_beyond_the_largest_load_have_no_verdict() {
    let record = searched_up_to(2_000.0, &[("http4s.Vanilla", [10_000.0; 5]), ("b", [8_000.0; 5])]);
    let (summary, first, text) = capacity_of_b(&record);
    assert_eq!(
        (first.verdict, first.bound, first.lo, first.hi),
        (VerdictKind::Inconclusive, Some(RatioBound::Unknown), None, None)
    );
    let reason = first.reason.as_deref().unwrap();
    assert!(
        reason.contains("in 5 of 5 starts b kept the largest load that was tried, 2,000/s: --slo-most tries more"),
        "{reason}"
    );
    assert!(reason.contains("in 5 of 5 starts http4s.Vanilla kept the largest load"), "{reason}");
    assert!(
        !summary.headline.text.contains("no material difference") && summary.headline.text.contains("--slo-most"),
        "{text}"
    );
    assert!(
        text.contains("b: keeps p50<1ms,p99<5ms up to 2,000/s at least, the largest load that was tried"),
        "{text}"
    );
    // More starts would try the same loads.
    assert_eq!(summary.next.unwrap().command, "tare run -s 'http4s.*' --slo-most 8000");
    assert_eq!(Looks::default().reasons_to_stop(&record)[0].reason_to_stop, Some(ReasonToStop::BeyondSearch));
}

#[test]
fn one_capacity_beyond_the_largest_load_is_a_bound() {
    let (summary, first, _) = capacity_of_b(&searched_up_to(
        2_000.0,
        &[("http4s.Vanilla", [500.0; 5]), ("b", [8_000.0, 8_000.0, 8_000.0, 700.0, 700.0])],
    ));
    assert_eq!((first.verdict, first.bound), (VerdictKind::Inconclusive, Some(RatioBound::AtLeast)));
    assert!(first.short.starts_with("inconclusive, at least +"), "{}", first.short);
    let found = cell(&summary, "b").capacity.as_ref().unwrap();
    assert!(
        found.sentence.contains(" at least: 3 of 5 starts kept the largest load that was tried"),
        "{}",
        found.sentence
    );
    assert_eq!((found.forks_at_most, found.load.lo, found.load.hi), (3, None, None));
}

#[test]
fn starts_that_keep_no_load_count_and_are_said() {
    let some = searched_up_to(2_000.0, &[("http4s.Vanilla", [500.0; 5]), ("b", [0.1, 480.0, 0.1, 490.0, 0.1])]);
    let (summary, first, _) = capacity_of_b(&some);
    assert_eq!((first.verdict, first.bound, first.forks), (VerdictKind::Inconclusive, Some(RatioBound::AtMost), 5));
    assert_eq!((summary.comparisons[0].odd_forks.len(), &summary.next), (0, &None), "more starts would not help");
    assert_eq!(first.reason.as_deref(), Some("in 3 of 5 starts b kept no load that was tried"));
    let sentence = &cell(&summary, "b").capacity.as_ref().unwrap().sentence;
    assert!(sentence.contains("; 3 of 5 starts kept no load that was tried"), "{sentence}");
    let none = searched_up_to(2_000.0, &[("http4s.Vanilla", [500.0; 5]), ("b", [0.1; 5])]);
    let (_, first, text) = capacity_of_b(&none);
    assert_eq!(first.reason.as_deref(), Some("in 5 of 5 starts b kept no load that was tried"));
    assert!(
        text.contains("n 5 of 5 starts b kept no load that was tried") && !text.contains("never measured"),
        "{text}"
    );
    assert!(text.contains("b: keeps p50<1ms,p99<5ms under no load that was tried"), "{text}");
}

#[test]
fn a_search_that_was_cut_short_counts_for_nothing() {
    let whole = searched(&[("http4s.Vanilla", 10_000.0), ("b", 8_000.0)]);
    // Ctrl-C after the first doubling: both servers keep 200 and 400 per second.
    let cut_in = |fork: u32| {
        let is_left = |slice: &&StoredSlice| slice.key.fork < fork || slice.key.fork == fork && slice.key.round < 4;
        let slices = whole.slices.iter().filter(is_left).cloned().collect();
        let forks = whole.forks.iter().filter(|start| start.fork <= fork).cloned().collect();
        summarize(&RunRecord { slices, forks, ..whole.clone() })
    };
    let one = cut_in(1);
    for variant in ["http4s.Vanilla", "b"] {
        let Validity { state, reasons } = &cell(&one, variant).validity;
        assert_eq!((cell(&one, variant).capacity.is_none(), *state), (true, ValidityState::Suspect));
        assert_eq!(reasons[0].text, "1 search begun and none came to its end: no capacity is known");
    }
    assert!(one.comparisons.iter().all(|comparison| comparison.currencies.is_empty()), "{:?}", one.comparisons);
    let three = cut_in(3);
    let found = cell(&three, "b").capacity.as_ref().unwrap();
    assert_eq!(found.forks.iter().map(|fork| fork.fork).collect::<Vec<_>>(), [1, 2]);
    assert!(found.sentence.ends_with("; 1 of 3 searches did not end and do not count"), "{}", found.sentence);
    assert_eq!(cell(&three, "b").validity.state, ValidityState::Valid);
}

#[test]
fn events_of_streams_are_told_by_the_first_one_and_the_gaps() {
    let mut record = crate::loads::record().clone();
    record.header.plan.protocol = tare_plan::load_plan::Protocol::Events { messages: None, streams: None };
    for slice in &mut record.intervals {
        slice.load.jitter = slice.load.service.clone();
        slice.load.ok = 1000;
        slice.load.messages = MessageTally { received: 1000, subscriptions: 18, ..MessageTally::default() };
    }
    let summary = tare_analysis::load::summarize(&record);
    let text = tare_report::load::render(&summary, &Style { colored: false, width: 120 });
    for says in [
        "each reads streams of events for ",
        "events ",
        "none missing; 3 failed",
        "first event          gap",
        " an event",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
    let messages = summary.messages.as_ref().unwrap();
    assert_eq!((summary.model.loop_kind.as_str(), messages.jitter.count), ("stream", 0));
    assert_eq!(messages.gap.as_ref().unwrap().count, summary.service.count);
    let json = tare_report::json::render(&summary).unwrap();
    let read: tare_analysis::load::LoadSummary = serde_json::from_str(&json).unwrap();
    assert_eq!(read, summary);
}
