//! Two records, or two servers of one: planted changes are found, and what cannot be compared is not.

use tare_analysis::Summary;
use tare_analysis::differences::{self, Basis, FigureChange, RecordedRun, RunDifferences};
use tare_analysis::summary::{Estimate, Profiles, Reason, Row, Validity, ValidityState, VerdictKind};
use tare_analysis::{summarize, summarize_with};
use tare_plan::Currency;
use tare_plan::plan::SliceKind;
use tare_record::{EventKind, EventRecord, PackedHistogram, RunRecord};
use tare_report::differences::{render, render_markdown};
use tare_report::text::Style;
use tare_stats::histogram::LatencyHistogram;

use crate::history::with_users;
use crate::profiles::profiled;
use crate::synthetic::{self, ALL_KINDS, Truth, baseline, variant};

pub const TAPIR: &str = "http4s.Tapir";
pub const STYLE: Style = Style { colored: false, width: 120 };

pub fn record(speed_of_baseline: f64, speed: f64, id: &str) -> RunRecord {
    let truths = [Truth { speed: speed_of_baseline, ..baseline() }, variant(TAPIR, speed)];
    let mut record = synthetic::run(&truths, 8, &ALL_KINDS);
    record.header.id = id.to_owned();
    record
}

fn compared(before: &Summary, after: &Summary, machines: [&str; 2]) -> RunDifferences {
    let [before, after] =
        [(before, machines[0]), (after, machines[1])].map(|(summary, machine)| RecordedRun { summary, machine });
    differences::compare_runs(before, after).unwrap()
}

fn change<'a>(differences: &'a RunDifferences, variant: &str, name: &str, basis: Basis) -> &'a FigureChange {
    let mut all = differences.changes.iter();
    let found = all.find(|change| change.variant == variant && change.name == name && change.basis == basis);
    found.unwrap_or_else(|| panic!("no {name} of {variant} by {basis:?} in {:#?}", differences.changes))
}

#[test]
fn a_slower_layer_is_worse_by_ratio_and_by_level() {
    let (old, new) = (summarize(&record(1.0, 0.95, "old")), summarize(&record(1.0, 0.80, "new")));
    let differences = compared(&old, &new, ["m", "m"]);
    for basis in [Basis::Ratio, Basis::Level] {
        let throughput = change(&differences, TAPIR, "throughput", basis);
        assert_eq!((throughput.verdict, throughput.material), (VerdictKind::Worse, true), "{throughput:#?}");
        let truth = 0.80 / 0.95;
        assert!(throughput.lo.unwrap() < truth && truth < throughput.hi.unwrap(), "{throughput:#?}");
    }
    let beneath = change(&differences, "http4s.Vanilla", "throughput", Basis::Level);
    assert_eq!(beneath.verdict, VerdictKind::NoMaterialDifference, "{beneath:#?}");
}

#[test]
fn a_compared_level_is_the_one_that_the_report_states() {
    let (mut old, new) = (record(1.0, 0.95, "old"), record(1.0, 0.80, "new"));
    // One start is so slow that the percentile of all requests is another figure than a mean over starts.
    for slice in old.slices.iter_mut().filter(|slice| slice.key.fork == 2 && slice.key.kind == SliceKind::Poisson) {
        let mut response = LatencyHistogram::new();
        (0..400).for_each(|_| response.record_ns(90_000_000));
        slice.load.response = PackedHistogram::from(&response);
    }
    let (old, new) = (summarize(&old), summarize(&new));
    let differences = compared(&old, &new, ["m", "m"]);
    for (name, currency) in [("latency_p99", Currency::LatencyP99), ("throughput", Currency::Throughput)] {
        let change = change(&differences, TAPIR, name, Basis::Level);
        let stated = |summary: &Summary| {
            let cell = summary.cells.iter().find(|cell| cell.variant == TAPIR).unwrap();
            cell.level_in(currency).unwrap().value
        };
        assert_eq!((change.before, change.after), (stated(&old), stated(&new)), "{name}");
    }
    assert!(change(&differences, TAPIR, "latency_p99", Basis::Level).before > 80e6, "that of all requests");
}

#[test]
fn records_of_two_machines_are_compared_by_ratios_alone() {
    // The second machine is twice as fast, and the layer costs the same there.
    let (old, new) = (summarize(&record(1.0, 0.9, "old")), summarize(&record(2.0, 1.8, "new")));
    let differences = compared(&old, &new, ["laptop", "server"]);
    assert!(!differences.same_machine && differences.notes[0].contains("Not known to be of one machine"));
    assert!(differences.changes.iter().all(|change| change.basis == Basis::Ratio && change.variant == TAPIR));
    let throughput = change(&differences, TAPIR, "throughput", Basis::Ratio);
    assert!(matches!(throughput.verdict, VerdictKind::NoMaterialDifference | VerdictKind::Inconclusive));
    assert!((throughput.ratio - 1.0).abs() < 0.02, "{throughput:#?}");
    let unknown = compared(&old, &new, ["unknown, unknown", "unknown, unknown"]);
    assert!(!unknown.same_machine, "machines that are not known are not the same");
}

#[test]
fn another_number_of_users_is_said_first() {
    let old = summarize(&record(1.0, 0.95, "old"));
    let notes = |before: &str, after: &str| {
        compared(&with_users(&old, before), &with_users(&old, after), ["m", "m"]).notes.remove(0)
    };
    assert!(notes("8", "64").starts_with("Another load: 8 users before, 64 after. "), "{}", notes("8", "64"));
    assert!(notes("8", "8").starts_with("Same machine: "));
}

#[test]
fn what_differs_around_the_servers_comes_first() {
    let (old, mut new) = (record(1.0, 0.9, "old"), record(1.0, 0.9, "new"));
    for fork in &mut new.forks {
        fork.resolved.insert("tapir".to_owned(), "1.12.0".to_owned());
    }
    new.header.environment.sections[0].facts[0].1 = "another".to_owned();
    let differences = compared(&summarize(&old), &summarize(&new), ["m", "m"]);
    let told: Vec<&str> = differences.environment.iter().map(|change| change.key.as_str()).collect();
    assert!(
        told.contains(&"tapir") && told.contains(&old.header.environment.sections[0].facts[0].0.as_str()),
        "{told:?}"
    );
    let text = render(&differences, &STYLE);
    let place = |word: &str| text.find(word).unwrap_or_else(|| panic!("no {word} in {text}"));
    assert!(place("1.11.15   1.12.0") < place("throughput"), "{text}");
    let markdown = render_markdown(&differences);
    assert!(markdown.find("What else differs").unwrap() < markdown.find("## Figures").unwrap());
}

#[test]
fn records_of_equal_servers_rarely_differ() {
    let differences = compared(&summarize(&record(1.0, 0.9, "old")), &summarize(&record(1.0, 0.9, "new")), ["m", "m"]);
    let stated = |change: &&FigureChange| matches!(change.verdict, VerdictKind::Worse | VerdictKind::Better);
    assert_eq!(differences.changes.iter().filter(stated).count(), 0, "{:#?}", differences.changes);
    assert!(differences.environment.is_empty(), "{:?}", differences.environment);
}

#[test]
fn slow_requests_are_compared_where_both_runs_call_the_same_ones_slow() {
    let with_limit = |limit: &str, id: &str| {
        let mut record = record(1.0, 0.95, id);
        record.header.plan.stop.limits = vec![limit.parse().unwrap()];
        summarize(&record)
    };
    let old = with_limit("slower(1ms) > +3%", "old");
    for (limit, labels) in
        [("slower(1ms) > +9%", &["requests slower than 1ms at half load"][..]), ("slower(2ms) > +3%", &[])]
    {
        let differences = compared(&old, &with_limit(limit, "new"), ["m", "m"]);
        let slow = differences.changes.iter().filter(|change| change.name == "latency_slower");
        assert_eq!(slow.map(|change| change.label.as_str()).collect::<Vec<_>>(), labels, "{limit}");
    }
}

#[test]
fn one_start_gives_no_interval() {
    let one = |id: &str| {
        let mut record = synthetic::run(&[baseline(), variant(TAPIR, 0.9)], 1, &[SliceKind::Saturating]);
        record.header.id = id.to_owned();
        summarize(&record)
    };
    let differences = compared(&one("old"), &one("new"), ["m", "m"]);
    assert!(differences.changes.iter().all(|change| change.verdict == VerdictKind::NoInterval && change.lo.is_none()));
}

#[test]
fn records_without_a_common_server_are_refused_by_name() {
    let other = synthetic::run(&[variant("other", 1.0)], 2, &[SliceKind::Saturating]);
    let (old, new) = (summarize(&record(1.0, 0.9, "old")), summarize(&other));
    let [old, new] = [&old, &new].map(|summary| RecordedRun { summary, machine: "m" });
    let error = differences::compare_runs(old, new).unwrap_err().to_string();
    assert!(error.contains(TAPIR) && error.contains("other") && error.contains("tare report --list"), "{error}");
}

#[test]
fn a_record_without_an_end_is_compared_and_said() {
    let mut cut = record(1.0, 0.9, "cut");
    cut.end = None;
    let differences = compared(&summarize(&record(1.0, 0.9, "old")), &summarize(&cut), ["m", "m"]);
    assert!(differences.notes.iter().any(|note| note.contains("cut has no end")), "{:?}", differences.notes);
}

/// The servers whose throughput is compared, each as often as it is.
fn levels_of_throughput(differences: &RunDifferences) -> Vec<&str> {
    let levels =
        differences.changes.iter().filter(|change| (&*change.name, change.basis) == ("throughput", Basis::Level));
    levels.map(|change| change.variant.as_str()).collect()
}

#[test]
fn a_server_is_compared_once_though_two_groups_of_one_side_have_it() {
    let twice = summarize(&synthetic::in_two_groups(record(1.0, 0.9, "twice")));
    let mut once = summarize(&record(1.0, 0.9, "once"));
    for group in ["http4s", "again", "renamed"] {
        once.cells.iter_mut().for_each(|cell| group.clone_into(&mut cell.group));
        for (before, after) in [(&twice, &once), (&once, &twice)] {
            let differences = compared(before, after, ["m", "m"]);
            assert_eq!(levels_of_throughput(&differences), ["http4s.Vanilla", TAPIR], "{group}");
        }
    }
    let mut of_one_group = twice.clone();
    of_one_group.cells.retain(|cell| cell.variant != TAPIR || cell.group == "again");
    for (before, after) in [("http4s.Vanilla", TAPIR), (TAPIR, "http4s.Vanilla")] {
        let differences = differences::compare_servers(&of_one_group, before, after).unwrap();
        assert_eq!(levels_of_throughput(&differences), [after]);
    }
}

#[test]
fn two_servers_of_one_record_are_compared_in_pairs() {
    let summary = summarize(&record(1.0, 0.8, "run"));
    let differences = differences::compare_servers(&summary, "http4s.Vanilla", TAPIR).unwrap();
    let throughput = change(&differences, TAPIR, "throughput", Basis::Level);
    assert_eq!(throughput.verdict, VerdictKind::Worse);
    assert!(throughput.lo.unwrap() < 0.8 && 0.8 < throughput.hi.unwrap(), "{throughput:#?}");
    let text = render(&differences, &STYLE);
    assert!(text.starts_with("tare compare · http4s.Vanilla → http4s.Tapir"), "{text}");
    let turned = differences::compare_servers(&summary, TAPIR, "http4s.Vanilla").unwrap();
    for (differences, variant, expected) in [(&differences, TAPIR, 1.0 / 0.8), (&turned, "http4s.Vanilla", 0.8)] {
        let allocated = change(differences, variant, "allocated_per_request", Basis::Ratio);
        assert!((allocated.ratio / expected - 1.0).abs() < 0.01, "of a baseline too: {allocated:#?}");
    }
    assert!(differences::compare_servers(&summary, TAPIR, "nobody").is_err());
}

#[test]
fn libraries_and_methods_of_two_servers_are_compared() {
    let mut summary = summarize(&record(1.0, 0.8, "run"));
    summary.cells[1].resolved.push(Row { key: "tapir".to_owned(), value: "1.12.0".to_owned(), source: None });
    summary.profiles = summarize_with(&profiled(), None).profiles;
    let differences = differences::compare_servers(&summary, "http4s.Vanilla", TAPIR).unwrap();
    let library = differences.environment.iter().find(|change| change.key == "tapir").unwrap();
    assert_eq!((library.section.as_str(), library.after.as_deref()), (TAPIR, Some("1.12.0")));
    assert!(differences.environment.iter().all(|change| change.section == TAPIR), "{:?}", differences.environment);
    assert!(differences.methods.iter().any(|change| change.method == "net.Server.handle"), "{differences:#?}");
    let text = render(&differences, &STYLE);
    assert!(text.contains("What else differs") && text.contains("Methods whose own share differs"), "{text}");
}

/// Three servers in eight starts, of which two settle in another mode in one start each.
fn with_odd_starts() -> RunRecord {
    let mut record = synthetic::run(&[baseline(), variant("a", 0.9), variant("b", 0.8)], 8, &ALL_KINDS);
    for slice in &mut record.slices {
        if [("a", 2), ("b", 5)].contains(&(slice.key.variant.as_str(), slice.key.fork)) {
            slice.load.completed /= 2;
        }
    }
    record
}

#[test]
fn ratios_of_two_servers_are_paired_by_the_number_of_the_start() {
    let differences = differences::compare_servers(&summarize(&with_odd_starts()), "a", "b").unwrap();
    // What starts have levels of is compared by these alone.
    let by_ratio = differences.changes.iter().filter(|change| change.basis == Basis::Ratio);
    let names: Vec<&str> = by_ratio.map(|change| change.name.as_str()).collect();
    assert_eq!(names, ["allocated_per_request", "stopped_per_request"]);
    let stopped = change(&differences, "b", "stopped_per_request", Basis::Ratio);
    let allocated = change(&differences, "b", "allocated_per_request", Basis::Ratio);
    assert_eq!((stopped.starts_before, stopped.starts_after), (6, 6), "{stopped:#?}");
    assert_eq!((allocated.starts_before, allocated.starts_after), (6, 6), "{allocated:#?}");
    assert!(
        (allocated.ratio * allocated.before / allocated.after - 1.0).abs() < 1e-9,
        "of the same starts: {allocated:#?}"
    );
    let note = format!("{} on SimpleGet: 6 of 8 starts count.", allocated.label);
    assert!(differences.notes.contains(&note), "{note} is missing in {:?}", differences.notes);
    assert_eq!(change(&differences, "b", "throughput", Basis::Level).starts_before, 8);
    let twice = summarize(&synthetic::in_two_groups(with_odd_starts()));
    let notes = differences::compare_servers(&twice, "a", "b").unwrap().notes;
    for group in ["http4s", "again"] {
        let note = format!("{} on SimpleGet (group {group}): 6 of 8 starts count.", allocated.label);
        assert!(notes.contains(&note), "{note} is missing in {notes:?}");
    }
}

#[test]
fn odd_starts_are_in_no_ratio_of_a_percentile() {
    let summary = summarize(&with_odd_starts());
    let differences = compared(&summary, &summary, ["m", "n"]);
    assert_eq!(change(&differences, "a", "latency_p50", Basis::Ratio).starts_before, 7);
}

#[test]
fn a_void_server_is_compared_with_nothing_and_said() {
    let mut record = synthetic::run(&[baseline(), variant("a", 0.9), variant("b", 0.8)], 8, &ALL_KINDS);
    let event = EventRecord::new(EventKind::NoAnswers { failure: String::new() });
    record.events.push(EventRecord { variant: Some("b".to_owned()), ..event });
    let differences = differences::compare_servers(&summarize(&record), "a", "b").unwrap();
    assert!(differences.changes.is_empty(), "{:#?}", differences.changes);
    assert!(
        differences.notes.iter().any(|note| note.starts_with("b on SimpleGet is void: ")),
        "{:?}",
        differences.notes
    );
    let twice = summarize(&synthetic::in_two_groups(record));
    let notes = differences::compare_servers(&twice, "a", "b").unwrap().notes;
    for group in ["http4s", "again"] {
        let says = format!("b on SimpleGet (group {group}) is void: ");
        assert!(notes.iter().any(|note| note.starts_with(&says)), "{says}: {notes:?}");
    }
}

#[test]
fn what_a_server_said_before_it_failed_moves_no_cursor() {
    let mut summary = summarize(&record(1.0, 0.8, "run"));
    let reasons = vec![Reason::new("it said \u{1b}[2J".to_owned(), "")];
    summary.cells[1].validity = Validity { state: ValidityState::Void, reasons };
    let differences = differences::compare_servers(&summary, "http4s.Vanilla", TAPIR).unwrap();
    let text = render(&differences, &STYLE);
    assert!(text.contains("is void: it said \u{FFFD}[2J."), "{text}");
}

#[test]
fn methods_are_compared_with_those_of_their_own_group() {
    let mut summary = summarize(&record(1.0, 0.9, "run"));
    let mut profiles = summarize_with(&profiled(), None).profiles.unwrap();
    // The same variants and scenario stand in a second group, where each method has half the share.
    let mut cells = summary.cells.clone();
    cells.iter_mut().for_each(|cell| "other".clone_into(&mut cell.group));
    summary.cells.extend(cells);
    let mut views = profiles.views.clone();
    for view in &mut views {
        "other".clone_into(&mut view.group);
        for hot in &mut view.hot {
            let Estimate { value, lo, hi } = hot.own;
            hot.own = Estimate { value: value / 2.0, lo: lo.map(|lo| lo / 2.0), hi: hi.map(|hi| hi / 2.0) };
        }
    }
    profiles.views.extend(views.clone());
    summary.profiles = Some(profiles.clone());
    let of_itself = compared(&summary, &summary, ["m", "m"]).methods;
    assert!(of_itself.is_empty(), "nothing differs from itself: {of_itself:?}");
    let text = render(&compared(&summary, &summary, ["m", "m"]), &STYLE);
    for group in ["http4s", "other"] {
        assert!(text.contains(&format!("{TAPIR} (group {group}) · SimpleGet")), "{text}");
    }
    let mut half = summary.clone();
    views.iter_mut().for_each(|view| "http4s".clone_into(&mut view.group));
    views.extend(profiles.views.split_off(views.len()));
    half.profiles = Some(Profiles { views, ..profiles });
    let found = compared(&summary, &half, ["m", "m"]).methods;
    assert!(found.iter().any(|change| change.method.contains("Uri.parse")), "{found:?}");
}
