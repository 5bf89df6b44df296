//! The search for the release that brought a change. How two releases are compared is the caller's business.

/// Two releases compared: how many times as much the second one costs, and the same in words.
#[derive(Debug, Clone, PartialEq)]
pub struct CostChange {
    /// Cost of the second release / cost of the first.
    pub factor: f64,
    pub bounds: Option<(f64, f64)>,
    /// `+9.7 % [+7.5, +11.9]`.
    pub text: String,
}

impl CostChange {
    pub fn is_below(&self, factor: f64) -> bool {
        self.bounds.is_some_and(|(_, hi)| hi < factor)
    }

    /// The factor that tells a release with this change from one without it: half of the change, but not more than the
    /// change is for certain, because the estimate may be twice the true change. The change is known to exceed `limit`.
    fn dividing_factor(&self, limit: f64) -> f64 {
        self.factor.sqrt().min(self.bounds.map_or(limit, |(lo, _)| lo.max(limit)))
    }
}

/// What a comparison says of a limit on the factor.
#[derive(Debug, Clone, PartialEq)]
pub enum Comparison {
    /// The whole interval lies beyond the limit.
    Beyond(CostChange),
    /// The whole interval lies within the limit.
    Within(CostChange),
    /// Not decided in the time that there was, or not measured, with the reason.
    Unknown(String),
}

/// Whether a second release costs more than so many times as much as a first one. Both are places in the list. A
/// release that cannot be built or decided is no error.
pub type CompareReleases<'a> = dyn FnMut(usize, usize, f64) -> anyhow::Result<Comparison> + 'a;

#[derive(Debug, Clone, PartialEq)]
pub enum SearchEnd {
    /// The change came with `first_after`, or with one of the releases before it that are `unknown`.
    Found { last_before: usize, first_after: usize, unknown: Vec<usize> },
    /// The last release of the list does not differ from the first.
    NoChange(CostChange),
    /// Whether it differs is not known, for this reason.
    NotDecided(String),
}

/// Searches a list of at least two releases, in order. A change of less than `least` counts as none. A release is like
/// the first or the last by the side of half of the change on which its interval lies. Of several changes it finds one.
pub fn search(releases: usize, least: f64, compare: &mut CompareReleases<'_>) -> anyhow::Result<SearchEnd> {
    let last = releases - 1;
    let (reference, whole) = match whole_change(last, least, compare)? {
        Ok(seen) => seen,
        Err(end) => return Ok(end),
    };
    let (mut last_before, mut first_after, mut unknown) = (0, last, Vec::new());
    loop {
        // The one nearest to the middle that is not unknown.
        let middle = usize::midpoint(last_before, first_after);
        let untried = (last_before + 1..first_after).filter(|release| !unknown.contains(release));
        let Some(release) = untried.min_by_key(|release| release.abs_diff(middle)) else { break };
        let compared = compare(reference, release, whole.dividing_factor(least))?;
        let is_like_reference = matches!(compared, Comparison::Within(_));
        if matches!(compared, Comparison::Unknown(_)) {
            unknown.push(release);
        } else if is_like_reference == (reference == 0) {
            last_before = release;
        } else {
            first_after = release;
        }
    }
    unknown.retain(|release| (last_before..first_after).contains(release));
    unknown.sort_unstable();
    Ok(SearchEnd::Found { last_before, first_after, unknown })
}

/// The change between the first release and the last, with the cheaper one. It is certain to exceed `least`; without
/// one the search ends. A limit asks whether the last one costs more. Whether the first one does then needs a
/// comparison of its own, unless the interval says it already.
fn whole_change(
    last: usize,
    least: f64,
    compare: &mut CompareReleases<'_>,
) -> anyhow::Result<Result<(usize, CostChange), SearchEnd>> {
    let change = match compare(0, last, least)? {
        Comparison::Beyond(rise) => return Ok(Ok((0, rise))),
        Comparison::Within(change) => change,
        Comparison::Unknown(reason) => return Ok(Err(SearchEnd::NotDecided(reason))),
    };
    Ok(match change.bounds {
        Some((lo, hi)) if hi * least < 1.0 => {
            let bounds = Some((1.0 / hi, 1.0 / lo));
            Ok((last, CostChange { factor: 1.0 / change.factor, bounds, ..change }))
        }
        Some((lo, _)) if lo * least > 1.0 => Err(SearchEnd::NoChange(change)),
        _ => match compare(last, 0, least)? {
            Comparison::Beyond(fall) => Ok((last, fall)),
            Comparison::Within(_) => Err(SearchEnd::NoChange(change)),
            Comparison::Unknown(reason) => Err(SearchEnd::NotDecided(reason)),
        },
    })
}

/// The most comparisons that a search needs if each is decided. Two may be needed of the first release and the last.
pub fn most_comparisons(releases: usize) -> u32 {
    2 + releases.saturating_sub(1).next_power_of_two().trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Releases of known cost; `None` for one that cannot be built. Intervals are narrow: ±1 %.
    #[derive(Default)]
    struct Planted {
        costs: Vec<Option<f64>>,
        /// What the first comparison sees, where it errs: estimate and interval.
        first: Option<(f64, (f64, f64))>,
        compared: Vec<(usize, usize)>,
    }

    impl Planted {
        fn compare(&mut self, reference: usize, other: usize, limit: f64) -> anyhow::Result<Comparison> {
            self.compared.push((reference, other));
            let (Some(before), Some(after)) = (self.costs[reference], self.costs[other]) else {
                return Ok(Comparison::Unknown("it cannot be built".to_owned()));
            };
            let seen = (after / before, (after / before / 1.01, after / before * 1.01));
            let (factor, (lo, hi)) = self.first.filter(|_| self.compared.len() == 1).unwrap_or(seen);
            let change = CostChange { factor, bounds: Some((lo, hi)), text: String::new() };
            Ok(if lo > limit {
                Comparison::Beyond(change)
            } else if hi < limit {
                Comparison::Within(change)
            } else {
                Comparison::Unknown("not decided".to_owned())
            })
        }
    }

    fn searched(costs: &[f64]) -> (SearchEnd, usize) {
        searched_after(costs, None)
    }

    /// A search whose first comparison sees something else.
    fn searched_after(costs: &[f64], first: Option<(f64, (f64, f64))>) -> (SearchEnd, usize) {
        let cost = |cost: &f64| Some(*cost).filter(|cost| *cost > 0.0);
        let mut planted = Planted { costs: costs.iter().map(cost).collect(), first, ..Planted::default() };
        let end = search(costs.len(), 1.02, &mut |before, after, limit| planted.compare(before, after, limit)).unwrap();
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
        for (costs, is_no_change, comparisons) in [
            (&[1.0, 1.2, 1.0][..], true, 1),
            (&[1.0, 1.2, 0.995], true, 1),
            // At the least change that counts, in both directions.
            (&[1.0, 1.2, 1.02], false, 1),
            (&[1.0, 1.2, 1.0 / 1.02], false, 2),
            (&[1.0, 1.2, 0.0], false, 1),
        ] {
            let (end, compared) = searched(costs);
            let no_change = matches!(end, SearchEnd::NoChange(_));
            assert_eq!((no_change, compared), (is_no_change, comparisons), "{costs:?}: {end:?}");
            assert!(is_no_change || matches!(end, SearchEnd::NotDecided(_)));
        }
    }

    #[test]
    fn a_fall_that_only_the_estimate_shows_is_asked_for_again() {
        // The interval leaves open whether the cost fell by 2 %. It did not, and a search would name the second release.
        let (end, compared) = searched_after(&[1.0, 0.997, 0.997, 0.997], Some((0.97, (0.945, 0.996))));
        assert!(matches!(end, SearchEnd::NoChange(_)) && compared == 2, "{end:?} after {compared}");
        // It did, though the estimate is near 1.
        let (end, _) = searched_after(&[1.0, 1.0, 0.93, 0.93], Some((0.995, (0.92, 1.01))));
        assert_eq!(end, found(1, 2, &[]));
    }

    #[test]
    fn a_first_estimate_that_is_far_too_high_does_not_move_the_search() {
        // Half of the estimate is more than the whole change.
        let (end, _) = searched_after(&[1.0, 1.04, 1.04, 1.04, 1.04], Some((1.12, (1.021, 1.22))));
        assert_eq!(end, found(0, 1, &[]));
        let (end, _) = searched_after(&[1.04, 1.04, 1.04, 1.04, 1.0], Some((0.89, (0.82, 0.975))));
        assert_eq!(end, found(3, 4, &[]));
    }

    #[test]
    fn the_number_of_comparisons_is_known_beforehand() {
        for (releases, most) in [(2, 2), (3, 3), (4, 4), (5, 4), (6, 5), (9, 5), (10, 6)] {
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
