//! What an A/A control says, beside a comparison and alone.

use tare_analysis::summarize;
use tare_analysis::summary::{FindingKind, ReportFinding, Summary, VerdictKind};
use tare_plan::plan::{NamedScenario, SliceKind};
use tare_record::RunRecord;

use crate::summaries::kinds;
use crate::synthetic::{self, Truth, baseline, control, standard_summary, variant};

#[test]
fn the_control_gives_the_noise_floor() {
    let summary = standard_summary();
    assert_eq!(summary.noise.len(), 1);
    let noise = &summary.noise[0];
    assert_eq!(noise.server, "http4s.Vanilla");
    assert!((0.001..0.02).contains(&noise.floor.unwrap()), "{:?}", noise.floor);
    assert!(!matches!(noise.currencies[0].verdict, VerdictKind::Worse | VerdictKind::Better));
}

#[test]
fn the_noise_of_a_check_is_held_against_its_limit() {
    let noise = |limit: &str| {
        let mut loud = control();
        loud.fork_sd = 0.08;
        let mut record = synthetic::run(
            &[baseline(), variant("http4s.Tapir", 0.95), loud],
            6,
            &[SliceKind::Saturating, SliceKind::Fixed],
        );
        record.header.plan.stop.limits = vec![limit.parse().unwrap()];
        let kind = FindingKind::Report(ReportFinding::NoiseAboveRegion);
        summarize(&record).findings.into_iter().find(|finding| finding.kind == kind).map(|finding| finding.text)
    };
    assert!(noise("cpu > +5%").unwrap().ends_with(", limit 5 %."), "{:?}", noise("cpu > +5%"));
    assert_eq!(noise("cpu > +50%"), None, "it is small beside the limit");
}

#[test]
fn a_control_of_every_second_fork_gives_a_noise_floor_and_takes_nothing_from_the_comparison() {
    let mut record =
        synthetic::run(&[baseline(), variant("http4s.Tapir", 0.95), control()], 16, &[SliceKind::Saturating]);
    let whole = summarize(&record);
    let is_left_out = |variant: &str, fork: u32| variant.ends_with("(again)") && fork > 3 && fork.is_multiple_of(2);
    record.slices.retain(|slice| !is_left_out(&slice.key.variant, slice.key.fork));
    record.warmups.retain(|warmup| !is_left_out(&warmup.variant, warmup.fork));
    record.forks.retain(|start| !is_left_out(&start.variant, start.fork));
    let summary = summarize(&record);
    assert_eq!((summary.noise[0].currencies[0].forks, summary.comparisons[0].currencies[0].forks), (9, 16));
    assert!(summary.noise[0].floor.is_some());
    assert_eq!(summary.comparisons, whole.comparisons);
    assert_eq!(kinds(&summary), kinds(&whole));
    let states = |of: &Summary| of.cells.iter().map(|cell| cell.validity.state).collect::<Vec<_>>();
    assert_eq!(states(&summary), states(&whole));
}

#[test]
fn a_server_alone_with_its_control_is_compared_with_itself() {
    let summary = summarize(&synthetic::run(&[baseline(), control()], 16, &[SliceKind::Saturating]));
    assert_eq!(summary.comparisons.len(), 1);
    let text = &summary.sentences[0].text;
    assert!(text.starts_with("http4s.Vanilla shows no material difference from a second start of itself"), "{text}");
    assert_eq!(summary.sentences[0].verdict, VerdictKind::NoMaterialDifference, "{text}");
}

/// A server beside its baseline in two scenarios, each with a control of its own.
fn in_two_scenarios(controls: [Truth; 2]) -> RunRecord {
    let of =
        |control| synthetic::run(&[baseline(), variant("http4s.Tapir", 0.95), control], 8, &[SliceKind::Saturating]);
    let [mut record, mut other] = controls.map(of);
    other.slices.iter_mut().for_each(|slice| "PostBytes".clone_into(&mut slice.key.scenario));
    record.slices.append(&mut other.slices);
    let scenarios = &mut record.header.plan.groups[0].scenarios;
    let named = NamedScenario { name: "PostBytes".to_owned(), ..scenarios[0].clone() };
    scenarios.push(named);
    record
}

#[test]
fn a_control_that_differs_is_told_although_another_one_is_open() {
    let (noisy, unlike) = (Truth { fork_sd: 0.08, ..control() }, Truth { speed: 0.8, ..control() });
    let orders = [[noisy.clone(), unlike.clone()], [unlike, noisy]];
    for (controls, differs) in orders.into_iter().zip(["PostBytes", "SimpleGet"]) {
        let summary = summarize(&in_two_scenarios(controls));
        let kind = FindingKind::Report(ReportFinding::ControlDiffers);
        let told: Vec<&str> =
            summary.findings.iter().filter(|found| found.kind == kind).map(|found| found.text.as_str()).collect();
        let says = format!("http4s.Vanilla on {differs}: slower ");
        assert!(told.len() == 1 && told[0].contains(&says), "{differs}: {told:?}");
    }
}
