//! Records of several machines: the mean of each ratio, and where that of another machine may lie. Several runs of one
//! machine are combined first.

use serde::{Deserialize, Serialize};
use tare_plan::Currency;
use tare_plan::plan::SliceKind;
use tare_stats::contrast::equality_p_value;
use tare_stats::{RandomEffects, Region, SD_FLOOR, SampleMean, VariancePrior, rejected_together};
use tare_units::{distinct, grouped_by};

use super::difference::{short, verdict};
use super::environment::{EnvironmentChange, environment_changes};
use super::{NothingInCommon, RecordedRun, common_cells, contents, unfinished_note};
use crate::format::{Change, count};
use crate::summary::{Comparison, CurrencyRatio, Estimate, Summary, VerdictKind};
use crate::words::count_verdicts;

pub const MACHINES_SCHEMA: &str = "tare-machines/1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineTable {
    pub schema: String,
    pub headline: String,
    pub notes: Vec<String>,
    pub machines: Vec<ComparedMachine>,
    pub alpha: f64,
    pub region: f64,
    pub figures: Vec<MachineFigure>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedMachine {
    /// Processor, cores and memory.
    pub name: String,
    pub runs: Vec<String>,
    /// What differs from the first run around the servers, in any run of the machine.
    pub environment: Vec<EnvironmentChange>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    pub scenario: String,
    pub variant: String,
    pub baseline: String,
    pub name: Currency,
    pub label: String,
    pub load: SliceKind,
}

/// What runs of several machines say of a measure. Estimates are ratios of variant to baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineFigure {
    #[serde(flatten)]
    pub of: Measure,
    /// One for each machine of the table; `null` where it has no two starts that count.
    pub machines: Vec<Option<MachineRatio>>,
    /// The geometric mean over machines; without an interval if two have it.
    pub mean: Estimate,
    /// Where the ratio of a machine that was not measured lies; `null` if two have it.
    pub another_machine: Option<Estimate>,
    /// The second machine's ratio divided by the first's; `null` unless two have it.
    pub second_to_first: Option<Estimate>,
    /// Standard deviation of the machines' true log-ratios, as estimated.
    pub sd_machines: f64,
    /// Whether it stands among all figures of the currency that the machines differ.
    pub machines_differ: bool,
    /// What the mean says. A difference is stated only if it stands among all figures of the currency.
    pub verdict: VerdictKind,
    /// `worse: +12 % [+5, +20]`
    pub short: String,
}

/// The ratio on one machine, over all of its runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MachineRatio {
    pub ratio: Estimate,
    pub starts: u32,
    pub runs: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunFigure {
    pub of: Measure,
    pub starts: u32,
    pub log: SampleMean,
}

impl RunFigure {
    /// `None` where the ratio is not known, or rests on one start.
    fn new(summary: &Summary, (comparison, ratio): (&Comparison, &CurrencyRatio)) -> Option<Self> {
        let sd = ratio.sd_forks.filter(|_| ratio.is_known() && ratio.ratio > 0.0)?.max(SD_FLOOR);
        let prior = ratio.prior.as_ref().filter(|prior| prior.is_used);
        let prior = prior.map(|prior| VariancePrior { sd: prior.sd, df: prior.df });
        let scenario = comparison.scenario_among(&summary.comparisons);
        let [variant, baseline, label] = [&comparison.variant, &comparison.baseline, &ratio.label].map(String::clone);
        let of = Measure { scenario, variant, baseline, name: ratio.name, label, load: ratio.load };
        Some(Self { of, starts: ratio.forks, log: SampleMean::of_forks(ratio.ratio.ln(), sd, ratio.forks, prior) })
    }
}

/// The figures that two machines have at least. Runs whose machine is not known are left out.
pub fn compare_machines(runs: &[RecordedRun<'_>]) -> Result<MachineTable, NothingInCommon> {
    let (known, unknown): (Vec<&RecordedRun<'_>>, Vec<&RecordedRun<'_>>) =
        runs.iter().partition(|run| run.is_of_known_machine());
    let by_machine = grouped_by(known.iter().map(|run| (run.machine, *run)));
    let machines: Vec<Vec<&RecordedRun<'_>>> = by_machine.into_iter().map(|(_, runs)| runs).collect();
    let figures_of = |run: &&RecordedRun<'_>| {
        let ratios =
            run.summary.comparisons.iter().flat_map(|one| one.currencies.iter().map(move |ratio| (one, ratio)));
        ratios.filter_map(|of| RunFigure::new(run.summary, of)).collect::<Vec<_>>()
    };
    let measured: Vec<Vec<RunFigure>> =
        machines.iter().map(|runs| runs.iter().flat_map(figures_of).collect()).collect();
    let alpha = known.iter().map(|run| run.summary.run.alpha).fold(1.0, f64::min);
    let region = known.iter().map(|run| run.summary.run.region).fold(0.0, f64::max);
    let figures = combine_machines(&measured, alpha, region);
    if figures.is_empty() {
        let rest: Vec<String> = runs[1..].iter().map(|run| contents(run.summary)).collect();
        return Err(NothingInCommon { before: contents(runs[0].summary), after: rest.join("; ") });
    }
    let first = machines[0][0].summary;
    let mut notes = vec![basis_note(machines.len())];
    notes.extend(known.iter().filter_map(|run| unfinished_note(&run.summary.run.id, run.summary.run.status)));
    let left_out = |run: &RecordedRun<'_>| {
        format!("Run {} is left out: its machine is not known ({}).", run.summary.run.id, run.machine)
    };
    notes.extend(unknown.into_iter().map(left_out));
    let around = |run: &&RecordedRun<'_>| environment_changes(first, run.summary, &common_cells(first, run.summary));
    let machine = |runs: &Vec<&RecordedRun<'_>>| ComparedMachine {
        name: runs[0].machine.to_owned(),
        runs: runs.iter().map(|run| run.summary.run.id.clone()).collect(),
        environment: distinct(runs.iter().flat_map(around)),
    };
    Ok(MachineTable {
        schema: MACHINES_SCHEMA.to_owned(),
        headline: headline(&figures, machines.len(), known.len()),
        notes,
        machines: machines.iter().map(machine).collect(),
        alpha,
        region,
        figures,
    })
}

struct OverMachines<'a> {
    of: &'a Measure,
    /// Of each machine the estimate over its runs, their starts, and how many they are.
    estimates: Vec<Option<(SampleMean, u32, u32)>>,
    logs: Vec<SampleMean>,
    over: RandomEffects,
    /// The p-value of machines that do not differ.
    equal: f64,
}

impl<'a> OverMachines<'a> {
    /// `None` if fewer than two machines have it.
    fn combine(of: &'a Measure, measured: &[Vec<RunFigure>]) -> Option<Self> {
        let of_machine = |figures: &Vec<RunFigure>| {
            let runs: Vec<&RunFigure> = figures.iter().filter(|figure| figure.of == *of).collect();
            let logs: Vec<SampleMean> = runs.iter().map(|run| run.log).collect();
            Some((RandomEffects::of(&logs).ok()?.pooled, runs.iter().map(|run| run.starts).sum(), runs.len() as u32))
        };
        let estimates: Vec<_> = measured.iter().map(of_machine).collect();
        let logs: Vec<SampleMean> = estimates.iter().flatten().map(|one| one.0).collect();
        let (over, equal) = (RandomEffects::of(&logs).ok()?, equality_p_value(&logs).ok()?);
        Some(Self { of, estimates, logs, over, equal })
    }

    fn judge(&self, is_stated: bool, machines_differ: bool, alpha: f64, region: Region) -> MachineFigure {
        let Self { of, estimates, over, .. } = self;
        let ratio_at = |log: SampleMean, alpha: f64| Some(log.interval(alpha).ok()?.exp());
        let mean_at = |alpha: f64| over.another.and_then(|_| ratio_at(over.mean, alpha));
        let mean = mean_at(alpha).map_or(Estimate::new(over.mean.mean.exp(), None), Estimate::from);
        let stated = is_stated.then_some(of.name.facts().polarity);
        let verdict = verdict(mean_at(2.0 * alpha), stated, region);
        let machine = |(log, starts, runs): (SampleMean, u32, u32)| {
            Some(MachineRatio { ratio: ratio_at(log, alpha)?.into(), starts, runs })
        };
        let second_to_first = match self.logs.as_slice() {
            [first, second] => ratio_at(second.minus(first), alpha).map(Estimate::from),
            _ => None,
        };
        MachineFigure {
            of: (*of).clone(),
            machines: estimates.iter().map(|one| one.and_then(machine)).collect(),
            mean,
            another_machine: over.another.and_then(|another| Some(ratio_at(another, alpha)?.into())),
            second_to_first,
            sd_machines: over.between.sqrt(),
            machines_differ,
            verdict,
            short: match verdict {
                VerdictKind::NoInterval => format!("two machines, no interval: {}", Change::from(mean).short()),
                _ => short(verdict, &mean.into()),
            },
        }
    }
}

/// What the figures of each machine's runs say together. Those of one currency are judged together.
pub fn combine_machines(measured: &[Vec<RunFigure>], alpha: f64, region: f64) -> Vec<MachineFigure> {
    let measures = distinct(measured.iter().flatten().map(|figure| &figure.of));
    let combined: Vec<OverMachines<'_>> =
        measures.into_iter().filter_map(|of| OverMachines::combine(of, measured)).collect();
    let stated = stated_by_currency(&combined, alpha, |one| one.over.another.map_or(1.0, |_| one.over.mean.p_value()));
    let differ = stated_by_currency(&combined, alpha, |one| one.equal);
    let region = Region { margin: region };
    let judged = combined.iter().zip(stated.into_iter().zip(differ));
    judged.map(|(one, (is_stated, differ))| one.judge(is_stated, differ, alpha, region)).collect()
}

fn stated_by_currency(all: &[OverMachines<'_>], alpha: f64, p_value: fn(&OverMachines<'_>) -> f64) -> Vec<bool> {
    let mut stated = vec![false; all.len()];
    for currency in Currency::ALL {
        let places: Vec<usize> = (0..all.len()).filter(|at| all[*at].of.name == *currency).collect();
        let p_values: Vec<f64> = places.iter().map(|at| p_value(&all[*at])).collect();
        let rejected = rejected_together(&p_values, alpha).unwrap_or_default();
        places.into_iter().zip(rejected).for_each(|(at, rejected)| stated[at] = rejected);
    }
    stated
}

fn basis_note(machines: usize) -> String {
    let limit = match machines {
        2 => "Two do not show how much machines differ, so nothing is said of a third: measure one more.".to_owned(),
        k => {
            format!("The interval of another one holds if these {k} are like a random choice. It is wide: {k} are few.")
        }
    };
    format!("Ratios to the baseline, each of one machine. Several runs of one machine are combined first. {limit}")
}

/// `148 figures on 3 machines (4 runs): 20 worse, 3 not decided; 12 of the differences hold on …`
fn headline(figures: &[MachineFigure], machines: usize, runs: usize) -> String {
    let differ = match figures.iter().filter(|figure| figure.machines_differ).count() {
        0 => "none differs between the machines".to_owned(),
        number => format!("{number} differ between the machines"),
    };
    let over_three = || figures.iter().filter_map(|figure| Some((figure.verdict, figure.another_machine?)));
    let excludes_none = |one: Estimate| one.lo > Some(1.0) || one.hi < Some(1.0);
    let elsewhere = over_three().filter(|(verdict, one)| verdict.is_difference() && excludes_none(*one)).count();
    let verdicts: Vec<VerdictKind> = over_three().map(|(verdict, _)| verdict).collect();
    let said = match count_verdicts(&verdicts) {
        none if none.is_empty() => String::new(),
        counts if !verdicts.iter().any(|verdict| verdict.is_difference()) => format!("{counts}; "),
        counts => format!("{counts}; {elsewhere} of the differences hold on another machine, too; "),
    };
    let [figures, runs] = [(figures.len(), "figure"), (runs, "run")].map(|(number, one)| count(number as u64, one));
    format!("{figures} on {machines} machines ({runs}): {said}{differ}.")
}
