//! When a slice stops offering requests.

use std::time::Duration;

use crate::schedule::Share;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopRule {
    /// After this time, the discarded head included.
    Duration(Duration),
    /// After this many of all workers, with the last response, and after `at_most` in any case. Requests of the
    /// discarded head do not count; subscriptions do, because they last into the window.
    Count {
        requests: u64,
        /// Limit for a server that does not answer, the discarded head included.
        at_most: Duration,
    },
}

impl StopRule {
    pub const fn longest_time(self) -> Duration {
        match self {
            Self::Duration(duration) => duration,
            Self::Count { at_most, .. } => at_most,
        }
    }

    /// How many requests one worker may offer. They are split like connections: N subscriptions on N are one on each.
    pub fn requests_of(self, share: Share) -> u64 {
        let Self::Count { requests, .. } = self else { return u64::MAX };
        share.part_of(requests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_a_count_add_up_to_it() {
        for (requests, workers) in [(10, 1), (10, 3), (2, 4), (0, 2), (u64::MAX - 1, 7)] {
            let rule = StopRule::Count { requests, at_most: Duration::MAX };
            let sum: u64 = (0..workers).map(|worker| rule.requests_of(Share { worker, workers })).sum();
            assert_eq!(sum, requests, "{requests} over {workers}");
        }
    }

    #[test]
    fn a_duration_does_not_limit_the_number() {
        let rule = StopRule::Duration(Duration::from_secs(1));
        assert_eq!(rule.requests_of(Share { worker: 0, workers: 2 }), u64::MAX);
    }
}
