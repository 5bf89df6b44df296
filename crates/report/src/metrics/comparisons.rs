//! Metrics of a comparison as a whole; those of each currency stand in [`crate::currency`].

use super::{Metric, cell, maybe, word};
use crate::clean::escape_csv;

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
