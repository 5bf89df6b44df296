//! Several measures of each comparison, judged together with one error probability, because any may lead the report.

pub mod limit;

use crate::compare::{Comparison, ForkRatio};
use crate::error::StatsError;
use crate::method::Method;
use crate::verdict::multiplicity::{benjamini_hochberg, holm_levels, rank_level};
use crate::verdict::{
    DecisionRule, LARGE_TABLE, Polarity, StopReason, UndecidedReason, Verdict, forks_needed, reason_to_stop,
};

/// The share of α that the deciding measure has. The other measures share the rest evenly.
pub const DECIDING_SHARE: f64 = 0.9;

/// One measure of one comparison, before it is judged at any level.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    pub forks: &'a [ForkRatio],
    pub polarity: Polarity,
    /// How the interval at α is made.
    pub method: Method,
    /// The smallest standard deviation of forks.
    pub sd_floor: f64,
}

impl Measured<'_> {
    /// The comparison at this share of α.
    pub fn at_share(&self, share: f64) -> Result<Comparison, StatsError> {
        Comparison::over_forks(self.forks, self.method.at_level(self.method.alpha * share), self.sd_floor)
    }

    /// The verdict at this share of α. A verdict that only the whole α would give has a reason of its own.
    fn verdict(&self, share: f64, rule: &DecisionRule) -> Result<Verdict, StatsError> {
        let strict = self.at_share(share)?;
        let verdict = Verdict::of_comparison(&strict, self.polarity, rule);
        let alone = Verdict::of_comparison(&self.at_share(1.0)?, self.polarity, rule);
        if verdict.is_decision() || !alone.is_decision() {
            return Ok(verdict);
        }
        let forks_needed = forks_needed(&strict, rule);
        Ok(Verdict::Inconclusive { reason: UndecidedReason::TooManyMeasures, forks_needed })
    }
}

/// One measure over the comparisons of a run that have it and are not void, in the order of the plan.
pub type Line<'a> = Vec<Measured<'a>>;

/// The share of α that each of `measures` measures begins with, the deciding one first.
fn first_shares(measures: usize) -> Vec<f64> {
    let others = measures.saturating_sub(1);
    if others == 0 {
        return vec![1.0; measures];
    }
    let rest = (1.0 - DECIDING_SHARE) / others as f64;
    std::iter::once(DECIDING_SHARE).chain(std::iter::repeat_n(rest, others)).collect()
}

/// The verdicts of all measures of all comparisons, line by line; the deciding measure is the first line.
///
/// The deciding line is a fixed sequence of questions at its share of α: a question has a verdict only once all earlier
/// ones have theirs, because they decide when the run stops. Any other line divides its share by Holm's procedure, so
/// an open question keeps no other from its verdict. A line whose questions are all answered by a difference passes its
/// share on to the lines that are still open. The probability to state any difference where there is none is α at most,
/// also for dependent measures. Each "no material difference" of the deciding line adds its share of α at most, because
/// it asks the next question.
///
/// In a run of [`LARGE_TABLE`] comparisons or more each line is a table by itself: [`benjamini_hochberg`] at the
/// method's α says which differences are stated, so of those of one currency a share of α is wrong on average. A
/// comparison whose interval states no difference has a p-value of 1, which is valid because it is no smaller:
/// otherwise many differences that are too small to be stated would let others be stated that are none.
///
/// Sources: Maurer, Hothorn & Lehmacher, in: Biometrie in der chemisch-pharmazeutischen Industrie 6 (1995); Holm,
/// Scandinavian Journal of Statistics 6 (1979); Bretz, Maurer, Brannath & Posch, Statistics in Medicine 28 (2009).
pub fn judge_measures(lines: &[Line<'_>], rule: &DecisionRule) -> Result<Vec<Vec<Verdict>>, StatsError> {
    if is_table(lines, rule) {
        return lines.iter().map(|line| judge_table(line, rule)).collect();
    }
    let shares = first_shares(lines.len());
    let mut verdicts: Vec<Vec<Verdict>> = vec![Vec::new(); lines.len()];
    let mut is_finished = vec![false; lines.len()];
    // Each round but the last finishes a line.
    for _ in 0..=lines.len() {
        let open: f64 =
            shares.iter().zip(&is_finished).filter(|(_, finished)| !**finished).map(|(share, _)| share).sum();
        let mut finished_now = false;
        for (index, line) in lines.iter().enumerate() {
            if is_finished[index] {
                continue;
            }
            let share = shares[index] / open;
            let judged = if index == 0 { judge_in_order(line, share, rule) } else { judge_by_holm(line, share, rule) };
            let before = std::mem::take(&mut verdicts[index]);
            let keep = |(at, now): (usize, Verdict)| keep_difference(before.get(at).copied(), now);
            verdicts[index] = judged?.into_iter().enumerate().map(keep).collect();
            if !line.is_empty() && verdicts[index].iter().all(Verdict::is_difference) {
                (is_finished[index], finished_now) = (true, true);
            }
        }
        if !finished_now {
            break;
        }
    }
    Ok(verdicts)
}

/// Why each comparison of the deciding measure, the first line, need not go on: as [`judge_measures`] will judge it.
pub fn reasons_to_stop(lines: &[Line<'_>], rule: &DecisionRule) -> Result<Vec<Option<StopReason>>, StatsError> {
    let Some(deciding) = lines.first() else { return Ok(Vec::new()) };
    let (share, rule) = if is_table(lines, rule) {
        (1.0, Table::of(deciding, rule)?.rule(rule))
    } else {
        (first_shares(lines.len())[0], *rule)
    };
    deciding.iter().map(|one| Ok(reason_to_stop(&one.at_share(share)?, &rule))).collect()
}

/// Whether so many comparisons were asked for, or measured, that they are a table.
fn is_table(lines: &[Line<'_>], rule: &DecisionRule) -> bool {
    let longest = lines.iter().map(Vec::len).max().unwrap_or(0);
    rule.comparisons.max(longest as u32) >= LARGE_TABLE
}

/// A fixed sequence: an open question keeps all later ones open.
fn judge_in_order(line: &Line<'_>, share: f64, rule: &DecisionRule) -> Result<Vec<Verdict>, StatsError> {
    let mut is_open = false;
    let mut gate = |verdict: Verdict| {
        let waits = is_open && verdict.is_decision();
        is_open |= !verdict.is_decision();
        let reason = UndecidedReason::WaitsForEarlier;
        if waits { Verdict::Inconclusive { reason, forks_needed: None } } else { verdict }
    };
    line.iter().map(|measured| measured.verdict(share, rule).map(&mut gate)).collect()
}

/// Holm's procedure: the questions whose interval contains "no difference" share evenly, and each that excludes it leaves more
/// to the others. That count never falls as the share grows, whatever the verdicts are: an interval that excludes "no
/// difference" at some level does so at every higher one, although its verdict may become "no material difference" there. The
/// exception is that of `excludes_no_difference`, and what was found at a smaller level stands then, too.
fn judge_by_holm(line: &Line<'_>, share: f64, rule: &DecisionRule) -> Result<Vec<Verdict>, StatsError> {
    let excludes = |index: usize, share: f64| Ok(line[index].at_share(share)?.excludes_no_difference());
    let shares = holm_levels(line.len(), share, excludes)?;
    let open = shares.iter().filter(|share| share.is_none()).count();
    let last = share / open.max(1) as f64;
    let judge = |(measured, found_at): (&Measured<'_>, &Option<f64>)| {
        let verdict = measured.verdict(last, rule)?;
        let at_first = found_at.map(|share| measured.verdict(share, rule)).transpose()?;
        Ok(keep_difference(at_first, verdict))
    };
    line.iter().zip(&shares).map(judge).collect()
}

/// The verdict at a larger share of α, except that a difference once stated stays stated. At the larger share it may lie inside
/// the region, so that the verdict would be "no material difference".
fn keep_difference(before: Option<Verdict>, now: Verdict) -> Verdict {
    before.filter(|before| before.is_difference() && !now.is_difference()).unwrap_or(now)
}

/// Which differences of one measure are stated in a table.
struct Table {
    comparisons: usize,
    stated: usize,
    alpha: f64,
}

impl Table {
    fn of(line: &Line<'_>, rule: &DecisionRule) -> Result<Self, StatsError> {
        let p_value = |one: &Measured<'_>| {
            let comparison = one.at_share(1.0)?;
            Ok(if comparison.shows_difference(rule.region) { comparison.p_value() } else { 1.0 })
        };
        let p_values = line.iter().map(p_value).collect::<Result<Vec<f64>, StatsError>>()?;
        let alpha = line.first().map_or(Method::FIXED_FORKS.alpha, |first| first.method.alpha);
        Ok(Self { comparisons: p_values.len(), stated: benjamini_hochberg(&p_values, alpha)?, alpha })
    }

    fn states(&self, p_value: f64) -> bool {
        p_value <= rank_level(self.stated, self.comparisons, self.alpha) && self.stated > 0
    }

    /// The rule for a comparison that is to be stated beside the others.
    fn rule(&self, rule: &DecisionRule) -> DecisionRule {
        let next = (self.stated + 1).min(self.comparisons);
        DecisionRule { table_level: Some(rank_level(next, self.comparisons, self.alpha)), ..*rule }
    }
}

fn judge_table(line: &Line<'_>, rule: &DecisionRule) -> Result<Vec<Verdict>, StatsError> {
    let table = Table::of(line, rule)?;
    let rule = table.rule(rule);
    let judge = |measured: &Measured<'_>| {
        let comparison = measured.at_share(1.0)?;
        let verdict = Verdict::of_comparison(&comparison, measured.polarity, &rule);
        if !verdict.is_difference() || table.states(comparison.p_value()) {
            return Ok(verdict);
        }
        let forks_needed = forks_needed(&comparison, &rule);
        Ok(Verdict::Inconclusive { reason: UndecidedReason::TooManyComparisons, forks_needed })
    };
    line.iter().map(judge).collect()
}
