//! Stacks with their weights. Each frame's name is stored once.

use indexmap::IndexSet;

use crate::frame::Frame;

/// A frame, as an index into [`Stacks::frames`].
pub type FrameId = u32;

/// One stack, root first, and its weight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// Root first.
    pub frames: Vec<FrameId>,
    /// Samples, nanoseconds or bytes.
    pub weight: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stacks {
    frames: IndexSet<Frame>,
    stacks: Vec<Stack>,
}

impl Stacks {
    /// The id of a frame; a new one if the frame is new.
    pub fn intern_frame(&mut self, frame: Frame) -> FrameId {
        self.frames.insert_full(frame).0 as FrameId
    }

    /// Adds a stack, root first. [`Self::intern_frame`] gives the ids.
    pub fn push_stack(&mut self, frames: Vec<FrameId>, weight: u64) {
        self.stacks.push(Stack { frames, weight });
    }

    /// Adds all stacks of another profile.
    pub fn extend(&mut self, other: &Self) {
        let ids: Vec<FrameId> = other.frames.iter().map(|frame| self.intern_frame(frame.clone())).collect();
        for stack in &other.stacks {
            self.push_stack(stack.frames.iter().map(|&id| ids[id as usize]).collect(), stack.weight);
        }
    }

    /// All frames, indexed by id.
    pub fn frames(&self) -> &IndexSet<Frame> {
        &self.frames
    }

    pub fn frame(&self, id: FrameId) -> &Frame {
        &self.frames[id as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = &Stack> {
        self.stacks.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    pub fn total_weight(&self) -> u64 {
        self.stacks.iter().map(|stack| stack.weight).sum()
    }

    fn weight_where(&self, is_counted: impl Fn(&[FrameId]) -> bool) -> u64 {
        self.stacks.iter().filter(|stack| is_counted(&stack.frames)).map(|stack| stack.weight).sum()
    }

    /// The weight of the stacks that the sampler could not walk.
    pub fn failed_weight(&self) -> u64 {
        self.weight_where(|frames| frames.iter().any(|&id| self.frame(id).is_failure()))
    }

    /// The weight of the stacks that contain a wanted frame; `wanted` has a flag per frame.
    pub fn weight_containing(&self, wanted: &[bool]) -> u64 {
        self.weight_where(|frames| frames.iter().any(|&id| wanted[id as usize]))
    }

    /// The weight of the stacks whose innermost frame is wanted.
    pub fn weight_ending_in(&self, wanted: &[bool]) -> u64 {
        self.weight_where(|frames| frames.last().is_some_and(|&id| wanted[id as usize]))
    }

    /// A flag per frame: whether its name matches.
    pub fn matching_frames(&self, pattern: &regex::Regex) -> Vec<bool> {
        self.frames.iter().map(|frame| pattern.is_match(&frame.name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::collapsed::parse_collapsed;

    #[test]
    fn a_stack_counts_once_however_often_a_frame_matches() {
        let stacks = parse_collapsed("main;lib.A.a_[j];lib.A.a_[j];x 3\nmain;lib.B.b_[j] 4\nmain 5\n").unwrap();
        let lib = stacks.matching_frames(&regex::Regex::new(r"^lib\.").unwrap());
        assert_eq!((stacks.weight_containing(&lib), stacks.weight_ending_in(&lib), stacks.total_weight()), (7, 4, 12));
    }

    #[test]
    fn merged_profiles_share_their_frames() {
        let mut sum = parse_collapsed("a;b 1\n").unwrap();
        sum.extend(&parse_collapsed("c;b 2\n").unwrap());
        assert_eq!((sum.total_weight(), sum.iter().count(), sum.frames().len()), (3, 2, 3));
    }

    #[test]
    fn samples_that_failed_are_counted() {
        let stacks = parse_collapsed("start_thread;[unknown_Java] 2\na;b 5\n").unwrap();
        assert_eq!((stacks.failed_weight(), stacks.total_weight()), (2, 7));
    }
}
