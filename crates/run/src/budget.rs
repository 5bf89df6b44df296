//! Time: how long forks take, whether another one fits, how long is left. Pure: the clock is the caller's.

use std::time::Duration;

use tare_plan::plan::Forks;

/// What is known of the time of a run.
#[derive(Debug, Clone)]
pub struct Budget {
    forks: Forks,
    spent: Vec<Duration>,
}

/// A fork may overrun the budget by this share of its own length: stopping short of that would waste the rest.
const OVERRUN: f64 = 0.25;

impl Budget {
    /// Nothing spent yet.
    pub fn new(forks: Forks) -> Self {
        Self { forks, spent: Vec::new() }
    }

    /// Notes how long a fork took.
    pub fn note(&mut self, fork: Duration) {
        self.spent.push(fork);
    }

    /// How long the next fork will take, from those that were; `estimate` before there are any.
    pub fn fork_time(&self, estimate: Duration) -> Duration {
        // The first fork of a run is slower (cold caches), so the later ones tell more.
        let known = if self.spent.len() > 1 { &self.spent[1..] } else { &self.spent };
        if known.is_empty() { estimate } else { known.iter().sum::<Duration>() / known.len() as u32 }
    }

    /// Whether a fork that is the `fork`-th (1-based) of its group may begin after `elapsed`.
    pub fn allows(&self, fork: u32, elapsed: Duration, estimate: Duration) -> bool {
        match self.forks {
            Forks::Fixed { count } => fork <= count,
            Forks::UntilDecided { budget, .. } => {
                // The first fork always runs: a budget that is too small still gives figures, if no interval.
                fork == 1 || elapsed + self.fork_time(estimate).mul_f64(1.0 - OVERRUN) <= budget.0
            }
        }
    }

    /// The longest that the run may still take, when `undecided` groups stand at `fork`.
    pub fn left(&self, fork: u32, undecided: u32, elapsed: Duration, estimate: Duration) -> Duration {
        match self.forks {
            Forks::Fixed { count } => self.fork_time(estimate) * count.saturating_sub(fork) * undecided,
            Forks::UntilDecided { budget, .. } => budget.0.saturating_sub(elapsed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_plan::duration::Span;

    const S: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn a_fork_begins_only_if_most_of_it_fits() {
        let mut budget = Budget::new(Forks::UntilDecided { budget: Span::from_secs(100), at_least: 5 });
        assert!(budget.allows(1, S(500), S(40)), "the first always runs");
        for _ in 0..3 {
            budget.note(S(40));
        }
        assert!(budget.allows(3, S(70), S(40)), "70 + 30 of 40 fits");
        assert!(!budget.allows(3, S(71), S(40)));
    }

    #[test]
    fn the_first_fork_does_not_set_the_pace_once_there_are_others() {
        let mut budget = Budget::new(Forks::Fixed { count: 9 });
        assert_eq!(budget.fork_time(S(50)), S(50));
        budget.note(S(60));
        assert_eq!(budget.fork_time(S(50)), S(60));
        budget.note(S(40));
        assert_eq!(budget.fork_time(S(50)), S(40));
        assert_eq!(budget.left(4, 2, S(0), S(50)), S(400));
    }
}
