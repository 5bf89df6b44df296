//! How much of a server's CPU is in the frames of its layer: an answer after one start, because what differs between
//! starts mostly changes all frames alike.

use regex::Regex;
use tare_plan::plan::{Group, Plan, Source, Variant};
use tare_plan::profile::ProfileEvent;
use tare_profile::over_forks::ForkUse;
use tare_profile::{Stack, Stacks};
use tare_record::RunRecord;
use tare_record::checkpoint::ComparisonState;
use tare_stats::VariancePrior;
use tare_stats::interval::student_t_quantile;
use tare_stats::quantile::sd as sd_of;

use super::sides::Side;
use super::{ALPHA, interval, view};
use crate::format::{and, grouped, share};
use crate::summary::Estimate;

/// How much the starts of one server differ in the log-odds of such a share.
///
/// # Source
/// docs/notebook/2026-11-29-first-answer.md. A test in `crates/analysis/tests` fits it to the starts that were measured.
pub const BETWEEN_STARTS: VariancePrior = VariancePrior { sd: 0.068, df: 3.4 };

/// The frames whose share is reported.
pub(super) struct Focus {
    pub frames: Regex,
    /// Whether somebody asked for them. The catalog's are not those of every server.
    is_given: bool,
}

impl Focus {
    /// `None` where the plan names none. One that is no expression was refused before the run.
    pub fn of_plan(plan: &Plan) -> Option<Self> {
        let pattern = plan.profile.as_ref().map(|profile| &profile.focus).filter(|focus| !focus.is_empty())?;
        let is_default = plan
            .settings
            .iter()
            .any(|setting| (&*setting.section, &*setting.key, setting.source) == ("profile", "focus", Source::Default));
        Some(Self { frames: Regex::new(pattern).ok()?, is_given: !is_default })
    }

    /// `sttp.tapir and sttp.model, with all that they call`; the expression where it is more than names.
    fn text(&self, beneath: Option<&Side<'_>>) -> String {
        let plain = self.frames.as_str().replace("\\.", ".");
        let names: Vec<String> = plain.split('|').map(|name| name.trim_matches(['^', '.']).to_owned()).collect();
        let is_name =
            |name: &String| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "._:$/-".contains(c));
        let (whose, calls) = match names.as_slice() {
            names if !names.iter().all(is_name) => (format!("frames of /{}/", self.frames), "they call"),
            [name] => (name.clone(), "it calls"),
            names => (and(names), "they call"),
        };
        match beneath {
            Some(side) => format!("{whose}, with what {calls} that {} does not run", side.records[0].variant),
            None => format!("{whose}, with all that {calls}"),
        }
    }

    /// The weight of the stacks that are in the layer. What it calls of the server beneath would run without it, such as to
    /// write the answer.
    fn weight(&self, stacks: &Stacks, beneath: Option<&Side<'_>>) -> u64 {
        let is_of_layer = stacks.matching_frames(&self.frames);
        let runs_in = |fork: &ForkUse, name: &str| fork.usage.get(name).is_some_and(|one| one.total >= RUNS);
        let runs_beneath: Vec<bool> = stacks
            .frames()
            .iter()
            .map(|frame| beneath.is_some_and(|side| side.forks.iter().any(|fork| runs_in(fork, &frame.name))))
            .collect();
        let is_in_layer = |stack: &&Stack| {
            let mut outwards = stack.frames.iter().rev().map(|&id| id as usize);
            outwards.find(|&id| is_of_layer[id] || runs_beneath[id]).is_some_and(|id| is_of_layer[id])
        };
        stacks.iter().filter(is_in_layer).map(|stack| stack.weight).sum()
    }

    /// `At least 10.3 % [6.4, 14.3] of its CPU is in sttp.tapir, with all that it calls`; without a sample there that none is, if
    /// somebody asked for these frames.
    fn answer(&self, own: &Side<'_>, beneath: Option<&Side<'_>>, whose: &str) -> Option<String> {
        // Where the baseline has the layer, too, it is another build of the server, and not the one beneath it.
        let has_layer = |side: &Side<'_>| {
            view::share(side, |stacks| stacks.weight_containing(&stacks.matching_frames(&self.frames))).value >= RUNS
        };
        let beneath = beneath.filter(|side| !has_layer(side));
        let shares: Vec<f64> = own
            .stacks
            .iter()
            .map(|stacks| self.weight(stacks, beneath) as f64 / stacks.total_weight().max(1) as f64)
            .collect();
        let part = over_starts(&shares, own.samples());
        if part.value > 0.0 {
            // Of the CPU that a sampler missed nobody knows where it is.
            let seen = view::coverage(own).map_or(1.0, |seen| seen.min(1.0));
            let [lo, hi] = [part.lo, part.hi].map(|end| end.map(|end| end * seen));
            let part = interval(Estimate { value: part.value * seen, lo, hi });
            return Some(format!("At least {part} of {whose} is in {}", self.text(beneath)));
        }
        let none = || {
            let (samples, most) = (grouped(own.samples()), share(NONE_SEEN / own.samples() as f64));
            format!("None of {samples} samples of {whose} is in {}: less than {most} of it", self.text(beneath))
        };
        self.is_given.then(none)
    }

    pub fn sentence(&self, own: &Side<'_>, beneath: Option<&Side<'_>>) -> Option<String> {
        let text = self.answer(own, beneath, &format!("the CPU of {}", own.records[0].variant))?;
        let by_others = "; it is one start, so the interval is by how much starts of other servers differ";
        let is_one = own.forks.len() == 1 && text.contains('[');
        Some(format!("{text}{}.", if is_one { by_others } else { "" }))
    }
}

/// A method with this share (0–1) of the server beneath runs there.
const RUNS: f64 = 0.01;

/// None of n samples: with 95 % confidence, the share is less than this part of n.
///
/// # Source
/// Hanley & Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249 (1983).
const NONE_SEEN: f64 = 3.0;

/// The mean of the shares that starts have. Its interval is Student's on log-odds: their spread is moderated by
/// [`BETWEEN_STARTS`] and by the chance of `samples` in all, unless they contradict it.
fn over_starts(shares: &[f64], samples: u64) -> Estimate {
    let (mean, starts) = (shares.iter().sum::<f64>() / shares.len() as f64, shares.len() as f64);
    let bounds = || {
        // A start without a sample there, or with all of them, has half a sample more or less: its log-odds are not finite.
        let least = starts / (2.0 * samples as f64);
        let shares = shares.iter().map(|share| share.clamp(least, 1.0 - least));
        let log_odds: Vec<f64> = shares.map(|share| (share / (1.0 - share)).ln()).collect();
        let by_chance = starts / (samples as f64 * mean * (1.0 - mean));
        let sd = (BETWEEN_STARTS.sd.powi(2) + by_chance).sqrt();
        let prior = VariancePrior { sd, ..BETWEEN_STARTS };
        let own = sd_of(&log_odds).unwrap_or(0.0);
        let (sd, df) = match starts as u32 {
            n if n == 1 || prior.agrees_with(own, n) => (prior.moderate(own, n), prior.df + starts - 1.0),
            _ => (own, starts - 1.0),
        };
        let half_width = student_t_quantile(1.0 - ALPHA / 2.0, df).ok()? * sd / starts.sqrt();
        let centre = log_odds.iter().sum::<f64>() / starts;
        let share_of = |log_odds: f64| 1.0 / (1.0 + (-log_odds).exp());
        half_width.is_finite().then(|| (share_of(centre - half_width), share_of(centre + half_width)))
    };
    Estimate::new(mean, bounds())
}

/// What the profiled starts so far say of each server with a layer.
pub fn first_answers(record: &RunRecord) -> Vec<ComparisonState> {
    let plan = &record.header.plan;
    let Some(focus) = Focus::of_plan(plan) else { return Vec::new() };
    let mut answers = Vec::new();
    for (group, named) in plan.groups.iter().flat_map(|group| group.scenarios.iter().map(move |named| (group, named))) {
        for variant in group.variants.iter().filter(|variant| has_layer(group, variant)) {
            let side = |name: &str| Side::of_variant(record, &group.id, &named.name, name, ProfileEvent::Cpu);
            let Some(own) = side(&variant.name) else { continue };
            let beneath =
                Some(&group.baseline().name).filter(|name| **name != variant.name).and_then(|name| side(name));
            answers.extend(focus.answer(&own, beneath.as_ref(), "its CPU").map(|text| ComparisonState {
                group: group.id.clone(),
                scenario: named.name.clone(),
                variant: variant.name.clone(),
                text,
                forks: own.forks.len() as u32,
                has_verdict: false,
                reason_to_stop: None,
                needed: None,
            }));
        }
    }
    answers
}

/// Whether a server is asked for its layer: one that is compared with others is the server beneath it.
pub(super) fn has_layer(group: &Group, variant: &Variant) -> bool {
    group.variants.len() == 1 || variant.name != group.baseline().name
}
