//! What simulated forks are drawn from: known distributions, and forks of records. Their true log-ratio is 0.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_1_SQRT_2;
use std::path::PathBuf;

use anyhow::Context;
use rand::RngExt;
use rand_pcg::Pcg64;
use tare_analysis::recorded_forks;
use tare_record::store::open_run_record;
use tare_stats::ForkRatio;

/// The standard deviation of forks of the known distributions, as JVMs have it.
const SD: f64 = 0.03;
/// A family with fewer recorded forks than this is left out.
const MIN_FORKS: usize = 8;

/// Where simulated forks come from.
pub struct Source {
    pub name: String,
    pub kind: Kind,
}

pub enum Kind {
    /// A log-ratio by its distribution.
    Known(fn(&mut Pcg64) -> f64),
    /// The forks of each recorded comparison.
    Recorded { comparisons: Vec<Vec<RecordedFork>> },
}

/// A recorded fork: its log-ratio, and those of its rounds.
pub struct RecordedFork {
    log: f64,
    rounds: Vec<f64>,
}

impl RecordedFork {
    /// `pairs` are the figures of variant and baseline by round.
    fn from_pairs(pairs: &[(f64, f64)]) -> anyhow::Result<Self> {
        let rounds = pairs.iter().map(|(variant, baseline)| (variant / baseline).ln()).collect();
        Ok(Self { log: ForkRatio::from_pairs(pairs)?.trimmed_log, rounds })
    }
}

impl Source {
    /// Normal, heavy tails, and starts that settle in one of two modes.
    pub fn known() -> Vec<Self> {
        let known = |name: &str, draw: fn(&mut Pcg64) -> f64| Self { name: name.to_owned(), kind: Kind::Known(draw) };
        vec![known("normal", |rng| SD * normal(rng)), known("t with 3 df", heavy), known("two modes", two_modes)]
    }

    /// One source for each family of the records.
    ///
    /// # Errors
    /// A record cannot be read.
    pub fn recorded(records: &[PathBuf]) -> anyhow::Result<Vec<Self>> {
        let mut families: BTreeMap<String, Vec<Vec<RecordedFork>>> = BTreeMap::new();
        for file in records {
            let record = open_run_record(file).with_context(|| format!("cannot replay {}", file.display()))?;
            for (family, forks) in recorded_forks(&record).into_iter().filter(|(_, forks)| forks.len() > 2) {
                let forks: anyhow::Result<_> = forks.iter().map(|pairs| RecordedFork::from_pairs(pairs)).collect();
                families.entry(family).or_default().push(forks?);
            }
        }
        let is_large = |comparisons: &Vec<Vec<_>>| comparisons.iter().map(Vec::len).sum::<usize>() >= MIN_FORKS;
        let enough = families.into_iter().filter(|(_, comparisons)| is_large(comparisons));
        Ok(enough.map(|(name, comparisons)| Self { name, kind: Kind::Recorded { comparisons } }).collect())
    }

    /// One fork of a server against itself.
    ///
    /// Two forks of one recorded comparison differ as two starts of one server do, around 0 and whatever the
    /// comparison's true ratio is. Their difference has twice the variance of a fork, so it is divided by √2. The rounds
    /// of one of them are drawn again around it. Which of two equal servers is the baseline is a matter of chance, so the
    /// sign is too.
    pub fn fork(&self, rng: &mut Pcg64) -> Vec<(f64, f64)> {
        match &self.kind {
            Kind::Known(draw) => vec![(draw(rng).exp(), 1.0)],
            Kind::Recorded { comparisons } => {
                let forks = &comparisons[rng.random_range(0..comparisons.len())];
                let first = rng.random_range(0..forks.len());
                let second = (first + rng.random_range(1..forks.len())) % forks.len();
                let (fork, other) = (&forks[first], &forks[second]);
                let shift = (fork.log - other.log) * FRAC_1_SQRT_2 - fork.log;
                let sign = if rng.random::<bool>() { 1.0 } else { -1.0 };
                let round = |rng: &mut Pcg64| fork.rounds[rng.random_range(0..fork.rounds.len())] + shift;
                fork.rounds.iter().map(|_| ((sign * round(rng)).exp(), 1.0)).collect()
            }
        }
    }
}

fn normal(rng: &mut Pcg64) -> f64 {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Student's t with 3 degrees of freedom, scaled to the same standard deviation.
fn heavy(rng: &mut Pcg64) -> f64 {
    let chi: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
    SD * normal(rng) / chi.sqrt()
}

/// Two starts of one server. Each settles at 1.3 times the cost in 15 of 100 cases.
fn two_modes(rng: &mut Pcg64) -> f64 {
    let mut start = || SD / 2f64.sqrt() * normal(rng) + if rng.random::<f64>() < 0.15 { 1.3f64.ln() } else { 0.0 };
    start() - start()
}
