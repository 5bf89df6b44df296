//! Facts: the same result of one measure for one or more comparisons.

use crate::currency::Currency;
use crate::summary::{Comparison, CurrencyRatio, VerdictKind};

/// The same result of one measure for one or more comparisons.
#[derive(Clone)]
pub(super) struct Fact<'a> {
    pub currency: Currency,
    /// Of the measure, with the load where it has one.
    pub label: String,
    pub verdict: VerdictKind,
    /// Whether the ratios lie above 1.
    pub is_above: bool,
    /// Whether it is the deciding measure of every comparison that it is about.
    pub is_deciding: bool,
    pub items: Vec<(&'a Comparison, &'a CurrencyRatio)>,
}

impl Fact<'_> {
    pub fn is_difference(&self) -> bool {
        matches!(self.verdict, VerdictKind::Worse | VerdictKind::Better | VerdictKind::NoInterval)
    }

    /// The difference that even the end of the interval next to 1 shows, as a logarithm: the least of all items.
    fn least_certain_log(&self) -> f64 {
        let near = |ratio: &CurrencyRatio| {
            let ends = [ratio.lo.unwrap_or(ratio.ratio), ratio.hi.unwrap_or(ratio.ratio)];
            ends.iter().map(|end| end.ln().abs()).fold(f64::INFINITY, f64::min)
        };
        self.items.iter().map(|(_, ratio)| near(ratio)).fold(f64::INFINITY, f64::min)
    }

    /// The same fact for each variant alone, in the order of the comparisons.
    pub fn by_variant(&self) -> Vec<Self> {
        let mut facts: Vec<Self> = Vec::new();
        for item in &self.items {
            match facts.iter_mut().find(|fact| fact.items[0].0.variant == item.0.variant) {
                Some(fact) => fact.items.push(*item),
                None => facts.push(Self { label: self.label.clone(), items: vec![*item], ..*self }),
            }
        }
        facts
    }

    pub fn comparisons(&self) -> Vec<&Comparison> {
        self.items.iter().map(|(comparison, _)| *comparison).collect()
    }

    /// The measure in a sentence: `CPU per request`, `p99 at half load`.
    pub fn noun(&self) -> &str {
        self.items.first().map_or("", |(_, ratio)| noun(ratio))
    }
}

/// The measure in a sentence.
pub(crate) fn noun(ratio: &CurrencyRatio) -> &str {
    ratio.name.facts().noun.unwrap_or(&ratio.label)
}

/// The results with one of the `wanted` verdicts, the most important first: differences before equivalence, the deciding
/// measure before throughput, and others after it by the difference that is certain. The median response time comes last,
/// because no table has it.
pub(super) fn facts<'a>(comparisons: &[&'a Comparison], wanted: impl Fn(VerdictKind) -> bool) -> Vec<Fact<'a>> {
    let mut facts: Vec<Fact<'a>> = Vec::new();
    for comparison in comparisons {
        for (at, ratio) in comparison.currencies.iter().enumerate().filter(|(_, ratio)| wanted(ratio.verdict)) {
            // Only a stated difference has a direction.
            let is_above = ratio.ratio > 1.0
                && !matches!(ratio.verdict, VerdictKind::NoMaterialDifference | VerdictKind::Inconclusive);
            let key = (ratio.name, &ratio.label, ratio.verdict, is_above);
            let item = (*comparison, ratio);
            match facts.iter_mut().find(|fact| (fact.currency, &fact.label, fact.verdict, fact.is_above) == key) {
                Some(fact) => {
                    fact.items.push(item);
                    fact.is_deciding &= at == 0;
                }
                None => facts.push(Fact {
                    currency: ratio.name,
                    label: ratio.label.clone(),
                    verdict: ratio.verdict,
                    is_above,
                    is_deciding: at == 0,
                    items: vec![item],
                }),
            }
        }
    }
    let rank = |fact: &Fact<'_>| match fact.currency {
        _ if !fact.is_difference() => 0,
        Currency::Throughput => 2,
        Currency::LatencyP50 => 0,
        _ => 1,
    };
    let weight = |fact: &Fact<'_>| (fact.is_difference(), fact.is_deciding, rank(fact));
    facts.sort_by(|a, b| {
        let certain = if a.is_difference() {
            b.least_certain_log().total_cmp(&a.least_certain_log())
        } else {
            std::cmp::Ordering::Equal
        };
        weight(b).cmp(&weight(a)).then(certain)
    });
    facts
}
