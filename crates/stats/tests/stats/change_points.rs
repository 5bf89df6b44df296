//! Simulated histories: planted changes are found where they are, and none is found where there is none, whatever the noise.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tare_stats::{ChangePoint, find_change_points};

use crate::normal;

const RECORDS: usize = 200;
const ALPHA: f64 = 0.001;
const HISTORIES: u64 = 1_000;
/// Rises, falls, a short level, and a change that is reversed: 5 to 6 % each.
const PLANTED: [(usize, f64); 6] = [(25, 0.05), (60, -0.05), (72, 0.06), (110, 0.05), (150, -0.06), (185, 0.05)];

/// How runs scatter around their level.
#[derive(Debug, Clone, Copy)]
enum Noise {
    /// With this standard deviation.
    Normal(f64),
    /// Some share of the runs lies higher by some size, and all scatter by a small standard deviation.
    Modes { share: f64, size: f64, sd: f64 },
    /// Each run resembles the one before it: standard deviation, and correlation of neighbours.
    Correlated(f64, f64),
}

impl Noise {
    fn series(self, rng: &mut Pcg64, length: usize) -> Vec<f64> {
        let mut last = normal(rng);
        let mut next = || match self {
            Self::Normal(sd) => sd * normal(rng),
            Self::Modes { share, size, sd } => {
                (if rng.random::<f64>() < share { size } else { 0.0 }) + sd * normal(rng)
            }
            Self::Correlated(sd, correlation) => {
                last = correlation * last + (1.0 - correlation * correlation).sqrt() * normal(rng);
                sd * last
            }
        };
        (0..length).map(|_| next()).collect()
    }
}

fn changes(values: &[f64]) -> Vec<ChangePoint> {
    find_change_points(values, ALPHA).expect("finite values")
}

/// How many histories without a change get one.
fn count_false_changes(noise: Noise, length: usize) -> usize {
    let gets_one = |seed: &u64| {
        let values = noise.series(&mut Pcg64::seed_from_u64(*seed), length);
        !changes(&values).is_empty()
    };
    (0..HISTORIES).filter(gets_one).count()
}

/// How many histories with the planted changes have another change or lack one, and how many intervals miss a planted size.
fn count_misses(noise: Noise) -> (usize, usize) {
    let level = |at: usize| PLANTED.iter().filter(|(from, _)| at >= *from).map(|(_, size)| size).sum::<f64>();
    let (mut misplaced, mut missed_sizes) = (0, 0);
    for seed in 0..HISTORIES {
        let noise = noise.series(&mut Pcg64::seed_from_u64(seed), RECORDS);
        let values: Vec<f64> = noise.into_iter().enumerate().map(|(at, noise)| 0.1 + level(at) + noise).collect();
        let found = changes(&values);
        let pairs = || found.iter().zip(PLANTED);
        misplaced +=
            usize::from(found.len() != PLANTED.len() || pairs().any(|(found, (at, _))| found.at.abs_diff(at) > 1));
        missed_sizes +=
            pairs().filter(|(found, (_, size))| found.size.lo * size <= 0.0 || !found.size.contains(*size)).count();
    }
    (misplaced, missed_sizes)
}

#[test]
fn six_planted_changes_are_found_in_their_places_and_no_others() {
    // With five standard deviations between two levels, a few changes seem to be two runs away by chance.
    let of_noise = [
        (Noise::Normal(0.01), 5),
        (Noise::Modes { share: 0.3, size: 0.02, sd: 0.001 }, 2),
        (Noise::Modes { share: 0.2, size: 0.01, sd: 1e-9 }, 2),
        (Noise::Correlated(0.01, 0.3), 25),
    ];
    for (noise, most) in of_noise {
        let (misplaced, missed_sizes) = count_misses(noise);
        assert!(misplaced <= most, "{noise:?}: {misplaced} of {HISTORIES} histories have another change");
        let sizes = HISTORIES as usize * PLANTED.len();
        assert!(missed_sizes <= sizes / 150, "{noise:?}: {missed_sizes} of {sizes} intervals miss the size");
    }
}

#[test]
fn histories_without_a_change_rarely_get_one() {
    let of_noise = [
        (Noise::Normal(0.01), 3),
        (Noise::Modes { share: 0.3, size: 0.05, sd: 0.001 }, 10),
        (Noise::Modes { share: 0.1, size: 0.05, sd: 0.002 }, 10),
        (Noise::Modes { share: 0.05, size: 0.05, sd: 0.002 }, 10),
        // Rounding errors about values that are equal in most runs, as bytes per request are.
        (Noise::Modes { share: 0.2, size: 0.01, sd: 1e-9 }, 10),
        (Noise::Modes { share: 0.03, size: 0.01, sd: 0.0 }, 10),
        (Noise::Correlated(0.01, 0.3), 25),
    ];
    for length in [12, 30, 60, RECORDS] {
        for (noise, most) in of_noise {
            let invented = count_false_changes(noise, length);
            assert!(invented <= most, "{noise:?}: {invented} of {HISTORIES} histories of {length}");
        }
    }
}

#[test]
fn strong_correlation_invents_changes_in_short_histories_only() {
    let noise = Noise::Correlated(0.01, 0.5);
    for (length, most) in [(RECORDS, 15), (60, 60), (30, 80), (12, 30)] {
        let invented = count_false_changes(noise, length);
        assert!(invented <= most, "{invented} of {HISTORIES} histories of {length}");
    }
}
