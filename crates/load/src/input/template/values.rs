//! One worker's values of the current request: rows, counters, and a source of random values.

use std::io::Write;

use rand::rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::{Escaping, Variable};
use crate::input::feed::{Feed, Rows};
use crate::random::{up_to, worker_source};
use crate::schedule::Share;

/// The values of variables in the current request.
#[derive(Debug)]
pub(crate) struct Values {
    feeds: Vec<Rows>,
    /// Each counts such that the workers together use each number once.
    counters: Vec<u64>,
    step: u64,
    pub(crate) random: Pcg64Mcg,
    /// What the set-up has given each user of this worker. The user of a connection is at its index.
    pub(crate) users: Vec<UserValues>,
    /// The user that sends the current request.
    pub(crate) user: usize,
}

/// The values of one user, by column.
pub(crate) type UserValues = Vec<String>;

/// The feeds and counters that a request advances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    pub(crate) feeds: Vec<usize>,
    counters: Vec<usize>,
}

impl Uses {
    pub(crate) fn of(variables: impl Iterator<Item = Variable>) -> Self {
        let mut uses = Self::default();
        for variable in variables {
            let (list, index) = match variable {
                Variable::Column { feed, .. } => (&mut uses.feeds, feed),
                Variable::Counter(slot) => (&mut uses.counters, slot),
                Variable::OfUser(_) | Variable::Number { .. } | Variable::Hex(_) | Variable::Uuid => continue,
            };
            if !list.contains(&index) {
                list.push(index);
            }
        }
        uses
    }
}

impl Values {
    pub(crate) fn new(feeds: &[Feed], counters: &[u64], seed: u64, share: Share) -> Self {
        let step = share.workers as u64;
        let before_first = |from: &u64| from.wrapping_add(share.worker as u64).wrapping_sub(step);
        Self {
            feeds: feeds.iter().map(|feed| Rows::of(feed, share)).collect(),
            counters: counters.iter().map(before_first).collect(),
            step,
            // Arrivals have the same seed, and would be told by the values: a large one after each short gap.
            random: worker_source(!seed, share.worker),
            users: Vec::new(),
            user: 0,
        }
    }

    /// Advances to the next request. Returns whether every feed that it uses had a row left.
    pub(crate) fn advance(&mut self, uses: &Uses) -> bool {
        for feed in &uses.feeds {
            if !self.feeds[*feed].advance(&mut self.random) {
                return false;
            }
        }
        for slot in &uses.counters {
            self.counters[*slot] = self.counters[*slot].wrapping_add(self.step);
        }
        true
    }

    /// The cell of a feed's current row.
    pub(crate) fn cell(&self, feed: usize, column: usize) -> &str {
        self.feeds[feed].cell(column)
    }

    pub(super) fn write(&mut self, variable: Variable, escaping: Escaping, out: &mut Vec<u8>) {
        match variable {
            Variable::Column { feed, column } => escaping.write(self.cell(feed, column), out),
            Variable::OfUser(column) => {
                let value = self.users.get(self.user).and_then(|values| values.get(column));
                escaping.write(value.map_or("", String::as_str), out);
            }
            // The other values consist of letters, digits and hyphens, which never need escaping.
            Variable::Counter(slot) => push(out, format_args!("{}", self.counters[slot])),
            Variable::Number { from, to } => {
                let drawn = up_to(&mut self.random, from.abs_diff(to));
                push(out, format_args!("{}", from.wrapping_add_unsigned(drawn)));
            }
            Variable::Hex(digits) => self.push_hex(digits, out),
            Variable::Uuid => self.push_uuid(out),
        }
    }

    fn push_hex(&mut self, digits: usize, out: &mut Vec<u8>) {
        let until = out.len() + digits;
        while out.len() < until {
            push(out, format_args!("{:016x}", self.random.next_u64()));
        }
        out.truncate(until);
    }

    /// RFC 9562, section 5.4.
    fn push_uuid(&mut self, out: &mut Vec<u8>) {
        let (high, low) = (self.random.next_u64(), self.random.next_u64());
        let (time, mid, version) = (high >> 32, (high >> 16) & 0xffff, 0x4000 | (high & 0x0fff));
        let (variant, node) = (0x8000 | ((low >> 48) & 0x3fff), low & 0xffff_ffff_ffff);
        push(out, format_args!("{time:08x}-{mid:04x}-{version:04x}-{variant:04x}-{node:012x}"));
    }
}

fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory cannot fail.
    let _ = out.write_fmt(text);
}
