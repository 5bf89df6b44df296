//! Which variants and scenarios a fact is about, in words.

use crate::format::count;
use crate::summary::Comparison;

/// The largest number of names in a list.
const LISTED: usize = 3;

/// All comparisons of a run, with their variants and scenarios.
pub(super) struct AllComparisons {
    variants: Vec<String>,
    scenarios: Vec<String>,
    comparisons: usize,
}

/// What a fact is about, in words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Coverage {
    /// `http4s.Tapir and http4s.TapirInterceptor`, or `7 of 9 variants` where a list would be long.
    pub subject: String,
    pub is_plural: bool,
    /// Whether the subject is a number of variants and not their names.
    pub is_counted: bool,
    /// `http4s.Vanilla`, or `its baseline`.
    pub baseline: String,
    /// ` on SimpleGet and PostBytes`, ` in 9 of 12 comparisons`.
    pub place: String,
}

impl AllComparisons {
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

    /// `all 12 comparisons`, `9 of 12 comparisons`.
    fn part(&self, some: usize) -> String {
        let all = count(self.comparisons as u64, "comparison");
        if some == self.comparisons { format!("all {all}") } else { format!("{some} of {all}") }
    }

    /// These comparisons in words.
    pub fn cover_by_name(&self, comparisons: &[&Comparison]) -> Coverage {
        let variants = distinct(comparisons.iter().map(|c| c.variant.as_str()));
        let scenarios = distinct(comparisons.iter().map(|c| c.scenario.as_str()));
        let baselines = distinct(comparisons.iter().map(|c| c.baseline.as_str()));
        let subject = names(&variants, &self.variants, "variants");
        // Every variant under every scenario, or a list of scenarios would say too much.
        let is_product = variants.len() * scenarios.len() == comparisons.len();
        let place = if is_product {
            format!(" on {}", names(&scenarios, &self.scenarios, "scenarios"))
        } else {
            format!(" in {}", self.part(comparisons.len()))
        };
        let (is_plural, is_counted) = (variants.len() > 1, variants.len() > LISTED);
        let baseline = match baselines.as_slice() {
            [one] => one.clone(),
            _ if is_plural => "their baselines".to_owned(),
            _ => "its baseline".to_owned(),
        };
        Coverage { subject, is_plural, is_counted, baseline, place }
    }
}

/// `a`, `a and b`, `a, b and c`, `all 5 scenarios`, `4 of 5 scenarios`.
fn names(some: &[String], all: &[String], what: &str) -> String {
    match some {
        [one] => one.clone(),
        [first @ .., last] if some.len() <= LISTED => format!("{} and {last}", first.join(", ")),
        _ if some.len() == all.len() => format!("all {} {what}", all.len()),
        _ => format!("{} of {} {what}", some.len(), all.len()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(variant: &str, scenario: &str) -> Comparison {
        let id = format!("{scenario}/{variant}");
        Comparison {
            id: id.clone(),
            group: "g".to_owned(),
            scenario: scenario.to_owned(),
            variant: variant.to_owned(),
            baseline: "bare".to_owned(),
            cell: id,
            baseline_cell: format!("{scenario}/bare"),
            odd_forks: Vec::new(),
            currencies: Vec::new(),
        }
    }

    #[test]
    fn variants_are_named_also_where_not_all_were_compared_in_each_scenario() {
        let all = [comparison("a", "Get"), comparison("b", "Get"), comparison("a", "Post")];
        let all: Vec<&Comparison> = all.iter().collect();
        let words = |some: &[&Comparison]| {
            let cover = AllComparisons::of(&all).cover_by_name(some);
            (cover.subject + &cover.place, cover.is_plural)
        };
        assert_eq!(words(&all), ("a and b in all 3 comparisons".to_owned(), true));
        assert_eq!(words(&all[..2]), ("a and b on Get".to_owned(), true));
        assert_eq!(words(&all[1..]), ("b and a in 2 of 3 comparisons".to_owned(), true));
        assert_eq!(words(&all[2..]), ("a on Post".to_owned(), false));
    }

    #[test]
    fn many_variants_are_counted() {
        let all: Vec<Comparison> = ["a", "b", "c", "d", "e"].map(|name| comparison(name, "Get")).into();
        let all: Vec<&Comparison> = all.iter().collect();
        let subject = |some: &[&Comparison]| AllComparisons::of(&all).cover_by_name(some).subject;
        assert_eq!([subject(&all), subject(&all[1..])], ["all 5 variants", "4 of 5 variants"]);
    }
}
