//! Which row of a feed one worker takes next.

use rand_pcg::Pcg64Mcg;

use super::{Feed, FeedOrder};
use crate::random::up_to;
use crate::schedule::Share;

/// One worker's position in a feed.
#[derive(Debug)]
pub(crate) struct Rows {
    order: FeedOrder,
    /// At least 1.
    len: usize,
    /// The next row in order, before it is reduced to the table's length.
    next: usize,
    step: usize,
}

impl Rows {
    pub(crate) fn of(feed: &Feed, share: Share) -> Self {
        Self { order: feed.order, len: feed.len(), next: share.worker, step: share.workers }
    }

    /// The next row; `None` when all rows of `Once` are used.
    pub(crate) fn take(&mut self, random: &mut Pcg64Mcg) -> Option<usize> {
        let next = self.next;
        match self.order {
            FeedOrder::Random => return Some(up_to(random, self.len as u64 - 1) as usize),
            FeedOrder::Once if next >= self.len => return None,
            FeedOrder::Once => self.next += self.step,
            FeedOrder::InTurn => self.next = (next % self.len) + self.step,
        }
        Some(next % self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::super::FeedFormat;
    use super::*;
    use rand::SeedableRng;

    fn rows(order: FeedOrder, worker: usize, workers: usize) -> Vec<Option<usize>> {
        let feed = Feed::parse("t", FeedFormat::Separated(b','), b"a\n0\n1\n2\n3\n4\n").unwrap().in_order(order);
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let mut rows = Rows::of(&feed, Share { worker, workers });
        (0..6).map(|_| rows.take(&mut random)).collect()
    }

    #[test]
    fn workers_take_turns_and_none_takes_anothers_row_before_the_table_is_through() {
        assert_eq!(rows(FeedOrder::InTurn, 0, 1), [0, 1, 2, 3, 4, 0].map(Some));
        assert_eq!(rows(FeedOrder::InTurn, 0, 2), [0, 2, 4, 1, 3, 0].map(Some));
        assert_eq!(rows(FeedOrder::InTurn, 1, 2), [1, 3, 0, 2, 4, 1].map(Some));
        assert_eq!(rows(FeedOrder::InTurn, 6, 7), [1, 3, 0, 2, 4, 1].map(Some), "more workers than rows");
    }

    #[test]
    fn a_feed_for_once_ends() {
        assert_eq!(rows(FeedOrder::Once, 0, 2), [Some(0), Some(2), Some(4), None, None, None]);
        assert_eq!(rows(FeedOrder::Once, 1, 2), [Some(1), Some(3), None, None, None, None]);
    }

    #[test]
    fn random_rows_are_of_the_table_and_follow_from_the_seed() {
        let some = rows(FeedOrder::Random, 0, 1);
        assert!(some.iter().all(|row| row.is_some_and(|row| row < 5)));
        assert_eq!(some, rows(FeedOrder::Random, 0, 1));
    }
}
