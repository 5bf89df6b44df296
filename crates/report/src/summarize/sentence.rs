//! The verdict of a comparison in plain English: the word first, then the numbers.

use super::wording::undecided_so_far;
use crate::format::{Change, share};
use crate::summary::{Comparison, CurrencyRatio, Sentence, VerdictKind};

/// The sentence of one comparison, or why it is void; `region` as a share, `itself` when a server was weighed against itself.
pub(super) fn sentence(comparison: &Comparison, void: Option<&String>, region: f64, itself: bool) -> Sentence {
    let first = comparison.currencies.first();
    let verdict = first.map_or(VerdictKind::Void, |c| c.verdict);
    let text = match first.filter(|_| void.is_none()) {
        Some(first) if itself => against_itself(comparison, first, region),
        Some(first) => of_two(comparison, first, region),
        None => {
            let why = void.map_or("nothing was measured", String::as_str);
            format!("{} on {} is void: {why}.", comparison.variant, comparison.scenario)
        }
    };
    Sentence { comparison: comparison.id.clone(), text, verdict }
}

fn of_two(comparison: &Comparison, first: &CurrencyRatio, region: f64) -> String {
    let Comparison { variant, baseline, scenario, .. } = comparison;
    let figures = figures(comparison);
    let region = share(region);
    match first.verdict {
        VerdictKind::Worse | VerdictKind::Better => {
            let hedge = if first.material { String::new() } else { format!(", though perhaps within ±{region}") };
            format!("{variant} {} than {baseline} on {scenario}{hedge}: {figures}.", predicate(first))
        }
        VerdictKind::NoMaterialDifference => {
            format!("No material difference between {variant} and {baseline} on {scenario} (±{region}): {figures}.")
        }
        VerdictKind::Inconclusive => {
            format!("Inconclusive: {variant} against {baseline} on {scenario}: {figures}; {}.", undecided_so_far(first))
        }
        VerdictKind::NoInterval => {
            format!("{variant} against {baseline} on {scenario}, one fork and so no interval: {figures}.")
        }
        VerdictKind::Void => format!("{variant} against {baseline} on {scenario} is void."),
    }
}

fn against_itself(comparison: &Comparison, first: &CurrencyRatio, region: f64) -> String {
    let Comparison { baseline, scenario, .. } = comparison;
    let figures = figures(comparison);
    let subject = format!("{baseline} weighed against itself on {scenario}");
    match first.verdict {
        VerdictKind::Worse | VerdictKind::Better => {
            let word = first.name.facts().words[usize::from(first.verdict != VerdictKind::Worse)];
            format!(
                "{subject} came out {word}: {figures}; the two are identical, so this machine or tare prefers a side."
            )
        }
        VerdictKind::NoMaterialDifference => {
            format!("{subject}: no material difference (±{}), {figures}.", share(region))
        }
        VerdictKind::Inconclusive => format!("{subject}: inconclusive, {figures}; {}.", undecided_so_far(first)),
        VerdictKind::NoInterval => format!("{subject}, one fork and so no interval: {figures}."),
        VerdictKind::Void => format!("{subject} is void."),
    }
}

fn predicate(first: &CurrencyRatio) -> &'static str {
    first.name.facts().predicates[usize::from(first.verdict != VerdictKind::Worse)]
}

/// The deciding currency, CPU and allocation per request, and p99 where there is something to say.
fn figures(comparison: &Comparison) -> String {
    let said = |(at, c): &(usize, &CurrencyRatio)| *at == 0 || c.name.facts().is_always_said;
    let parts: Vec<String> = comparison.currencies.iter().enumerate().filter(said).map(|(_, c)| figure(c)).collect();
    // Few forks give a figure, and a confidence sequence that is still unbounded.
    let first = comparison.currencies.first();
    let unbounded = first.is_some_and(|c| c.verdict == VerdictKind::Inconclusive && c.lo.is_none());
    parts.join(", ") + if unbounded { " (no bounds yet)" } else { "" }
}

fn figure(currency: &CurrencyRatio) -> String {
    let name = currency.name.facts().noun.unwrap_or(&currency.label);
    let change = Change { ratio: currency.ratio, bounds: currency.lo.zip(currency.hi) };
    match currency.verdict {
        VerdictKind::Worse | VerdictKind::Better => insert_word(name, &change),
        VerdictKind::NoInterval => format!("{name} {} {}", change.magnitude(), change.word()),
        VerdictKind::NoMaterialDifference | VerdictKind::Inconclusive => format!("{name} {}", change.signed()),
        VerdictKind::Void => format!("{name} void"),
    }
}

/// `throughput 8.1 % lower [7.2, 9.0]`.
fn insert_word(name: &str, change: &Change) -> String {
    let magnitude = change.magnitude();
    match magnitude.split_once(" [") {
        Some((value, interval)) => format!("{name} {value} {} [{interval}", change.word()),
        None => format!("{name} {magnitude} {}", change.word()),
    }
}
