//! The test for exponential gaps keeps its promise on true ones, and rejects schedules that only look random.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tare_stats::{ExpectedMean, ExponentialFit, Level};

const REPETITIONS: usize = 4_000;
const GAPS: usize = 200;
const LEVELS: [(Level, f64); 4] = [
    (Level::TenPercent, 0.10),
    (Level::FivePercent, 0.05),
    (Level::TwoAndAHalfPercent, 0.025),
    (Level::OnePercent, 0.01),
];

fn exponential(rng: &mut Pcg64, mean: f64) -> f64 {
    -mean * (1.0 - rng.random::<f64>()).ln()
}

fn fit(gaps: &[f64], mean: ExpectedMean) -> ExponentialFit {
    ExponentialFit::from_gaps(gaps, mean).expect("gaps that can be tested")
}

#[test]
fn true_gaps_are_rejected_as_often_as_the_level_says() {
    for mean in [ExpectedMean::Known(3.0), ExpectedMean::Estimated] {
        let mut rng = Pcg64::seed_from_u64(1974);
        let fits: Vec<ExponentialFit> = (0..REPETITIONS)
            .map(|_| {
                let gaps: Vec<f64> = (0..GAPS).map(|_| exponential(&mut rng, 3.0)).collect();
                fit(&gaps, mean)
            })
            .collect();
        for (level, share) in LEVELS {
            let rejected = fits.iter().filter(|fit| fit.is_rejected_at(level)).count() as f64;
            let expected = share * REPETITIONS as f64;
            // Four standard errors of such a count.
            let tolerance = 4.0 * (expected * (1.0 - share)).sqrt();
            assert!((rejected - expected).abs() < tolerance, "{mean:?}, {level:?}: {rejected} for {expected}");
        }
    }
}

/// The gaps between starts, which are sorted first.
fn gaps_of(mut starts: Vec<f64>) -> Vec<f64> {
    starts.sort_by(f64::total_cmp);
    starts.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn schedules_that_only_look_random_are_rejected() {
    let mut rng = Pcg64::seed_from_u64(7);
    let poisson: Vec<f64> = (0..2000)
        .scan(0.0, |at, _| {
            *at += exponential(&mut rng, 1.0);
            Some(*at)
        })
        .collect();
    let quantised = |tick: f64| gaps_of(poisson.iter().map(|start| (start / tick).ceil() * tick).collect());
    let jittered = gaps_of((0..2000).map(|nth| f64::from(nth) + rng.random::<f64>()).collect());
    let with_a_dead_time = gaps_of(poisson.iter().enumerate().map(|(nth, start)| start + 0.1 * nth as f64).collect());
    for (what, gaps) in [
        ("a regular schedule with uniform jitter", jittered),
        ("sends on the ticks of a clock", quantised(0.5)),
        ("a sender that needs a while for each", with_a_dead_time),
        ("equal distances", vec![1.0; 2000]),
    ] {
        let shape = fit(&gaps, ExpectedMean::Estimated);
        assert!(shape.is_rejected_at(Level::OnePercent), "{what}: A² = {:.2}", shape.a_squared);
    }
    // The right shape at the wrong rate.
    let slow: Vec<f64> = (0..2000).map(|_| exponential(&mut rng, 1.1)).collect();
    assert!(!fit(&slow, ExpectedMean::Estimated).is_rejected_at(Level::OnePercent));
    assert!(fit(&slow, ExpectedMean::Known(1.0)).is_rejected_at(Level::OnePercent));
}
