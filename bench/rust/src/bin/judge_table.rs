//! Judges the comparisons of a finished table again, from the mean and the spread of their starts: what a report would say of
//! them by today's rules. `bench/findings/make --judge NAME` runs it on stored evidence.
//!
//! `cargo run -p bench-programs --bin judge_table < comparisons.json > judged.json`
#![allow(clippy::print_stdout, reason = "a program of a benchmark talks to its caller")]

use std::collections::BTreeMap;
use std::error::Error;

use serde::{Deserialize, Serialize};
use tare_stats::measures::{Line, Measured, judge_measures};
use tare_stats::{
    Comparison, DecisionRule, ForkRatio, Method, Polarity, Region, SD_FLOOR, StatsError, VariancePrior, Verdict,
};

/// A table whose number of starts was fixed beforehand.
#[derive(Deserialize)]
struct Table {
    alpha: f64,
    region: f64,
    /// How many comparisons were asked for.
    comparisons: u32,
    measured: Vec<Entry>,
}

/// One currency of one comparison.
#[derive(Deserialize)]
struct Entry {
    currency: String,
    /// Comparisons of one currency and kind share their spread.
    kind: String,
    higher_is_better: bool,
    ratio: f64,
    sd: f64,
    forks: u32,
}

impl Entry {
    /// Forks with this mean and this standard deviation.
    fn ratios(&self) -> Result<Vec<ForkRatio>, StatsError> {
        let n = f64::from(self.forks);
        // The numbers 1 to n have a variance of n (n + 1) / 12.
        let step = self.sd / (n * (n + 1.0) / 12.0).sqrt();
        let log = |fork: u32| self.ratio.ln() + (f64::from(fork) - (n - 1.0) / 2.0) * step;
        (0..self.forks).map(|fork| ForkRatio::from_pairs(&[(log(fork).exp(), 1.0)])).collect()
    }
}

#[derive(Serialize)]
struct Judged {
    lo: f64,
    hi: f64,
    method: String,
    verdict: &'static str,
    /// The starts in all that would decide it, if estimate and spread stayed as they are.
    starts_needed: Option<u32>,
    /// The spread of the other comparisons, where the interval rests on it.
    prior: Option<VariancePrior>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let table: Table = serde_json::from_reader(std::io::stdin())?;
    let method = Method::FIXED_FORKS.at_level(table.alpha);
    let ratios: Vec<Vec<ForkRatio>> = table.measured.iter().map(Entry::ratios).collect::<Result<_, _>>()?;
    let alone: Vec<Comparison> =
        ratios.iter().map(|forks| Comparison::over_forks(forks, method, SD_FLOOR)).collect::<Result<_, _>>()?;
    let mut kinds: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (at, entry) in table.measured.iter().enumerate() {
        kinds.entry((&entry.currency, &entry.kind)).or_default().push(at);
    }
    let mut methods = vec![method; alone.len()];
    for places in kinds.values() {
        let prior = VariancePrior::of_comparisons(places.iter().map(|at| &alone[*at]))?;
        places.iter().for_each(|at| methods[*at] = method.with_prior(prior));
    }
    let measured = |at: usize| {
        let better = table.measured[at].higher_is_better;
        let polarity = if better { Polarity::HigherIsBetter } else { Polarity::LowerIsBetter };
        Measured { forks: &ratios[at], polarity, method: methods[at], sd_floor: SD_FLOOR }
    };
    let mut currencies: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, entry) in table.measured.iter().enumerate() {
        currencies.entry(&entry.currency).or_default().push(at);
    }
    let lines: Vec<Line<'_>> = currencies.values().map(|at| at.iter().map(|at| measured(*at)).collect()).collect();
    let rule = DecisionRule {
        region: Region { margin: table.region },
        comparisons: table.comparisons,
        ..DecisionRule::default()
    };
    let verdicts = judge_measures(&lines, &rule)?;
    let mut judged: Vec<Option<Judged>> = (0..alone.len()).map(|_| None).collect();
    for (places, verdicts) in currencies.values().zip(&verdicts) {
        for (at, verdict) in places.iter().zip(verdicts) {
            judged[*at] = Some(result(&measured(*at).at_share(1.0)?, *verdict)?);
        }
    }
    println!("{}", serde_json::to_string(&judged)?);
    Ok(())
}

fn result(comparison: &Comparison, verdict: Verdict) -> Result<Judged, StatsError> {
    let missing = StatsError::TooFew { what: "an interval", needed: 2, got: comparison.forks as usize };
    let ratio = comparison.ratio.ok_or(missing)?;
    let is_moderated = comparison.without_prior.is_some_and(|without| without != ratio);
    let spread = if is_moderated { ", with the spread of this run's comparisons" } else { "" };
    let (verdict, starts_needed) = match verdict {
        Verdict::NoMaterialDifference => ("no_material_difference", None),
        Verdict::Worse { .. } => ("worse", None),
        Verdict::Better { .. } => ("better", None),
        Verdict::Inconclusive { forks_needed, .. } => ("inconclusive", forks_needed),
        Verdict::NoInterval => ("no_interval", None),
        Verdict::Void => ("void", None),
    };
    let method = format!("Student t{spread}, α {}, {} starts", comparison.method.alpha, comparison.forks);
    let prior = comparison.method.prior.filter(|_| is_moderated);
    Ok(Judged { lo: ratio.lo, hi: ratio.hi, method, verdict, starts_needed, prior })
}
