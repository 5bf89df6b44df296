//! The free places of connections, in the order in which they became free.

use std::collections::VecDeque;

use tare_sys::clock::Nanos;
use tare_sys::poll::Token;

/// Room for one request on an open connection. A connection has as many places as its protocol's depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) token: Token,
    /// Since when it is free. In the closed loop, this is the intended start of its next request.
    pub(super) since: Nanos,
    /// When the connection was open that its user has waited for; before, nothing could leave.
    pub(super) connected_at: Option<Nanos>,
}

/// Free places. Those of a connection are removed without a look at the others.
#[derive(Debug, Default)]
pub(super) struct FreePlaces {
    /// Each with the number of the place before it of the same connection. Removed ones leave holes; the first is none.
    queue: VecDeque<Option<(Place, usize)>>,
    /// The number of the place that left the queue last. Those in the queue have the numbers after it.
    passed: usize,
    holes: usize,
    /// The number of the last place of each connection. One that has left the queue means that it has none.
    last: Vec<usize>,
}

impl FreePlaces {
    /// Begins without any, for this many connections.
    pub(super) fn begin_slice(&mut self, connections: usize) {
        self.take_all();
        self.last.resize(connections.max(self.last.len()), 0);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The place that has been free longest.
    pub(super) fn first(&self) -> Option<&Place> {
        self.queue.front()?.as_ref().map(|(place, _)| place)
    }

    pub(super) fn push(&mut self, place: Place) {
        let number = self.passed + self.queue.len() + 1;
        let before = std::mem::replace(&mut self.last[place.token.index()], number);
        self.queue.push_back(Some((place, before)));
    }

    /// Removes the place that has been free longest.
    pub(super) fn take_first(&mut self) {
        self.passed += usize::from(self.queue.pop_front().is_some());
        self.skip_holes();
    }

    /// Removes the places of one connection, and returns them in their order.
    pub(super) fn take_all_of(&mut self, token: Token) -> Vec<Place> {
        let mut taken = Vec::new();
        let mut number = std::mem::take(&mut self.last[token.index()]);
        while let Some((place, before)) =
            number.checked_sub(self.passed + 1).and_then(|index| self.queue.get_mut(index)?.take())
        {
            taken.push(place);
            number = before;
        }
        taken.reverse();
        self.holes += taken.len();
        self.skip_holes();
        if self.holes > self.queue.len() / 2 {
            self.take_all().into_iter().flatten().for_each(|(place, _)| self.push(place));
        }
        taken
    }

    fn take_all(&mut self) -> VecDeque<Option<(Place, usize)>> {
        (self.passed, self.holes) = (self.passed + self.queue.len(), 0);
        std::mem::take(&mut self.queue)
    }

    fn skip_holes(&mut self) {
        while let Some(None) = self.queue.front() {
            self.queue.pop_front();
            (self.passed, self.holes) = (self.passed + 1, self.holes - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn their_order_is_that_of_a_list_from_which_places_are_removed(
            steps in proptest::collection::vec((0_u32..5, 0_u8..6), 0..300),
        ) {
            let (mut places, mut list) = (FreePlaces::default(), Vec::new());
            places.begin_slice(5);
            for (at, (token, step)) in (0..).zip(steps) {
                let token = Token(token);
                match step {
                    0 if at % 50 == 0 => {
                        places.begin_slice(5);
                        list.clear();
                    }
                    0 | 1 => {
                        places.take_first();
                        list.drain(..list.len().min(1));
                    }
                    2 => {
                        let (removed, kept): (Vec<Place>, Vec<Place>) =
                            list.into_iter().partition(|place: &Place| place.token == token);
                        list = kept;
                        prop_assert_eq!(places.take_all_of(token), removed);
                        prop_assert!(places.queue.len() <= 2 * list.len(), "{} for {}", places.queue.len(), list.len());
                    }
                    _ => {
                        let place = Place { token, since: Nanos(at), connected_at: None };
                        places.push(place);
                        list.push(place);
                    }
                }
                prop_assert_eq!(places.first(), list.first());
                prop_assert_eq!(places.is_empty(), list.is_empty());
            }
        }
    }
}
