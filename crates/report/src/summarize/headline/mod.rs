//! The headline of a run: one to three sentences on all measures. Known facts come first, in order of strength, then open
//! questions.

mod coverage;
mod fact;
mod phrase;

use std::collections::{BTreeMap, BTreeSet};

use tare_plan::plan::{Mode, Plan};

use super::wording::undecided_so_far;
use crate::format::{Change, capital, count, sentence as with_full_stop, share};
use crate::summary::{Cell, Comparison, Headline, KnownFact, OpenQuestion, Sentence, VerdictKind};
use coverage::AllComparisons;
pub(super) use fact::noun;
use fact::{Fact, facts};

/// The most differences in the text. The list of facts has all of them.
pub(crate) const MOST_DIFFERENCES: usize = 3;

/// What the headline needs besides the comparisons.
pub(super) struct HeadlineContext<'a> {
    /// Why comparisons are void, by their ids.
    pub void: &'a BTreeMap<String, String>,
    /// The ids of comparisons that other programs make suspect.
    pub disturbed: &'a BTreeSet<String>,
    /// Region of practical equivalence, as a share.
    pub region: f64,
    /// Whether servers were only compared with themselves.
    pub is_control_alone: bool,
}

/// The answer of all comparisons; `None` where there is none.
pub(super) fn headline(comparisons: &[Comparison], context: &HeadlineContext<'_>) -> Option<Headline> {
    let named: Vec<Comparison> = comparisons.iter().map(|c| with_control_name(c, context.is_control_alone)).collect();
    let (void, judged): (Vec<&Comparison>, Vec<&Comparison>) =
        named.iter().partition(|c| context.void.contains_key(&c.id) || c.currencies.is_empty());
    if judged.is_empty() {
        return all_void_headline(&void, context);
    }
    let compared = AllComparisons::of(&judged);
    let (known, open) =
        (facts(&judged, VerdictKind::is_decision), facts(&judged, |verdict| verdict == VerdictKind::Inconclusive));
    let single = facts(&judged, |verdict| verdict == VerdictKind::NoInterval);
    let mut sentences = Vec::new();
    if let Some(first) = known.first() {
        sentences.push(phrase::known_sentence(&known, MOST_DIFFERENCES, &compared, context.region));
        if context.is_control_alone && first.is_difference() {
            sentences.push("The two are identical, so this machine or tare favours one side.".to_owned());
        }
        sentences.extend(phrase::open_sentence(&open, &compared));
        sentences.extend(phrase::single_start_sentence(&single, &compared));
    } else if open.is_empty() {
        sentences.push(phrase::single_start_figures(&single, MOST_DIFFERENCES, &compared));
    } else {
        sentences.push(undecided_sentence(&judged, &compared, context));
    }
    sentences.extend(void_sentence(&void));
    let verdict = known.first().map(|fact| fact.verdict).unwrap_or(match open.is_empty() {
        true => VerdictKind::NoInterval,
        false => VerdictKind::Inconclusive,
    });
    let known = known.iter().map(known_fact).collect();
    let open = open.iter().map(open_question).collect();
    Some(Headline { text: sentences.join(" "), verdict, known, open })
}

/// The answer of a run that compares nothing.
pub(super) fn without_comparison(plan: &Plan, cells: &[Cell]) -> Headline {
    let capacities: Vec<&str> =
        cells.iter().filter_map(|cell| Some(cell.capacity.as_ref()?.sentence.as_str())).collect();
    let text = match (plan.mode, cells.len()) {
        (Mode::Profiled, _) => "This run was profiled. It has no scores.".to_owned(),
        (_, 0) => "Nothing was measured in this run.".to_owned(),
        _ if !capacities.is_empty() => {
            capacities.iter().take(MOST_DIFFERENCES).map(|text| with_full_stop(text)).collect::<Vec<_>>().join(" ")
        }
        (_, n) => format!("{} measured, none of them compared with a baseline.", count(n as u64, "cell")),
    };
    without_facts(text, VerdictKind::NoInterval)
}

/// A text without facts.
pub(crate) fn without_facts(text: String, verdict: VerdictKind) -> Headline {
    Headline { text, verdict, known: Vec::new(), open: Vec::new() }
}

/// The answer of one comparison.
pub(super) fn sentence(comparison: &Comparison, context: &HeadlineContext<'_>) -> Sentence {
    let headline = headline(std::slice::from_ref(comparison), context);
    let (text, verdict) = headline.map_or_else(Default::default, |headline| (headline.text, Some(headline.verdict)));
    Sentence { comparison: comparison.id.clone(), text, verdict: verdict.unwrap_or(VerdictKind::Void) }
}

/// Names the comparison of a server with a second start of itself after the server.
fn with_control_name(comparison: &Comparison, is_control_alone: bool) -> Comparison {
    let mut named = comparison.clone();
    if is_control_alone {
        named.variant = std::mem::replace(&mut named.baseline, "a second start of itself".to_owned());
    }
    named
}

fn undecided_sentence(judged: &[&Comparison], compared: &AllComparisons, context: &HeadlineContext<'_>) -> String {
    let all = compared.cover_by_name(judged);
    let what = format!("{} against {}{}", all.subject, all.baseline, all.place);
    // The first open question is the one that decides when the run may stop.
    let mut deciding = judged.iter().filter_map(|c| Some((*c, c.currencies.first()?)));
    let first = deciding.find(|(_, ratio)| ratio.verdict == VerdictKind::Inconclusive);
    let Some((comparison, first)) = first else { return format!("Not decided yet: {what}.") };
    let outlook = undecided_so_far(first, context.disturbed.contains(&comparison.id));
    if judged.len() > 1 {
        return format!("Not decided yet: {what}. The first open question: {outlook}.");
    }
    let change = Change { ratio: first.ratio, bounds: first.lo.zip(first.hi) };
    let outlook = capital(&outlook);
    format!("Not decided yet: {what}, {} {}. {outlook}.", noun(first), change.signed_interval())
}

fn all_void_headline(void: &[&Comparison], context: &HeadlineContext<'_>) -> Option<Headline> {
    let first = void.first()?;
    let why = context.void.get(&first.id).map_or("nothing was measured", String::as_str);
    let text = match void.len() {
        1 => format!("{} on {} is void: {why}.", first.variant, first.scenario),
        n => format!("All {} are void. {} on {}: {why}.", count(n as u64, "comparison"), first.variant, first.scenario),
    };
    Some(without_facts(text, VerdictKind::Void))
}

fn void_sentence(void: &[&Comparison]) -> Option<String> {
    let first = void.first()?;
    Some(match void.len() {
        1 => format!("{} on {} is void.", first.variant, first.scenario),
        n => format!("{} are void.", count(n as u64, "comparison")),
    })
}

fn known_fact(fact: &Fact<'_>) -> KnownFact {
    let ratios = || fact.items.iter().map(|(_, ratio)| ratio.ratio);
    KnownFact {
        currency: fact.currency,
        label: fact.label.clone(),
        verdict: fact.verdict,
        comparisons: fact.items.iter().map(|(comparison, _)| comparison.id.clone()).collect(),
        ratio_min: ratios().fold(f64::INFINITY, f64::min),
        ratio_max: ratios().fold(0.0, f64::max),
    }
}

fn open_question(fact: &Fact<'_>) -> OpenQuestion {
    OpenQuestion {
        currency: fact.currency,
        label: fact.label.clone(),
        comparisons: fact.items.iter().map(|(comparison, _)| comparison.id.clone()).collect(),
    }
}

/// `±5 %`.
fn region_in_words(region: f64) -> String {
    format!("±{}", share(region))
}
