//! Simulated histories: planted changes are found where they are, and none is found where there is none.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tare_stats::find_change_points;

const RECORDS: usize = 200;
const NOISE: f64 = 0.01;
const ALPHA: f64 = 0.001;

fn normal(rng: &mut Pcg64) -> f64 {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Values whose level rises or falls by a size from an index on.
fn history(rng: &mut Pcg64, changes: &[(usize, f64)]) -> Vec<f64> {
    let level = |at: usize| changes.iter().filter(|(from, _)| at >= *from).map(|(_, size)| size).sum::<f64>();
    (0..RECORDS).map(|at| 0.1 + level(at) + NOISE * normal(rng)).collect()
}

#[test]
fn six_planted_changes_are_found_in_their_places_and_no_others() {
    // Ups, downs, a short level, and one that is undone.
    let planted = [(25, 0.05), (60, -0.05), (72, 0.06), (110, 0.05), (150, -0.06), (185, 0.05)];
    let (mut misplaced, mut missed_sizes) = (0, 0);
    let histories = 1_000;
    for seed in 0..histories {
        let values = history(&mut Pcg64::seed_from_u64(seed), &planted);
        let changes = find_change_points(&values, ALPHA).unwrap();
        let pairs = || changes.iter().zip(planted);
        misplaced +=
            usize::from(changes.len() != planted.len() || pairs().any(|(found, (at, _))| found.at.abs_diff(at) > 1));
        missed_sizes +=
            pairs().filter(|(found, (_, size))| found.size.lo * size <= 0.0 || !found.size.contains(*size)).count();
    }
    assert!(misplaced <= 2, "{misplaced} of {histories} histories have another change");
    assert!(missed_sizes <= 20, "{missed_sizes} of {} intervals miss the size", 6 * histories);
}

#[test]
fn histories_without_a_change_rarely_get_one() {
    let mut rng = Pcg64::seed_from_u64(8_127);
    let histories = 1_000;
    let invented =
        (0..histories).filter(|_| !find_change_points(&history(&mut rng, &[]), ALPHA).unwrap().is_empty()).count();
    assert!(invented < 10, "{invented} of {histories}");
}
