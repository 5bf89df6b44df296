//! Chooses the methods to name as the cause of a difference: few, certain and specific, and none that repeats another.

use std::collections::{BTreeSet, HashMap};

use regex::Regex;

use crate::frame::FrameKind;
use crate::over_forks::MovedFrame;
use crate::stacks::Stacks;

/// A method with less than this total share (0–1) in the variant is not worth a sentence.
const LEAST_SHARE: f64 = 0.005;
/// Largest number of methods to name.
const MOST: usize = 4;
/// A method with more than this part of the whole difference only wraps it, if it contains two distinct parts.
const WRAPPER: f64 = 0.5;
/// Smallest part of a method that counts as a part, and the largest overlap of two parts.
const PART: f64 = 0.1;
/// A method that shares more than this part of its stacks with those named before repeats them.
const REPEATED: f64 = 0.5;

/// The methods to name, as indices into `moved` (which is sorted by difference), largest first; with `focus`, only
/// methods with a matching name. `stacks` are all stacks of the variant; they show which method calls which.
pub fn choose_causes(moved: &[MovedFrame], stacks: &Stacks, focus: Option<&Regex>) -> Vec<usize> {
    let candidates: Vec<usize> = (0..moved.len()).filter(|place| may_be_named(&moved[*place], focus)).collect();
    let names: Vec<&str> = candidates.iter().map(|place| moved[*place].name.as_str()).collect();
    let held = HeldStacks::find(&names, stacks);
    let limit = WRAPPER * held.weight_where(|_| true) as f64;
    let mut named: Vec<usize> = Vec::new();
    for one in 0..candidates.len() {
        if named.len() == MOST {
            break;
        }
        let weight = held.shared[one][one] as f64;
        let is_named = |other: &usize| named.contains(other);
        let repeated = held.weight_where(|methods| methods.binary_search(&one).is_ok() && methods.iter().any(is_named));
        let repeats = repeated as f64 > REPEATED * weight;
        let wraps = !repeats && weight > limit && held.is_wrapper(one);
        if !repeats && !wraps {
            named.push(one);
        }
    }
    named.into_iter().map(|one| candidates[one]).collect()
}

fn may_be_named(method: &MovedFrame, focus: Option<&Regex>) -> bool {
    method.certain
        && method.difference.value > 0.0
        && method.share.value >= LEAST_SHARE
        && is_specific(&method.name, method.kind)
        && focus.is_none_or(|focus| focus.is_match(&method.name))
}

/// The stacks that hold any of some methods, and how much of them each two of these share.
struct HeldStacks {
    /// The methods in each stack, in order and each once, and its weight.
    stacks: Vec<(Vec<usize>, u64)>,
    /// The weight of the stacks that hold both of two methods; of a method and itself, of all its stacks.
    shared: Vec<Vec<u64>>,
}

impl HeldStacks {
    /// The stacks of these methods, in one pass over all stacks, because there are many of both.
    fn find(names: &[&str], stacks: &Stacks) -> Self {
        let places: HashMap<&str, usize> = names.iter().enumerate().map(|(place, name)| (*name, place)).collect();
        let wanted: Vec<Option<usize>> =
            stacks.frames().iter().map(|frame| places.get(frame.name.as_str()).copied()).collect();
        let mut held = Self { stacks: Vec::new(), shared: vec![vec![0; names.len()]; names.len()] };
        for stack in stacks.iter() {
            // A method that calls itself counts once per stack.
            let methods: BTreeSet<usize> = stack.frames.iter().filter_map(|&id| wanted[id as usize]).collect();
            for &one in &methods {
                methods.iter().for_each(|&other| held.shared[one][other] += stack.weight);
            }
            if !methods.is_empty() {
                held.stacks.push((methods.into_iter().collect(), stack.weight));
            }
        }
        held
    }

    /// The weight of the stacks with such methods.
    fn weight_where(&self, is_wanted: impl Fn(&[usize]) -> bool) -> u64 {
        self.stacks.iter().filter(|(methods, _)| is_wanted(methods)).map(|(_, weight)| weight).sum()
    }

    /// Whether a method contains parts of two others that overlap little.
    fn is_wrapper(&self, one: usize) -> bool {
        let shared = |a: usize, b: usize| self.shared[a][b] as f64;
        let whole = shared(one, one);
        let is_part = |&other: &usize| {
            let weight = shared(other, other);
            weight < whole && weight >= PART * whole && shared(one, other) >= (1.0 - PART) * weight
        };
        let parts: Vec<usize> = (0..self.shared.len()).filter(is_part).collect();
        let apart = |a: usize, b: usize| shared(a, b) <= PART * shared(a, a).min(shared(b, b));
        parts.iter().enumerate().any(|(at, &a)| parts[at + 1..].iter().any(|&b| apart(a, b)))
    }
}

/// Whether a name identifies code of its own, unlike that of a closure, a constructor, a bridge or an adapter.
fn is_specific(name: &str, kind: FrameKind) -> bool {
    const VAGUE: [&str; 7] = ["$anonfun", "$$Lambda", "lambda$", "$anon$", "$adapted", "LambdaForm", "[unknown"];
    const VAGUE_METHODS: [&str; 7] = [".<init>", ".<clinit>", ".map", ".flatMap", ".foreach", ".run", ".accept"];
    matches!(kind, FrameKind::Java | FrameKind::Inlined | FrameKind::Interpreted | FrameKind::Native)
        && !VAGUE.iter().any(|part| name.contains(part))
        && !VAGUE_METHODS.iter().any(|method| name.ends_with(method))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collapsed::parse_collapsed;
    use crate::over_forks::{ForkUse, moved_methods};
    use crate::usage::Usage;

    fn chosen_names(variant: &str, baseline: &str, focus: Option<&str>) -> Vec<String> {
        let forks = |text: &str| -> Vec<ForkUse> {
            (1..=3)
                .map(|fork| ForkUse {
                    fork,
                    usage: Usage::from_stacks(&parse_collapsed(text).unwrap()),
                    per_request: None,
                })
                .collect()
        };
        let moved = moved_methods(&forks(variant), &forks(baseline), 0.0, 0.05);
        let focus = focus.map(|text| Regex::new(text).unwrap());
        let stacks = parse_collapsed(variant).unwrap();
        let named = choose_causes(&moved, &stacks, focus.as_ref());
        named.into_iter().map(|place| moved[place].name.clone()).collect()
    }

    #[test]
    fn what_wraps_everything_and_what_repeats_another_is_not_named() {
        let variant = "r;lib.Wrap.handle_[j];lib.Uri.parse_[j];lib.Uri.inner_[j] 10\n\
                       r;lib.Wrap.handle_[j];lib.Path.show_[j] 6\nr;lib.Wrap.handle_[j];lib.A.$anonfun$x_[j] 4\nr 80\n";
        assert_eq!(chosen_names(variant, "r 80\n", None), ["lib.Uri.inner", "lib.Path.show"]);
    }

    #[test]
    fn only_what_is_in_focus_is_named() {
        let variant = "r;lib.A.a_[j];java.B.b_[j] 10\nr;java.C.c_[j] 10\nr 80\n";
        assert_eq!(chosen_names(variant, "r 80\n", Some(r"^lib\.")), ["lib.A.a"], "a lone wrapper is the answer");
    }

    #[test]
    fn a_method_that_holds_most_of_what_is_new_and_wraps_nothing_is_the_first_cause() {
        let variant = "r;lib.Wrap.handle_[j];lib.Uri.parse_[j] 9\nr;lib.Wrap.handle_[j];lib.Path.show_[j] 3\nr 88\n";
        assert_eq!(chosen_names(variant, "r 88\n", None), ["lib.Uri.parse", "lib.Path.show"]);
    }

    #[test]
    fn what_runs_as_much_in_the_baseline_is_no_cause() {
        assert!(chosen_names("r;a.B.c_[j] 20\nr 80\n", "r;a.B.c_[j] 20\nr 80\n", None).is_empty());
    }
}
