//! What simulated forks are drawn from: known distributions, and forks of records. Their true log-ratio is 0.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context;
use rand::RngExt;
use rand_pcg::Pcg64;
use tare_record::store::open_run_record;
use tare_report::summarize::recorded_forks;
use tare_stats::ForkRatio;
use tare_stats::quantile::mean;

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
    /// The log-ratios of the rounds of recorded forks.
    Recorded { forks: Vec<Vec<f64>>, comparisons: usize },
}

impl Source {
    /// Normal, heavy tails, and starts that settle in one of two modes.
    pub fn known() -> Vec<Self> {
        let known = |name: &str, draw: fn(&mut Pcg64) -> f64| Self { name: name.to_owned(), kind: Kind::Known(draw) };
        vec![known("normal", |rng| SD * normal(rng)), known("t with 3 df", heavy), known("two modes", two_modes)]
    }

    /// One source for each family of the records.
    ///
    /// Each comparison is centred at its own mean. That takes a share of 1/n from the variance of its n forks, which is
    /// given back.
    ///
    /// # Errors
    /// A record cannot be read.
    pub fn recorded(records: &[PathBuf]) -> anyhow::Result<Vec<Self>> {
        let mut families: BTreeMap<String, (Vec<Vec<f64>>, usize)> = BTreeMap::new();
        for file in records {
            let record = open_run_record(file).with_context(|| format!("cannot replay {}", file.display()))?;
            for recorded in recorded_forks(&record).into_iter().filter(|recorded| recorded.forks.len() > 2) {
                let values = recorded.forks.iter().map(|pairs| Ok(ForkRatio::from_pairs(pairs)?.trimmed_log));
                let values: Vec<f64> = values.collect::<anyhow::Result<_>>()?;
                let (centre, count) = (mean(&values)?, values.len() as f64);
                let widen = (count / (count - 1.0)).sqrt();
                let centred = recorded.forks.iter().zip(&values).map(|(pairs, value)| {
                    let shift = (value - centre) * widen - value;
                    pairs.iter().map(|(variant, baseline)| (variant / baseline).ln() + shift).collect()
                });
                let family = families.entry(recorded.family).or_default();
                family.0.extend(centred);
                family.1 += 1;
            }
        }
        let enough = families.into_iter().filter(|(_, (forks, _))| forks.len() >= MIN_FORKS);
        let source = |(name, (forks, comparisons))| Self { name, kind: Kind::Recorded { forks, comparisons } };
        Ok(enough.map(source).collect())
    }

    /// One fork of a server against itself.
    ///
    /// Of a recorded fork, its rounds are drawn again. Which of two equal servers is the baseline is a matter of chance,
    /// so its sign is too: the true log-ratio is 0.
    pub fn fork(&self, rng: &mut Pcg64) -> Vec<(f64, f64)> {
        match &self.kind {
            Kind::Known(draw) => vec![(draw(rng).exp(), 1.0)],
            Kind::Recorded { forks, .. } => {
                let fork = &forks[rng.random_range(0..forks.len())];
                let sign = if rng.random::<bool>() { 1.0 } else { -1.0 };
                fork.iter().map(|_| ((sign * fork[rng.random_range(0..fork.len())]).exp(), 1.0)).collect()
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
