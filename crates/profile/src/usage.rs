//! The share of each method in one profile: its own, and including its callees. A recursive method counts once per
//! stack.

use std::collections::HashMap;

use indexmap::IndexSet;

use crate::frame::FrameKind;
use crate::stacks::Stacks;

/// A profile by method. The compiled, inlined and interpreted forms of a method count together.
#[derive(Debug, Clone, Default)]
pub struct Usage {
    pub weight: u64,
    /// Share (0–1) of the stacks that the sampler could not walk.
    pub failed: f64,
    methods: HashMap<String, MethodUse>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MethodUse {
    /// Its most frequent kind.
    pub kind: FrameKind,
    /// Share (0–1) of the samples in which it is the innermost frame.
    pub own: f64,
    /// Share (0–1) of the samples in which it is in the stack.
    pub total: f64,
    /// The caller with the largest part (0–1) of its total, and that part; `None` at the root.
    pub caller: Option<(String, f64)>,
}

/// Weights during the summation.
#[derive(Debug, Default)]
struct Tally {
    own: u64,
    total: u64,
    kinds: [u64; FrameKind::ALL.len()],
    callers: HashMap<u32, u64>,
}

impl Usage {
    pub fn from_stacks(stacks: &Stacks) -> Self {
        let (names, method_of) = methods(stacks);
        let mut tallies: Vec<Tally> = names.iter().map(|_| Tally::default()).collect();
        // The last stack that counted for a method. Further frames of the method in that stack do not count.
        let mut counted = vec![usize::MAX; names.len()];
        for (number, stack) in stacks.iter().enumerate() {
            let mut caller = None;
            for &id in &stack.frames {
                let method = method_of[id as usize];
                let tally = &mut tallies[method as usize];
                tally.kinds[stacks.frame(id).kind as usize] += stack.weight;
                if counted[method as usize] != number {
                    counted[method as usize] = number;
                    tally.total += stack.weight;
                    if let Some(caller) = caller {
                        *tally.callers.entry(caller).or_default() += stack.weight;
                    }
                }
                caller = Some(method);
            }
            if let Some(leaf) = caller {
                tallies[leaf as usize].own += stack.weight;
            }
        }
        let weight = stacks.total_weight();
        let share = |part: u64| if weight == 0 { 0.0 } else { part as f64 / weight as f64 };
        let methods = names.iter().zip(&tallies).map(|(name, tally)| ((*name).to_owned(), tally.shares(&names, share)));
        Self { weight, failed: share(stacks.failed_weight()), methods: methods.collect() }
    }

    pub fn get(&self, name: &str) -> Option<&MethodUse> {
        self.methods.get(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &MethodUse)> {
        self.methods.iter().map(|(name, method)| (name.as_str(), method))
    }
}

impl Tally {
    fn shares(&self, names: &[&str], share: impl Fn(u64) -> f64) -> MethodUse {
        let heaviest =
            self.callers.iter().max_by_key(|&(caller, weight)| (*weight, std::cmp::Reverse(names[*caller as usize])));
        let kind = FrameKind::ALL.into_iter().rev().max_by_key(|kind| self.kinds[*kind as usize]);
        MethodUse {
            kind: kind.unwrap_or(FrameKind::Native),
            own: share(self.own),
            total: share(self.total),
            caller: heaviest.map(|(&caller, &weight)| {
                (names[caller as usize].to_owned(), weight as f64 / self.total.max(1) as f64)
            }),
        }
    }
}

/// The names of all methods, and the method of each frame.
fn methods(stacks: &Stacks) -> (Vec<&str>, Vec<u32>) {
    let mut names = IndexSet::new();
    let method_of = stacks.frames().iter().map(|frame| names.insert_full(frame.name.as_str()).0 as u32).collect();
    (names.into_iter().collect(), method_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collapsed::parse_collapsed;

    #[test]
    fn recursion_counts_once_and_kinds_are_one_method() {
        let usage = Usage::from_stacks(&parse_collapsed("main;f_[j];f_[i];g 6\nmain;f_[0] 2\nmain;g 2\n").unwrap());
        let f = usage.get("f").unwrap();
        assert_eq!((f.own, f.total, f.kind), (0.2, 0.8, FrameKind::Java));
        assert_eq!(f.caller, Some(("main".into(), 1.0)));
        let g = usage.get("g").unwrap();
        assert_eq!((g.own, g.total), (0.8, 0.8));
        assert_eq!(g.caller, Some(("f".into(), 0.75)), "the caller that brings most of it");
        assert_eq!(usage.get("main").unwrap().caller, None);
    }

    #[test]
    fn nothing_seen_is_no_share_of_anything() {
        let usage = Usage::from_stacks(&Stacks::default());
        assert_eq!((usage.weight, usage.failed, usage.iter().count()), (0, 0.0, 0));
    }
}
