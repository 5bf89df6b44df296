//! The search for the release that brought a change. How two releases are compared is the caller's business.

/// Two releases compared: how many times as much the second one costs, and the same in words.
#[derive(Debug, Clone, PartialEq)]
pub struct CostChange {
    /// Cost of the second release / cost of the first.
    pub factor: f64,
    /// `+9.7 % [+7.5, +11.9]`.
    pub text: String,
}

/// What a comparison says of a limit on the factor.
#[derive(Debug, Clone, PartialEq)]
pub enum Comparison {
    /// The whole interval lies beyond the limit.
    Beyond(CostChange),
    /// The interval lies within the limit; `is_less` if it also lies below "no difference".
    Within {
        /// The change.
        change: CostChange,
        /// Whether the second release costs less for certain.
        is_less: bool,
    },
    /// Not decided in the time that there was, or not measured, with the reason.
    Unknown(String),
}

/// Compares releases, named by their place in the list.
pub trait CompareReleases {
    /// Whether `other` costs more than `limit` times as much as `reference`.
    ///
    /// # Errors
    /// The search cannot go on. A release that cannot be built or decided is no error.
    fn compare(&mut self, reference: usize, other: usize, limit: f64) -> anyhow::Result<Comparison>;
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchEnd {
    /// The change came with `first_after`, or with one of the releases before it that are `unknown`.
    Found {
        /// The last release that is like the first one of the list.
        last_before: usize,
        /// The first release that is like the last one of the list.
        first_after: usize,
        /// The releases between them, which could not be told.
        unknown: Vec<usize>,
    },
    /// The last release of the list does not differ from the first.
    NoChange(CostChange),
    /// Whether it differs is not known, for this reason.
    NotDecided(String),
}

/// Searches a list of at least two releases, in order. A change of less than `least` counts as none.
///
/// A release is like the first or like the last, depending on the side of half of the whole change on which its interval
/// lies. Where changes come and go, one of them is found.
///
/// # Errors
/// As [`CompareReleases::compare`].
pub fn search(releases: usize, least: f64, compare: &mut dyn CompareReleases) -> anyhow::Result<SearchEnd> {
    let last = releases - 1;
    let (reference, whole) = match compare.compare(0, last, least)? {
        Comparison::Beyond(change) => (0, change.factor),
        // The cost fell: seen from the last release, it is the first one that costs more.
        Comparison::Within { change, is_less: true } if change.factor * least <= 1.0 => (last, 1.0 / change.factor),
        Comparison::Within { change, .. } => return Ok(SearchEnd::NoChange(change)),
        Comparison::Unknown(reason) => return Ok(SearchEnd::NotDecided(reason)),
    };
    let mut bracket = Bracket { last_before: 0, first_after: last, unknown: Vec::new() };
    while let Some(release) = bracket.next() {
        let is_like_reference = match compare.compare(reference, release, whole.sqrt())? {
            Comparison::Beyond(_) => Some(false),
            Comparison::Within { .. } => Some(true),
            Comparison::Unknown(_) => None,
        };
        bracket.note(release, is_like_reference.map(|is_like| is_like == (reference == 0)));
    }
    let Bracket { last_before, first_after, mut unknown } = bracket;
    unknown.retain(|release| (last_before..first_after).contains(release));
    unknown.sort_unstable();
    Ok(SearchEnd::Found { last_before, first_after, unknown })
}

/// The most comparisons that a search of so many releases needs if each is decided.
pub fn most_comparisons(releases: usize) -> u32 {
    1 + releases.saturating_sub(1).next_power_of_two().trailing_zeros()
}

/// The part of the list in which the change must be.
struct Bracket {
    last_before: usize,
    first_after: usize,
    unknown: Vec<usize>,
}

impl Bracket {
    /// The release nearest to the middle that is not unknown.
    fn next(&self) -> Option<usize> {
        let middle = usize::midpoint(self.last_before, self.first_after);
        let inside = (self.last_before + 1)..self.first_after;
        inside.filter(|release| !self.unknown.contains(release)).min_by_key(|release| release.abs_diff(middle))
    }

    fn note(&mut self, release: usize, is_before: Option<bool>) {
        match is_before {
            Some(true) => self.last_before = release,
            Some(false) => self.first_after = release,
            None => self.unknown.push(release),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Releases of known cost; `None` for one that cannot be built. Changes below 2 % are not decided.
    struct Planted {
        costs: Vec<Option<f64>>,
        compared: Vec<(usize, usize)>,
    }

    impl CompareReleases for Planted {
        fn compare(&mut self, reference: usize, other: usize, limit: f64) -> anyhow::Result<Comparison> {
            self.compared.push((reference, other));
            let (Some(before), Some(after)) = (self.costs[reference], self.costs[other]) else {
                return Ok(Comparison::Unknown("it cannot be built".to_owned()));
            };
            let factor = after / before;
            let change = CostChange { factor, text: String::new() };
            Ok(if factor > limit * 1.01 {
                Comparison::Beyond(change)
            } else if factor < limit / 1.01 {
                Comparison::Within { change, is_less: factor < 0.99 }
            } else {
                Comparison::Unknown("not decided".to_owned())
            })
        }
    }

    fn searched(costs: &[f64]) -> (SearchEnd, usize) {
        let cost = |cost: &f64| Some(*cost).filter(|cost| *cost > 0.0);
        let mut planted = Planted { costs: costs.iter().map(cost).collect(), compared: Vec::new() };
        let end = search(costs.len(), 1.02, &mut planted).unwrap();
        (end, planted.compared.len())
    }

    fn found(last_before: usize, first_after: usize, unknown: &[usize]) -> SearchEnd {
        SearchEnd::Found { last_before, first_after, unknown: unknown.to_vec() }
    }

    #[test]
    fn the_release_that_brought_a_change_is_found() {
        const X: f64 = 0.0;
        for (costs, expected, most) in [
            // A rise, at every place.
            (&[1.0, 1.1, 1.1, 1.1, 1.1][..], found(0, 1, &[]), 4),
            (&[1.0, 1.0, 1.0, 1.1, 1.1], found(2, 3, &[]), 4),
            (&[1.0, 1.0, 1.0, 1.0, 1.1], found(3, 4, &[]), 4),
            (&[1.0, 1.1], found(0, 1, &[]), 1),
            // A fall.
            (&[1.0, 1.0, 0.9, 0.9, 0.9, 0.9], found(1, 2, &[]), 4),
            // Versions that cannot be built, beside the change and away from it.
            (&[1.0, X, 1.0, X, 1.1, X, 1.1], found(2, 4, &[3]), 5),
            (&[1.0, X, X, X, 1.1], found(0, 4, &[1, 2, 3]), 4),
            // Two steps: the release at half of the change is not decided.
            (&[1.0, 1.0, 1.05, 1.1025, 1.1025], found(1, 3, &[2]), 4),
            // The larger of two steps, because half of the whole lies within it.
            (&[1.0, 1.02, 1.02, 1.1, 1.1], found(2, 3, &[]), 4),
            // Changes that come and go: one of the rises.
            (&[1.0, 1.1, 1.0, 1.1, 1.0, 1.1], found(2, 3, &[]), 4),
        ] {
            let (end, compared) = searched(costs);
            assert_eq!(end, expected, "{costs:?}");
            assert!(compared <= most, "{costs:?}: {compared} comparisons");
        }
    }

    #[test]
    fn where_first_and_last_do_not_differ_nothing_is_searched() {
        for (costs, is_no_change) in [
            (&[1.0, 1.2, 1.0][..], true),
            (&[1.0, 1.2, 0.995], true),
            // At the least change that counts.
            (&[1.0, 1.2, 1.02], false),
            (&[1.0, 1.2, 0.0], false),
        ] {
            let (end, compared) = searched(costs);
            assert_eq!((matches!(end, SearchEnd::NoChange(_)), compared), (is_no_change, 1), "{costs:?}: {end:?}");
            assert!(is_no_change || matches!(end, SearchEnd::NotDecided(_)));
        }
    }

    #[test]
    fn the_number_of_comparisons_is_known_beforehand() {
        for (releases, most) in [(2, 1), (3, 2), (4, 3), (5, 3), (6, 4), (9, 4), (10, 5)] {
            assert_eq!(most_comparisons(releases), most, "{releases}");
            for change in 1..releases {
                let costs: Vec<f64> = (0..releases).map(|at| if at < change { 1.0 } else { 1.1 }).collect();
                let (end, compared) = searched(&costs);
                assert_eq!(end, found(change - 1, change, &[]));
                assert!(compared <= most as usize, "{releases} releases, change at {change}: {compared}");
            }
        }
    }
}
