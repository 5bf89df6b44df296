//! Which variants and scenarios a fact is about, in words.

use crate::format::count;
use crate::summary::Comparison;

/// The largest number of names in a list.
const LISTED: usize = 3;

/// The subject if a list of names would be long or wrong.
pub(super) const THE_VARIANT: &str = "the variant";

/// All variants and scenarios that were compared.
pub(super) struct Universe {
    variants: Vec<String>,
    scenarios: Vec<String>,
    comparisons: usize,
}

/// What a fact is about, in words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Coverage {
    /// `http4s.Tapir and http4s.TapirInterceptor`, or `the variant` where there is no list.
    pub subject: String,
    pub is_plural: bool,
    /// `http4s.Vanilla`, or `its baseline`.
    pub baseline: String,
    /// ` on SimpleGet and PostBytes`, ` in 9 of 12 comparisons`.
    pub place: String,
}

impl Universe {
    pub fn of(comparisons: &[&Comparison]) -> Self {
        Self {
            variants: distinct(comparisons.iter().map(|c| c.variant.as_str())),
            scenarios: distinct(comparisons.iter().map(|c| c.scenario.as_str())),
            comparisons: comparisons.len(),
        }
    }

    /// How many comparisons there are.
    pub fn len(&self) -> usize {
        self.comparisons
    }

    /// These comparisons in words.
    pub fn cover_by_name(&self, comparisons: &[&Comparison]) -> Coverage {
        let variants = distinct(comparisons.iter().map(|c| c.variant.as_str()));
        let scenarios = distinct(comparisons.iter().map(|c| c.scenario.as_str()));
        let baselines = distinct(comparisons.iter().map(|c| c.baseline.as_str()));
        // Every variant under every scenario, or no list would be true.
        let is_product = variants.len() * scenarios.len() == comparisons.len();
        let subject = is_product.then(|| names(&variants, &self.variants, "variants")).flatten();
        let place = names(&scenarios, &self.scenarios, "scenarios");
        let (is_plural, subject, place) = match (subject, place) {
            (Some(subject), Some(place)) => (variants.len() > 1, subject, format!(" on {place}")),
            _ => {
                let all = count(self.comparisons as u64, "comparison");
                let part = if comparisons.len() == self.comparisons {
                    format!("all {all}")
                } else {
                    format!("{} of {all}", comparisons.len())
                };
                (false, THE_VARIANT.to_owned(), format!(" in {part}"))
            }
        };
        let baseline = match baselines.as_slice() {
            [one] => one.clone(),
            _ if is_plural => "their baselines".to_owned(),
            _ => "its baseline".to_owned(),
        };
        Coverage { subject, is_plural, baseline, place }
    }
}

/// `a`, `a and b`, `a, b and c`, `all 5 scenarios`; `None` where a list would be long.
fn names(some: &[String], all: &[String], what: &str) -> Option<String> {
    match some {
        [one] => Some(one.clone()),
        [first @ .., last] if some.len() <= LISTED => Some(format!("{} and {last}", first.join(", "))),
        _ if some.len() == all.len() => Some(format!("all {} {what}", all.len())),
        _ => None,
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for name in names {
        if !distinct.iter().any(|known| known == name) {
            distinct.push(name.to_owned());
        }
    }
    distinct
}
