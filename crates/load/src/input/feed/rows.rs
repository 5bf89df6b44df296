//! Which row of a feed one worker takes next.

use std::sync::Arc;

use rand_pcg::Pcg64Mcg;

use super::{Feed, FeedOrder, Table};
use crate::random::up_to;
use crate::schedule::Share;

/// One worker's position in a feed.
#[derive(Debug)]
pub(crate) struct Rows {
    table: Arc<Table>,
    order: FeedOrder,
    /// The next row in order, before it is reduced to the table's length.
    next: usize,
    step: usize,
    present: usize,
}

impl Rows {
    pub(crate) fn of(feed: &Feed, share: Share) -> Self {
        let table = Arc::clone(&feed.table);
        Self { table, order: feed.order, next: share.worker, step: share.workers, present: 0 }
    }

    /// Goes to the next row. Returns whether there is one: not when all rows of `Once` are used.
    pub(crate) fn advance(&mut self, random: &mut Pcg64Mcg) -> bool {
        let len = self.table.rows();
        self.present = match self.order {
            FeedOrder::Random => up_to(random, len as u64 - 1) as usize,
            FeedOrder::Once if self.next >= len => return false,
            FeedOrder::Once | FeedOrder::InTurn => self.next % len,
        };
        self.next = self.present + self.step;
        true
    }

    /// A cell of the current row.
    pub(crate) fn cell(&self, column: usize) -> &str {
        self.table.cell(self.present, column)
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
        (0..6).map(|_| rows.advance(&mut random).then_some(rows.present)).collect()
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
