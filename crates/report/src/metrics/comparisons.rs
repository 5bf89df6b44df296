//! Metrics of a comparison: as a whole, and the ratio of each currency with its interval.

use tare_analysis::Currency;
use tare_analysis::summary::CurrencyRatio;

use super::{Metric, Place, cell, maybe, word};
use crate::clean::escape_csv;

const INTERVAL: &str = "repeated intervals, confidence sequence or Student's t: docs/METHOD.md";

/// The ratio of a currency and both ends of its interval.
pub(super) fn of_currency(currency: Currency) -> [Metric; 3] {
    let facts = currency.facts();
    let metric = |ending, meaning, source, value: fn(&CurrencyRatio) -> Option<f64>| {
        let (name, place) = (format!("{}_ratio{ending}", facts.name).into(), Place::Ratios(currency, value));
        Metric { name, unit: "1", meaning, source, place }
    };
    [
        metric("", facts.meaning, facts.source, |ratio| Some(ratio.ratio)),
        metric("_lo", "lower end of its interval", INTERVAL, |ratio| ratio.lo),
        metric("_hi", "upper end of its interval", INTERVAL, |ratio| ratio.hi),
    ]
}

pub(super) const METRICS: &[Metric] = &[
    cell("headline", "text", "the answer of the run: what is known, then what is open", "docs/METHOD.md", |r| {
        escape_csv(&r.headline.text)
    }),
    cell("answer", "text", "the answer of this comparison", "docs/METHOD.md", |r| {
        escape_csv(r.sentence.map_or("", |sentence| sentence.text.as_str()))
    }),
    cell(
        "verdict",
        "text",
        "what the deciding currency says: `worse`, `better`, `no_material_difference`, …",
        "docs/METHOD.md",
        |r| maybe(r.comparison.and_then(|c| c.currencies.first()).map(|c| word(&c.verdict))),
    ),
    cell("material", "bool", "the interval excludes the region of equivalence too", "docs/METHOD.md", |r| {
        maybe(r.comparison.and_then(|c| c.currencies.first()).map(|c| c.material))
    }),
    cell("needed_s", "s", "how much longer an inconclusive comparison would take, about", "forecast", |r| {
        maybe(r.comparison.and_then(|c| c.currencies.first()).and_then(|c| c.needed_s))
    }),
];
