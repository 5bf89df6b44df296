//! The time budget of a run: how long forks take, whether another one fits, how long is left. Pure: the caller reads the clock.

use std::time::Duration;

use tare_plan::plan::Forks;

/// What is known of the time of a run.
#[derive(Debug, Clone)]
pub struct Budget {
    forks: Forks,
    /// Of the completed forks: the plan's estimate, and the time that they took.
    estimated: Duration,
    taken: Duration,
}

/// A fork may exceed the budget by this share of its own length. Otherwise the rest of the budget would be wasted.
const OVERRUN: f64 = 0.25;

impl Budget {
    /// Nothing spent yet.
    pub fn new(forks: Forks) -> Self {
        Self { forks, estimated: Duration::ZERO, taken: Duration::ZERO }
    }

    /// Notes how long a fork took that was estimated at `estimate`.
    pub fn note_fork_time(&mut self, estimate: Duration, taken: Duration) {
        self.estimated += estimate;
        self.taken += taken;
    }

    /// The time of a fork with this estimate, corrected by how far earlier estimates were off. One correction serves
    /// all groups, because it describes the machine.
    pub fn fork_time(&self, estimate: Duration) -> Duration {
        if self.estimated.is_zero() {
            return estimate;
        }
        estimate.mul_f64(self.taken.as_secs_f64() / self.estimated.as_secs_f64())
    }

    /// Whether a fork that is the `fork`-th (1-based) of its group may begin after `elapsed`.
    pub fn allows_fork(&self, fork: u32, elapsed: Duration, estimate: Duration) -> bool {
        match self.forks {
            Forks::Fixed { count } => fork <= count,
            Forks::UntilDecided { budget, .. } => {
                // The first fork always runs: even a budget that is too small gives figures, without an interval.
                self.taken.is_zero() || elapsed + self.fork_time(estimate).mul_f64(1.0 - OVERRUN) <= budget.0
            }
        }
    }

    /// The longest that the run may still take after `elapsed`; `open` gives the forks done and the estimate of one for
    /// each group that goes on.
    pub fn time_left(&self, open: impl Iterator<Item = (u32, Duration)>, elapsed: Duration) -> Duration {
        match self.forks {
            Forks::Fixed { count } => {
                open.map(|(done, estimate)| self.fork_time(estimate) * count.saturating_sub(done)).sum()
            }
            Forks::UntilDecided { budget, .. } => budget.0.saturating_sub(elapsed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_units::Span;

    const S: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn a_fork_begins_only_if_most_of_it_fits() {
        let mut budget =
            Budget::new(Forks::UntilDecided { budget: Span::from_secs(100), at_least: 5, max_forks: None });
        assert!(budget.allows_fork(1, S(500), S(40)), "the first of all always runs");
        budget.note_fork_time(S(40), S(40));
        assert!(budget.allows_fork(3, S(70), S(40)), "70 + 30 of 40 fits");
        assert!(!budget.allows_fork(3, S(71), S(40)));
        assert!(!budget.allows_fork(1, S(71), S(40)), "the first of another group must fit, too");
    }

    #[test]
    fn estimates_are_corrected_by_the_forks_that_were_and_each_group_counts_its_own() {
        let mut budget = Budget::new(Forks::Fixed { count: 3 });
        assert_eq!(budget.time_left([(0, S(10)), (0, S(20))].into_iter(), S(0)), S(90));
        budget.note_fork_time(S(10), S(20));
        assert_eq!(budget.fork_time(S(20)), S(40), "everything takes twice as long as was thought");
        assert_eq!(budget.time_left([(1, S(10)), (0, S(20))].into_iter(), S(20)), S(2 * 20 + 3 * 40));
    }
}
