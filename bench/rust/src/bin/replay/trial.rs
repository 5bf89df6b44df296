//! Simulated runs of a server against itself, and how often they call it different.

use rand_pcg::Pcg64;
use serde::Serialize;
use tare_stats::quantile::sd;
use tare_stats::verdict::reason_to_stop;
use tare_stats::{
    Comparison, DecisionRule, ForkRatio, Method, MethodKind, Polarity, Region, SD_FLOOR, VariancePrior, Verdict,
    find_odd_starts,
};

use crate::options::Options;
use crate::source::{Kind, Source};

/// Runs that share the prior of one set of earlier runs.
const RUNS_PER_PRIOR: u32 = 100;
/// Earlier runs behind a prior, and forks of each.
const EARLIER_RUNS: usize = 20;
const EARLIER_FORKS: usize = 6;
/// Past the declared forks, a run that may continue goes on for as many again.
const CONTINUES: u32 = 2;

/// What the simulated runs of one source came to under one method.
#[derive(Serialize)]
pub struct Tally {
    pub source: String,
    /// Recorded forks and comparisons that were drawn from; `None` for a known distribution.
    pub forks: Option<usize>,
    pub comparisons: Option<usize>,
    pub alpha: f64,
    pub max_forks: u32,
    pub may_continue: bool,
    pub with_prior: bool,
    pub runs: u32,
    /// Share of the runs in which the interval of any look missed the truth.
    pub missed: f64,
    /// Share of the runs in which any look said "different".
    pub any_look: f64,
    /// Share of the runs that stopped, or ended, with that verdict.
    pub at_stop: f64,
    /// Share of the runs that ended with "no material difference".
    pub equivalent: f64,
    /// Forks until the stop, on average.
    pub mean_forks: f64,
    /// α and three standard errors of a share of this number of runs.
    pub limit: f64,
    pub holds: bool,
}

impl Tally {
    /// One line of the table.
    pub fn line(&self) -> String {
        let prior = if self.with_prior { "yes" } else { "no" };
        let word = if self.holds { "PASS" } else { "FAIL" };
        format!(
            "{:28} {:>5} {:>5} {prior:>6} {:>6.2} % {:>8.2} % {:>6.2} % {:>6.1} %  at most {:.2} %  {word}",
            self.source,
            self.alpha,
            self.max_forks,
            self.missed * 100.0,
            self.any_look * 100.0,
            self.at_stop * 100.0,
            self.equivalent * 100.0,
            self.limit * 100.0
        )
    }
}

/// Simulates a number of runs. With a prior, each hundred have one that is fitted to earlier runs of the same source.
///
/// # Errors
/// The method means nothing.
pub fn simulate(
    source: &Source,
    method: Method,
    with_prior: bool,
    options: &Options,
    rng: &mut Pcg64,
) -> anyhow::Result<Tally> {
    let runs = options.runs;
    let (mut missed, mut any_look, mut at_stop, mut equivalent, mut forks) = (0, 0, 0, 0, 0);
    let mut method = method;
    for run in 0..runs {
        if with_prior && run % RUNS_PER_PRIOR == 0 {
            method = with_fitted_prior(method, source, rng)?;
        }
        let outcome = Outcome::of_run(source, method, options.scatter, rng)?;
        missed += u32::from(outcome.missed);
        any_look += u32::from(outcome.any_look);
        at_stop += u32::from(outcome.last.is_difference());
        equivalent += u32::from(outcome.last == Verdict::NoMaterialDifference);
        forks += outcome.forks;
    }
    let share = |count: u32| f64::from(count) / f64::from(runs);
    let alpha = method.alpha;
    let limit = alpha + 3.0 * (alpha * (1.0 - alpha) / f64::from(runs)).sqrt();
    let drawn_from = match &source.kind {
        Kind::Known(_) => (None, None),
        Kind::Recorded { comparisons } => (Some(comparisons.iter().map(Vec::len).sum()), Some(comparisons.len())),
    };
    let MethodKind::Repeated { max_forks, may_continue, .. } = method.kind else {
        anyhow::bail!("only repeated intervals")
    };
    Ok(Tally {
        source: source.name.clone(),
        forks: drawn_from.0,
        comparisons: drawn_from.1,
        alpha,
        max_forks,
        may_continue,
        with_prior,
        runs,
        missed: share(missed),
        any_look: share(any_look),
        at_stop: share(at_stop),
        equivalent: share(equivalent),
        mean_forks: share(forks),
        limit,
        holds: share(missed) <= limit,
    })
}

/// The method with the prior that earlier runs of the same source give: by the forks that counted in them.
fn with_fitted_prior(method: Method, source: &Source, rng: &mut Pcg64) -> anyhow::Result<Method> {
    let mut groups = Vec::new();
    for _ in 0..EARLIER_RUNS {
        let usual = without_odd(&ratios(source, EARLIER_FORKS, 1.0, rng)?)?;
        let logs: Vec<f64> = usual.iter().map(|fork| fork.trimmed_log).collect();
        groups.push((sd(&logs)?.max(SD_FLOOR), logs.len() as f64 - 1.0));
    }
    let fitted = VariancePrior::fit(&groups)?.map(VariancePrior::of_earlier_runs);
    Ok(method.with_prior(fitted))
}

/// Forks that scatter `scatter` times as much as those of the source.
fn ratios(source: &Source, forks: usize, scatter: f64, rng: &mut Pcg64) -> anyhow::Result<Vec<ForkRatio>> {
    let fork = |_| -> anyhow::Result<ForkRatio> {
        let pairs: Vec<(f64, f64)> =
            source.fork(rng).into_iter().map(|(ratio, of)| (ratio.powf(scatter), of)).collect();
        Ok(ForkRatio::from_pairs(&pairs)?)
    };
    (0..forks).map(fork).collect()
}

/// The forks that a report counts.
fn without_odd(forks: &[ForkRatio]) -> anyhow::Result<Vec<ForkRatio>> {
    let ratios: Vec<f64> = forks.iter().map(|fork| fork.trimmed_log.exp()).collect();
    let odd = find_odd_starts(&ratios)?;
    let is_usual = |(at, _): &(usize, &ForkRatio)| !odd.contains(at);
    Ok(forks.iter().enumerate().filter(is_usual).map(|(_, fork)| *fork).collect())
}

/// How one simulated run went.
struct Outcome {
    /// The interval of any look missed the truth.
    missed: bool,
    /// Any look said "different".
    any_look: bool,
    /// The verdict at which it stopped or ended.
    last: Verdict,
    forks: u32,
}

impl Outcome {
    /// A run with a look after each fork. It is judged on after it would have stopped, to count the later looks too.
    fn of_run(source: &Source, method: Method, scatter: f64, rng: &mut Pcg64) -> anyhow::Result<Self> {
        let declared = method.declared_forks().unwrap_or(0);
        let continues = matches!(method.kind, MethodKind::Repeated { may_continue: true, .. });
        // A listed group replaces odd forks, up to half as many as were declared.
        let most = if continues { declared * CONTINUES } else { declared + declared / 2 };
        let rule = DecisionRule { region: Region { margin: 0.05 }, half_width: Some(0.04), ..DecisionRule::default() };
        let forks = ratios(source, most as usize, scatter, rng)?;
        let (mut missed, mut any_look, mut stopped) = (false, false, None);
        let mut last = (Verdict::NoInterval, 0);
        for count in method.min_forks()..=most {
            let usual = without_odd(&forks[..count as usize])?;
            let comparison = Comparison::over_forks(&usual, method, SD_FLOOR)?;
            last = (Verdict::of_comparison(&comparison, Polarity::LowerIsBetter, &rule), count);
            missed |= comparison.log.is_some_and(|log| !log.contains(0.0));
            any_look |= last.0.is_difference();
            if reason_to_stop(&comparison, &rule).is_some() {
                stopped = stopped.or(Some(last));
            }
            if !continues && usual.len() as u32 >= declared {
                break;
            }
        }
        let (last, forks) = stopped.unwrap_or(last);
        Ok(Self { missed, any_look, last, forks })
    }
}
