//! What an A/A control says, beside a comparison and alone.

use tare_analysis::summarize;
use tare_analysis::summary::{Summary, VerdictKind};
use tare_plan::plan::SliceKind;

use crate::summaries::kinds;
use crate::synthetic::{self, baseline, control, standard_summary, variant};

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
