//! The tree of a flame graph, for one profile or for two to compare, small enough for a page.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::stacks::Stacks;

/// The whole of a profile in units of the nodes' values. The finest share is a ten-millionth.
pub const WHOLE: u32 = 10_000_000;

/// A flame graph as columns: node `i` is `frame[i]` at `depth[i]`, in preorder, siblings by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameTree {
    pub names: Vec<String>,
    /// A letter per name ([`crate::FrameKind::letter`]).
    pub kinds: String,
    /// Index of the name.
    pub frame: Vec<u32>,
    /// Depth; 0 for roots.
    pub depth: Vec<u16>,
    /// Share including callees, in [`WHOLE`]ths of the variant.
    pub value: Vec<u32>,
    /// The same share in the baseline; empty without one.
    pub base: Vec<u32>,
    /// Nodes with a smaller share on both sides are part of their callers, in [`WHOLE`]ths.
    pub cut: u32,
}

#[derive(Debug, Default)]
struct Node {
    children: HashMap<u32, usize>,
    value: f64,
    base: f64,
}

impl FlameTree {
    /// The tree of a variant's forks and, if given, of its baseline's. All forks have equal weight. Nodes with less
    /// than `cut` (0–1) of both sides are merged into their callers.
    pub fn from_stacks(variant: &[&Stacks], baseline: &[&Stacks], cut: f64) -> Self {
        let mut grown = Grown { nodes: vec![Node::default()], ..Grown::default() };
        for (stacks, of_baseline) in variant.iter().map(|s| (s, false)).chain(baseline.iter().map(|s| (s, true))) {
            let forks = if of_baseline { baseline.len() } else { variant.len() };
            grown.add(stacks, of_baseline, forks);
        }
        grown.prune((cut * f64::from(WHOLE)).round() as u32, !baseline.is_empty())
    }
}

#[derive(Debug, Default)]
struct Grown {
    /// The names, each with the letter of its kind.
    names: IndexMap<String, char>,
    nodes: Vec<Node>,
}

impl Grown {
    fn add(&mut self, stacks: &Stacks, of_baseline: bool, forks: usize) {
        let ids: Vec<u32> = stacks.frames().iter().map(|frame| self.name(&frame.name, frame.kind.letter())).collect();
        let whole = f64::from(WHOLE) / (stacks.total_weight().max(1) as f64 * forks as f64);
        for stack in stacks.iter() {
            let mut at = 0;
            for &id in &stack.frames {
                at = self.child(at, ids[id as usize]);
                let node = &mut self.nodes[at];
                let side = if of_baseline { &mut node.base } else { &mut node.value };
                *side += stack.weight as f64 * whole;
            }
        }
    }

    fn name(&mut self, name: &str, kind: char) -> u32 {
        let entry = self.names.entry(name.to_owned());
        let id = entry.index() as u32;
        entry.or_insert(kind);
        id
    }

    fn child(&mut self, parent: usize, name: u32) -> usize {
        let next = self.nodes.len();
        let at = *self.nodes[parent].children.entry(name).or_insert(next);
        if at == next {
            self.nodes.push(Node::default());
        }
        at
    }

    /// Walks the tree in preorder and keeps the nodes that are large enough, with their names.
    fn prune(&self, cut: u32, both: bool) -> FlameTree {
        let by_id: Vec<&str> = self.names.keys().map(String::as_str).collect();
        let mut tree = FlameTree { cut, ..FlameTree::default() };
        let mut places: HashMap<u32, u32> = HashMap::new();
        let mut open: Vec<(usize, u32, u16)> = self.children_by_name(0, &by_id, 0);
        while let Some((at, name, depth)) = open.pop() {
            let node = &self.nodes[at];
            if node.value.max(node.base) < f64::from(cut.max(1)) {
                continue;
            }
            let place = *places.entry(name).or_insert_with(|| {
                tree.names.push(by_id[name as usize].to_owned());
                tree.kinds.push(self.names[name as usize]);
                tree.names.len() as u32 - 1
            });
            tree.frame.push(place);
            tree.depth.push(depth);
            tree.value.push(node.value.round() as u32);
            if both {
                tree.base.push(node.base.round() as u32);
            }
            open.extend(self.children_by_name(at, &by_id, depth.saturating_add(1)));
        }
        tree
    }

    /// The children of a node, last name first, in the order for a stack.
    fn children_by_name(&self, at: usize, by_id: &[&str], depth: u16) -> Vec<(usize, u32, u16)> {
        let mut children: Vec<(usize, u32, u16)> =
            self.nodes[at].children.iter().map(|(&name, &child)| (child, name, depth)).collect();
        children.sort_by(|a, b| by_id[b.1 as usize].cmp(by_id[a.1 as usize]));
        children
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collapsed::parse_collapsed;

    #[test]
    fn nodes_stand_in_preorder_with_shares_of_both_sides() {
        let (one, other) = (parse_collapsed("a;c 1\na;b_[j] 1\nd 2\n").unwrap(), parse_collapsed("a;c 10\n").unwrap());
        let tree = FlameTree::from_stacks(&[&one], &[&other], 0.0);
        let named: Vec<&str> = tree.frame.iter().map(|&frame| tree.names[frame as usize].as_str()).collect();
        assert_eq!(named, ["a", "b", "c", "d"]);
        assert_eq!(tree.depth, [0, 1, 1, 0]);
        assert_eq!(tree.value, [WHOLE / 2, WHOLE / 4, WHOLE / 4, WHOLE / 2]);
        assert_eq!(tree.base, [WHOLE, 0, WHOLE, 0]);
        assert_eq!(tree.kinds.chars().nth(1), Some('j'));
    }

    #[test]
    fn forks_count_alike_however_many_samples_each_has() {
        let (small, large) = (parse_collapsed("a 1\n").unwrap(), parse_collapsed("b 1000\n").unwrap());
        assert_eq!(FlameTree::from_stacks(&[&small, &large], &[], 0.0).value, [WHOLE / 2, WHOLE / 2]);
    }

    #[test]
    fn what_is_too_small_to_be_seen_is_left_to_its_caller() {
        let tree = FlameTree::from_stacks(&[&parse_collapsed("a;b 999\na;c 1\n").unwrap()], &[], 0.01);
        assert_eq!((tree.frame.len(), tree.value[0]), (2, WHOLE));
        assert!(!tree.names.contains(&"c".to_owned()));
    }
}
