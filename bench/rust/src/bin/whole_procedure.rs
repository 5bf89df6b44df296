//! How often does the whole procedure of a run miss the truth? Odd starts are left out by their ratio, the prior of earlier runs
//! is used, one looks after each fork, and the run stops by the rule. The true log-ratio is 0.
//!
//! `cargo run -p bench-programs --bin whole_procedure [RUNS]` prints docs/notebook/2026-11-28-whole-procedure.md's table.
#![allow(clippy::print_stdout, reason = "a program of a benchmark talks to its caller")]

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tare_stats::moderated::MIN_PRIOR_GROUPS;
use tare_stats::quantile::sd;
use tare_stats::verdict::reason_to_stop;
use tare_stats::{
    Comparison, DecisionRule, ForkRatio, Method, Polarity, Region, SD_FLOOR, StatsError, VariancePrior, Verdict,
    find_odd_starts,
};

/// Standard deviation of forks, as JVMs have it.
const SD: f64 = 0.03;
const EARLIER_FORKS: usize = 6;
/// Runs that share the prior of one set of earlier runs.
const RUNS_PER_PRIOR: u32 = 100;

type Draw = fn(&mut Pcg64) -> f64;

/// How forks scatter about 0.
const DISTRIBUTIONS: [(&str, Draw); 3] =
    [("normal", |rng| SD * normal(rng)), ("t with 3 df", heavy_tailed), ("two modes", two_modes)];

/// Declared forks, and whether a run may go on past them.
const SCHEDULES: [(u32, bool); 2] = [(6, false), (12, true)];

/// Which prior a run has: none, or one by earlier runs whose forks scattered 1 / this as much.
const PRIORS: [(&str, Option<f64>); 3] = [("none", None), ("that fits", Some(1.0)), ("1.5 × too small", Some(1.5))];

fn normal(rng: &mut Pcg64) -> f64 {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Student's t with 3 degrees of freedom, scaled to the same standard deviation.
fn heavy_tailed(rng: &mut Pcg64) -> f64 {
    let chi: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
    SD * normal(rng) / chi.sqrt()
}

/// Two starts of one server. Each settles at 1.3 times the cost in 15 of 100 cases.
fn two_modes(rng: &mut Pcg64) -> f64 {
    let mut start = || SD / 2f64.sqrt() * normal(rng) + if rng.random::<f64>() < 0.15 { 1.3f64.ln() } else { 0.0 };
    start() - start()
}

/// Forks whose scatter is `scale` times that of the distribution.
fn forks(draw: Draw, scale: f64, count: usize, rng: &mut Pcg64) -> Result<Vec<ForkRatio>, StatsError> {
    (0..count).map(|_| ForkRatio::from_pairs(&[((scale * draw(rng)).exp(), 1.0)])).collect()
}

/// The forks that a report counts.
fn usual(forks: &[ForkRatio]) -> Result<Vec<ForkRatio>, StatsError> {
    let ratios: Vec<f64> = forks.iter().map(|fork| fork.trimmed_log.exp()).collect();
    let odd = find_odd_starts(&ratios)?;
    let is_usual = |at: &usize| odd.iter().all(|start| start.index != *at);
    Ok((0..forks.len()).filter(is_usual).map(|at| forks[at]).collect())
}

/// The prior by 20 earlier runs, which leave the spread of the forks that counted in them.
fn fitted_prior(draw: Draw, rng: &mut Pcg64) -> Result<Option<VariancePrior>, StatsError> {
    let mut groups = Vec::new();
    for _ in 0..MIN_PRIOR_GROUPS {
        let logs: Vec<f64> =
            usual(&forks(draw, 1.0, EARLIER_FORKS, rng)?)?.iter().map(|fork| fork.trimmed_log).collect();
        groups.push((sd(&logs)?.max(SD_FLOOR), logs.len() as f64 - 1.0));
    }
    Ok(VariancePrior::fit(&groups)?.map(VariancePrior::of_earlier_runs))
}

/// Of how many runs something is true.
#[derive(Default)]
struct Tally {
    /// The interval of any look misses the truth.
    missed: u32,
    /// Any look says "different".
    any_look: u32,
    /// The run stops, or ends, with that verdict.
    at_stop: u32,
}

impl Tally {
    /// One run with a look after each fork. It is judged on after it would have stopped, to count the later looks too.
    fn add_run(&mut self, draw: Draw, scale: f64, method: Method, rng: &mut Pcg64) -> Result<(), StatsError> {
        let Method::Repeated { max_forks: declared, may_continue, .. } = method else { return Ok(()) };
        // A group that may not go on replaces odd forks, up to half as many as were declared.
        let most = if may_continue { 2 * declared } else { declared + declared / 2 };
        let rule = DecisionRule { region: Region::new(0.05)?, half_width: Some(0.04), ..DecisionRule::default() };
        let all = forks(draw, scale, most as usize, rng)?;
        let (mut missed, mut any_look, mut at_stop) = (false, false, None);
        let mut last = Verdict::NoInterval;
        for count in method.min_forks()..=most {
            let counted = usual(&all[..count as usize])?;
            let comparison = Comparison::over_forks(&counted, method, SD_FLOOR)?;
            last = Verdict::of_comparison(&comparison, Polarity::LowerIsBetter, &rule);
            missed |= comparison.log.is_some_and(|log| !log.contains(0.0));
            any_look |= last.is_difference();
            if at_stop.is_none() && reason_to_stop(&comparison, &rule).is_some() {
                at_stop = Some(last);
            }
            if !may_continue && counted.len() as u32 >= declared {
                break;
            }
        }
        self.missed += u32::from(missed);
        self.any_look += u32::from(any_look);
        self.at_stop += u32::from(at_stop.unwrap_or(last).is_difference());
        Ok(())
    }
}

fn main() -> Result<(), StatsError> {
    let runs: u32 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20_000);
    println!("| forks | declared | α | prior | an interval misses | a look says different | it stops with that |");
    println!("|---|---|---|---|--:|--:|--:|");
    for (name, draw) in DISTRIBUTIONS {
        for (max_forks, may_continue) in SCHEDULES {
            for alpha in [0.05, 0.01] {
                for (prior_name, scale) in PRIORS {
                    let mut rng = Pcg64::seed_from_u64(28);
                    let mut tally = Tally::default();
                    let mut prior = None;
                    for run in 0..runs {
                        if scale.is_some() && run % RUNS_PER_PRIOR == 0 {
                            prior = fitted_prior(draw, &mut rng)?;
                        }
                        let method = Method::Repeated { alpha, min_forks: 3, max_forks, may_continue, prior };
                        tally.add_run(draw, scale.unwrap_or(1.0), method, &mut rng)?;
                    }
                    let [missed, any_look, at_stop] = [tally.missed, tally.any_look, tally.at_stop]
                        .map(|count| format!("{:.1} %", 100.0 * f64::from(count) / f64::from(runs)));
                    let more = if may_continue { ", may go on" } else { "" };
                    println!(
                        "| {name} | {max_forks}{more} | {alpha} | {prior_name} | {missed} | {any_look} | {at_stop} |"
                    );
                }
            }
        }
    }
    Ok(())
}
