//! Several measures of each comparison, judged together with one error probability, because any may lead the report.

use crate::compare::{Comparison, ForkRatio};
use crate::error::StatsError;
use crate::method::Method;
use crate::multiplicity::{e_bh, holm_levels, weighted_by};
use crate::verdict::{
    DecisionRule, LARGE_TABLE, Polarity, StopReason, UndecidedReason, Verdict, forks_needed, in_order, reason_to_stop,
};

/// The share of α that the deciding measure has. The other measures share the rest evenly.
pub const DECIDING_SHARE: f64 = 0.9;

/// One measure of one comparison, before it is judged at any level.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    /// The ratio of each fork.
    pub forks: &'a [ForkRatio],
    /// Which direction is the good one.
    pub polarity: Polarity,
    /// How the interval at α is made.
    pub method: Method,
    /// The smallest standard deviation of forks.
    pub sd_floor: f64,
}

impl Measured<'_> {
    /// The comparison at this share of α.
    ///
    /// # Errors
    /// As [`Comparison::over_forks`].
    pub fn at_share(&self, share: f64) -> Result<Comparison, StatsError> {
        Comparison::over_forks(self.forks, self.method.at_level(self.method.alpha() * share), self.sd_floor)
    }

    /// Whether a comparison of which this is the deciding measure may stop, and why: by [`reason_to_stop`] at this measure's share
    /// of α. `measures` is the number of measures judged together.
    pub fn reason_to_stop(&self, measures: usize, rule: &DecisionRule) -> Option<StopReason> {
        let share = first_shares(measures)[0];
        let rule = DecisionRule { table_alpha: rule.table_alpha * share, ..*rule };
        reason_to_stop(&self.at_share(share).ok()?, &rule)
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

/// One measure over all comparisons of a run, in the order of the plan; `None` where a comparison lacks it or is void.
pub type Line<'a> = Vec<Option<Measured<'a>>>;

/// The share of α that each of `measures` measures begins with, the deciding one first.
fn first_shares(measures: usize) -> Vec<f64> {
    let others = measures.saturating_sub(1);
    if others == 0 {
        return vec![1.0; measures];
    }
    let rest = (1.0 - DECIDING_SHARE) / others as f64;
    std::iter::once(DECIDING_SHARE).chain(std::iter::repeat_n(rest, others)).collect()
}

/// The verdicts of all measures of all comparisons; the deciding measure is the first line.
///
/// The deciding line is a fixed sequence of questions at its share of α: a question has a verdict only once all earlier ones
/// have theirs, because they decide when the run stops. The questions of any other line divide its share by Holm's
/// procedure, so an open one keeps no other from its verdict. A line whose questions are all answered by a difference
/// passes its share on to the lines that are still open. While no question is answered by "no material difference", the
/// probability to state any difference where there is none is α at most, also for dependent measures. Each such answer
/// of the deciding line adds its share of α at most, because it asks the next question. A table of [`LARGE_TABLE`]
/// comparisons or more is judged over all measures, with the same shares as weights: by [`weighted_by`] where the
/// number of forks was fixed beforehand, and else by [`e_bh`].
///
/// # Errors
/// As [`Comparison::over_forks`], or the rule's `table_alpha` is outside (0, 1).
///
/// # Source
/// Maurer, Hothorn & Lehmacher, in: Biometrie in der chemisch-pharmazeutischen Industrie 6 (1995), for the fixed
/// sequence; Holm, Scandinavian Journal of Statistics 6 (1979), for the other lines; Bretz, Maurer, Brannath & Posch,
/// Statistics in Medicine 28 (2009), for the shares that are passed on; Wang & Ramdas, JRSS B 84 (2022), for weighted e-BH;
/// Blanchard & Roquain, Electronic Journal of Statistics 2 (2008), for fixed forks.
pub fn judge_measures(lines: &[Line<'_>], rule: &DecisionRule) -> Result<Vec<Vec<Option<Verdict>>>, StatsError> {
    let shares = first_shares(lines.len());
    let longest = lines.iter().map(|line| line.iter().flatten().count()).max().unwrap_or(0);
    let rule = &DecisionRule { comparisons: rule.comparisons.max(longest as u32), ..*rule };
    if rule.comparisons >= LARGE_TABLE {
        return judge_table(lines, &shares, rule);
    }
    let mut verdicts: Vec<Vec<Option<Verdict>>> = lines.iter().map(|line| vec![None; line.len()]).collect();
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
            let judged = put_at_measured_entries(line, judged?);
            let before = std::mem::take(&mut verdicts[index]);
            verdicts[index] =
                before.into_iter().zip(judged).map(|(before, now)| Some(keep_difference(before, now?))).collect();
            let mut stated = verdicts[index].iter().flatten().peekable();
            if stated.peek().is_some() && stated.all(Verdict::is_difference) {
                (is_finished[index], finished_now) = (true, true);
            }
        }
        if !finished_now {
            break;
        }
    }
    Ok(verdicts)
}

/// A fixed sequence: an open question keeps all later ones open.
fn judge_in_order(line: &Line<'_>, share: f64, rule: &DecisionRule) -> Result<Vec<Verdict>, StatsError> {
    let verdicts: Result<Vec<Verdict>, StatsError> =
        line.iter().flatten().map(|measured| measured.verdict(share, rule)).collect();
    Ok(in_order(verdicts?))
}

/// Holm's procedure: the questions whose interval contains "no difference" share evenly, and each that excludes it leaves more
/// to the others. That count never falls as the share grows, whatever the verdicts are: an interval that excludes "no
/// difference" at some level does so at every higher one, although its verdict may become "no material difference" there.
fn judge_by_holm(line: &Line<'_>, share: f64, rule: &DecisionRule) -> Result<Vec<Verdict>, StatsError> {
    let questions: Vec<&Measured<'_>> = line.iter().flatten().collect();
    let shares = holm_levels(questions.len(), share, |index, share| {
        Ok(questions[index].at_share(share)?.excludes_no_difference())
    })?;
    let open = shares.iter().filter(|share| share.is_none()).count();
    let last = share / open.max(1) as f64;
    let judge = |(measured, found_at): (&&Measured<'_>, &Option<f64>)| {
        let verdict = measured.verdict(last, rule)?;
        let at_first = found_at.map(|share| measured.verdict(share, rule)).transpose()?;
        Ok(keep_difference(at_first, verdict))
    };
    questions.iter().zip(&shares).map(judge).collect()
}

/// The verdict at a larger share of α, except that a difference once stated stays stated. At the larger share it may lie inside
/// the region, so that the verdict would be "no material difference".
fn keep_difference(before: Option<Verdict>, now: Verdict) -> Verdict {
    before.filter(|before| before.is_difference() && !now.is_difference()).unwrap_or(now)
}

fn judge_table(
    lines: &[Line<'_>],
    shares: &[f64],
    rule: &DecisionRule,
) -> Result<Vec<Vec<Option<Verdict>>>, StatsError> {
    let all: usize = lines.iter().map(|line| line.iter().flatten().count()).sum();
    let mut comparisons = Vec::with_capacity(all);
    let mut weights = Vec::with_capacity(all);
    for (line, share) in lines.iter().zip(shares) {
        let weight = share * all as f64 / line.iter().flatten().count().max(1) as f64;
        for measured in line.iter().flatten() {
            let comparison = measured.at_share(1.0)?;
            weights.push(weight);
            comparisons.push((comparison, measured.polarity));
        }
    }
    let weighted = || comparisons.iter().map(|(comparison, _)| comparison).zip(&weights);
    // A number of forks fixed beforehand allows p-values, which decide with fewer forks than e-values do.
    let survives = if weighted().all(|(comparison, _)| matches!(comparison.method, Method::FixedForks { .. })) {
        let p_values: Vec<_> = weighted().map(|(comparison, weight)| (comparison.p_value(), *weight)).collect();
        weighted_by(&p_values, rule.table_alpha)?
    } else {
        let e_values: Vec<f64> = weighted().map(|(comparison, weight)| comparison.e_value * weight).collect();
        e_bh(&e_values, rule.table_alpha)?
    };
    let judge = |((comparison, polarity), survives): (&(Comparison, Polarity), bool)| {
        let verdict = Verdict::of_comparison(comparison, *polarity, rule);
        if survives || !verdict.is_difference() {
            return verdict;
        }
        let forks_needed = forks_needed(comparison, rule);
        Verdict::Inconclusive { reason: UndecidedReason::TooManyComparisons, forks_needed }
    };
    let mut verdicts = comparisons.iter().zip(survives).map(judge);
    Ok(lines.iter().map(|line| put_at_measured_entries(line, verdicts.by_ref())).collect())
}

/// Verdicts, one for each measured entry of the line, at the places of these entries.
fn put_at_measured_entries(line: &Line<'_>, verdicts: impl IntoIterator<Item = Verdict>) -> Vec<Option<Verdict>> {
    let mut verdicts = verdicts.into_iter();
    line.iter().map(|entry| entry.as_ref().and_then(|_| verdicts.next())).collect()
}
