//! The search for the largest load that a server sustains: which load to try next, and the result of the tries so far.
//! The caller decides what "sustained" means: each try says yes or no. A single try near the limit may say either, so a
//! load counts as sustained, or not, once two tries agree.

/// Where a search begins, how far it may go, and how closely it looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchRule {
    /// The load of the first try.
    pub start: f64,
    /// Nothing below is tried.
    pub least: f64,
    /// Nothing above is tried.
    pub most: f64,
    /// The search ends once the two known loads, sustained and not, lie within this share: 0.05 for 5 %.
    pub resolution: f64,
    /// Whether there are only whole loads, such as users; start, least and most are whole then.
    pub whole: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacity {
    /// The largest load that was sustained; `None` where not even the least was.
    pub sustained: Option<f64>,
    /// The smallest load that was not; `None` where the most was sustained.
    pub broken: Option<f64>,
}

/// A search under way: [`next_load`](Self::next_load), try, [`note_outcome`](Self::note_outcome), until there is no next load.
#[derive(Debug, Clone)]
pub struct CapacitySearch {
    rule: SearchRule,
    found: Capacity,
    load: f64,
    /// Tries of the present load that said yes, and no.
    votes: (u32, u32),
    over: bool,
}

const AGREEING: u32 = 2;
/// Growth of the load until a try says no.
const GROWTH: f64 = 2.0;

impl CapacitySearch {
    pub fn new(rule: SearchRule) -> Self {
        let load = rule.start.clamp(rule.least, rule.most);
        Self { rule, found: Capacity { sustained: None, broken: None }, load, votes: (0, 0), over: false }
    }

    /// The load to try next; `None` once the answer is known as closely as was asked.
    pub fn next_load(&self) -> Option<f64> {
        (!self.over).then_some(self.load)
    }

    /// Records the outcome of a try of [`next_load`](Self::next_load).
    pub fn note_outcome(&mut self, sustained: bool) {
        let votes = if sustained { &mut self.votes.0 } else { &mut self.votes.1 };
        *votes += 1;
        if *votes < AGREEING || self.over {
            return;
        }
        let found = if sustained { &mut self.found.sustained } else { &mut self.found.broken };
        *found = Some(self.load);
        self.votes = (0, 0);
        self.step();
    }

    pub fn found_so_far(&self) -> Capacity {
        self.found
    }

    /// Outwards by doubling or halving until both sides are known, then the middle, on the scale of ratios.
    fn step(&mut self) {
        let Capacity { sustained, broken } = self.found;
        let next = match (sustained, broken) {
            (Some(sustained), None) => (sustained * GROWTH).min(self.rule.most),
            (None, Some(broken)) => (broken / GROWTH).max(self.rule.least),
            (Some(sustained), Some(broken)) => (sustained * broken).sqrt(),
            (None, None) => self.load,
        };
        let next = if self.rule.whole { next.round() } else { next };
        let close = matches!((sustained, broken), (Some(b), Some(x)) if x <= b * (1.0 + self.rule.resolution));
        self.over = close || sustained == Some(next) || broken == Some(next);
        self.load = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: SearchRule = SearchRule { start: 100.0, least: 1.0, most: 100_000.0, resolution: 0.05, whole: false };

    fn search(rule: SearchRule, mut sustains: impl FnMut(f64) -> bool) -> (Capacity, u32) {
        let (mut search, mut tries) = (CapacitySearch::new(rule), 0);
        while let Some(load) = search.next_load() {
            search.note_outcome(sustains(load));
            tries += 1;
            assert!(tries < 200, "the search does not end");
        }
        (search.found_so_far(), tries)
    }

    #[test]
    fn a_sharp_limit_is_found_within_the_resolution() {
        for limit in [1.5, 37.0, 100.0, 101.0, 2_345.0, 99_000.0] {
            let (found, tries) = search(RULE, |load| load <= limit);
            let (sustained, broken) = (found.sustained.unwrap(), found.broken.unwrap());
            assert!(sustained <= limit && limit < broken && broken <= sustained * 1.05, "{limit}: {found:?}");
            assert!(tries <= 40, "{limit}: {tries} tries");
        }
    }

    #[test]
    fn whole_loads_are_tried_as_whole_numbers_and_small_ones_are_found_exactly() {
        for limit in 1..300 {
            let limit = f64::from(limit);
            let (found, _) = search(SearchRule { start: 16.0, whole: true, ..RULE }, |load| {
                assert_eq!(load.fract(), 0.0, "half a user");
                load <= limit
            });
            let (sustained, broken) = (found.sustained.unwrap(), found.broken.unwrap());
            assert!(sustained <= limit && limit < broken, "{limit}: {found:?}");
            assert!(broken <= sustained * 1.05 || broken == sustained + 1.0, "{limit}: {found:?}");
        }
    }

    #[test]
    fn a_limit_outside_the_range_has_only_one_side() {
        assert_eq!(search(RULE, |_| true).0, Capacity { sustained: Some(100_000.0), broken: None });
        assert_eq!(search(RULE, |_| false).0, Capacity { sustained: None, broken: Some(1.0) });
    }

    #[test]
    fn one_contrary_try_is_outvoted() {
        let mut odd = 0;
        let (found, _) = search(RULE, |load| {
            odd += 1;
            // Every third try has the wrong outcome.
            (load <= 1_000.0) != (odd % 3 == 0)
        });
        let (sustained, broken) = (found.sustained.unwrap(), found.broken.unwrap());
        assert!(sustained <= 1_000.0 && 1_000.0 < broken, "{found:?}");
    }

    #[test]
    fn a_start_outside_the_range_begins_at_its_edge() {
        assert_eq!(CapacitySearch::new(SearchRule { start: 1e9, ..RULE }).next_load(), Some(100_000.0));
    }
}
