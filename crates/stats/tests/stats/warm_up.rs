//! Steadiness on simulated warm-ups: patient with noise, and not fooled by a JIT at work.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tare_stats::{SteadyRule, Unsteady, Window, why_unsteady};

/// Windows of 0.5 s over `seconds`, with uniform noise of the given standard deviation about `cost(time)`.
fn windows(rng: &mut Pcg64, seconds: f64, noise_sd: f64, cost: impl Fn(f64) -> f64) -> Vec<Window> {
    let mut noise = || (rng.random::<f64>() - 0.5) * 12f64.sqrt() * noise_sd;
    let times = (0..(seconds * 2.0) as usize).map(|i| 0.25 + i as f64 * 0.5);
    times.map(|time_s| Window { time_s, log_cost: cost(time_s) + noise(), compiler_share: None }).collect()
}

fn share_steady(repetitions: usize, seconds: f64, noise_sd: f64, cost: impl Fn(f64) -> f64) -> f64 {
    let mut rng = Pcg64::seed_from_u64(17);
    let steady = |_: &usize| {
        let series = windows(&mut rng, seconds, noise_sd, &cost);
        why_unsteady(&series, &SteadyRule::default()).expect("finite windows").is_none()
    };
    (0..repetitions).filter(steady).count() as f64 / repetitions as f64
}

#[test]
fn a_warm_server_is_mostly_found_steady_at_any_noise() {
    for noise_sd in [0.001, 0.01, 0.05, 0.15] {
        let share = share_steady(500, 8.0, noise_sd, |_| 4.0);
        assert!(share > 0.8, "noise {noise_sd}: steady in {share}");
    }
}

#[test]
fn a_server_that_warms_up_is_not_steady_early_and_is_later() {
    // The cost falls from twice its final value with a time constant of 4 s, with 2 % of noise.
    let warming = |t: f64| (1.0 + (-t / 4.0).exp()).ln();
    assert!(share_steady(300, 6.0, 0.02, warming) < 0.05, "at 6 s it still falls by 16 % in 3 s");
    assert!(share_steady(300, 40.0, 0.02, warming) > 0.8, "at 40 s it is flat");
}

#[test]
fn a_recompilation_in_the_last_seconds_is_noticed() {
    let mut rng = Pcg64::seed_from_u64(3);
    let recompiled = |t: f64| if t < 18.0 { 4.0 } else { 3.9 };
    for _ in 0..100 {
        let series = windows(&mut rng, 20.0, 0.01, recompiled);
        let reason = why_unsteady(&series, &SteadyRule::default()).expect("finite windows");
        assert!(matches!(reason, Some(Unsteady::Shifted { .. } | Unsteady::Drifting { .. })), "{reason:?}");
    }
}
