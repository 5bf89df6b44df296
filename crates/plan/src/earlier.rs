//! What a plan uses of earlier runs on this machine: how much forks scatter, and how long a fork takes.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use tare_stats::VariancePrior;
use tare_stats::moderated::MIN_PRIOR_GROUPS;
use tare_stats::quantile::median;
use tare_units::CpuSet;

use crate::choices::{PriorUse, SchedulingPolicy, SliceKind};
use crate::currency::Currency;

/// The fewest forks of an earlier comparison whose spread is used.
pub const MIN_EARLIER_FORKS: u32 = 3;
/// A fork can have taken this many times the formula's time: a damaged file must not stretch a plan to days.
const LIKELY: RangeInclusive<f64> = 0.1..=10.0;

/// The conditions under which a run measured. Forks under others may scatter otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunConditions {
    /// Processor, cores and memory, as text.
    pub machine: String,
    /// Feature release of the JDK; `None` where no server runs on a JVM.
    pub jdk: Option<u32>,
    pub server_cpus: String,
    pub scheduling: SchedulingPolicy,
}

impl RunConditions {
    /// Whether forks measured at `other` are comparable with forks measured here. A run without a JVM fits every JDK.
    fn is_comparable_with(&self, other: &Self) -> bool {
        let same_jdk = other.jdk.is_none() || other.jdk == self.jdk;
        // Runs of before wrote `0,1,2` by default, and this version `0-2`.
        let cores = |of: &Self| of.server_cpus.parse::<CpuSet>();
        let others = |of: &Self| Self { jdk: None, server_cpus: String::new(), ..of.clone() };
        same_jdk && cores(self) == cores(other) && others(self) == others(other)
    }
}

/// What later plans use of one finished run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EarlierRun {
    pub place: RunConditions,
    /// One entry for each comparison and currency.
    pub spreads: Vec<ForkSpread>,
    pub fork_times: Vec<ForkTime>,
}

/// How much the forks of one comparison scattered in one currency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForkSpread {
    #[serde(flatten)]
    pub of: SpreadOf,
    /// Standard deviation of the forks' log-ratios.
    pub sd: f64,
    pub forks: u32,
}

/// Identifies a spread. Forks of the same family, scenario, currency and load are expected to scatter alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SpreadOf {
    pub family: String,
    /// Scenario; `None` for all scenarios of the family together, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    pub currency: Currency,
    pub load: SliceKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForkTime {
    pub family: String,
    /// Time of one fork by [`formula_fork_time`](crate::estimate::formula_fork_time), in seconds.
    pub formula_s: f64,
    /// Measured mean time of one fork, in seconds.
    pub taken_s: f64,
}

/// What a plan uses of earlier runs. It is fixed before the first fork.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EarlierForks {
    pub spreads: Vec<EarlierSpread>,
    /// How long forks took, relative to [`formula_fork_time`](crate::estimate::formula_fork_time).
    pub times: Vec<EarlierForkTime>,
    /// Runs of these families that do not count, because they measured at another place.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub elsewhere: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EarlierSpread {
    #[serde(flatten)]
    pub of: SpreadOf,
    pub comparisons: u32,
    /// The median of their standard deviations of log-ratios: what a forecast assumes.
    pub sd: f64,
    /// What narrows intervals; `None` for fewer than [`MIN_PRIOR_GROUPS`] comparisons, for comparisons that are too
    /// unlike one another, and where the plan does not want it.
    pub prior: Option<VariancePrior>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EarlierForkTime {
    pub family: String,
    pub groups: u32,
    /// The median of time taken / time by formula.
    pub factor: f64,
}

impl EarlierForks {
    pub fn is_empty(&self) -> bool {
        self.spreads.is_empty() && self.times.is_empty()
    }

    /// What the runs that measured at `place` say of these scenarios, each with its family. A scenario has a spread of its
    /// own if it was compared [`MIN_PRIOR_GROUPS`] times.
    pub fn of_runs(runs: &[EarlierRun], place: &RunConditions, scenarios: &[(&str, &str)], prior: PriorUse) -> Self {
        let families: BTreeSet<&str> = scenarios.iter().map(|(family, _)| *family).collect();
        let here = || runs.iter().filter(|run| place.is_comparable_with(&run.place));
        let spreads = here().flat_map(|run| &run.spreads).filter(|s| families.contains(s.of.family.as_str()));
        let of_families: BTreeSet<SpreadOf> = spreads.clone().map(|spread| spread.of.of_all_scenarios()).collect();
        let is_asked = |of: &&SpreadOf| {
            of.scenario.as_deref().is_some_and(|scenario| scenarios.contains(&(of.family.as_str(), scenario)))
        };
        let of_scenarios: BTreeSet<&SpreadOf> = spreads.clone().map(|s| &s.of).filter(is_asked).collect();
        let fit = |of: &SpreadOf| EarlierSpread::fit(of, spreads.clone().filter(|s| of.includes(&s.of)), prior);
        let own = of_scenarios.into_iter().filter_map(fit).filter(|s| s.comparisons as usize >= MIN_PRIOR_GROUPS);
        let is_of_families = |run: &&EarlierRun| run.spreads.iter().any(|s| families.contains(s.of.family.as_str()));
        let elsewhere = runs.iter().filter(|run| !place.is_comparable_with(&run.place)).filter(is_of_families).count();
        let time = |family: &&str| {
            let times = here().flat_map(|run| &run.fork_times).filter(|time| time.family == *family);
            EarlierForkTime::fit(family, times)
        };
        Self {
            spreads: of_families.iter().filter_map(fit).chain(own).collect(),
            times: families.iter().filter_map(time).collect(),
            elsewhere: elsewhere as u32,
        }
    }

    /// The spread of this scenario if it has one of its own, otherwise that of all scenarios of its family, if known.
    pub fn spread(&self, of: &SpreadOf) -> Option<&EarlierSpread> {
        let find = |of: &SpreadOf| self.spreads.iter().find(|spread| spread.of == *of);
        find(of).or_else(|| find(&of.of_all_scenarios()))
    }

    /// The factor on the formula's time of a fork; 1 without earlier runs.
    pub fn time_factor(&self, family: &str) -> f64 {
        self.times.iter().find(|time| time.family == family).map_or(1.0, |time| time.factor)
    }
}

impl SpreadOf {
    pub fn of_scenario(family: &str, scenario: &str, currency: Currency, load: SliceKind) -> Self {
        let [family, scenario] = [family, scenario].map(str::to_owned);
        Self { family, scenario: Some(scenario), currency, load }
    }

    fn of_all_scenarios(&self) -> Self {
        Self { scenario: None, ..self.clone() }
    }

    fn includes(&self, other: &Self) -> bool {
        if self.scenario.is_none() { *self == other.of_all_scenarios() } else { self == other }
    }
}

impl EarlierSpread {
    /// `None` where no comparison has enough forks.
    fn fit<'a>(of: &SpreadOf, spreads: impl Iterator<Item = &'a ForkSpread>, prior: PriorUse) -> Option<Self> {
        // Forks can agree by chance: no spread counts as smaller than the floor of intervals.
        let usable = |s: &&ForkSpread| s.forks >= MIN_EARLIER_FORKS && s.sd.is_finite();
        let known = |s: &ForkSpread| (s.sd.max(tare_stats::SD_FLOOR), f64::from(s.forks) - 1.0);
        let known: Vec<(f64, f64)> = spreads.filter(usable).map(known).collect();
        let sds: Vec<f64> = known.iter().map(|(sd, _)| *sd).collect();
        let prior = match prior {
            PriorUse::Auto => VariancePrior::fit(&known).ok().flatten().map(VariancePrior::of_earlier_runs),
            PriorUse::Off => None,
        };
        Some(Self { of: of.clone(), comparisons: known.len() as u32, sd: median(&sds).ok()?, prior })
    }
}

impl EarlierForkTime {
    fn fit<'a>(family: &str, times: impl Iterator<Item = &'a ForkTime>) -> Option<Self> {
        let factors: Vec<f64> =
            times.map(|time| time.taken_s / time.formula_s).filter(|factor| LIKELY.contains(factor)).collect();
        let (groups, factor) = (factors.len() as u32, median(&factors).ok()?);
        Some(Self { family: family.to_owned(), groups, factor })
    }
}
