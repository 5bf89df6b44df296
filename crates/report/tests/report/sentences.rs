//! Every verdict as a sentence.

use tare_analysis::summarize;
use tare_plan::plan::SliceKind;

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
