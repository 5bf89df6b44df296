//! A level over time (requests per second, or users): straight lines from one value to the next.

use std::time::Duration;

use super::Share;

const NS_PER_S: f64 = 1e9;

/// A level with a first value, which each stage changes linearly to another value. After the last stage it is constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Stages {
    from: f64,
    /// The level at the end of each straight line, and how long that takes; zero is a jump.
    stages: Vec<(f64, Duration)>,
}

/// A stage with its start and end; the last one has no end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) begins_ns: f64,
    pub(super) length_ns: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Stages {
    /// A constant level, until stages are added.
    pub const fn starting_at(level: f64) -> Self {
        Self { from: level, stages: Vec::new() }
    }

    /// Adds a linear change to this level over this time.
    #[must_use]
    pub fn then(mut self, to: f64, over: Duration) -> Self {
        self.stages.push((to, over));
        self
    }

    /// The level, if no stage changes it.
    pub(super) const fn constant_level(&self) -> Option<f64> {
        if self.stages.is_empty() { Some(self.from) } else { None }
    }

    pub fn highest_level(&self) -> f64 {
        self.stages.iter().map(|(to, _)| *to).fold(self.from, f64::max)
    }

    /// The stages with their begins and ends, and the endless time after them.
    pub(super) fn segments(&self) -> Vec<Segment> {
        let (mut begins_ns, mut from) = (0.0, self.from);
        let place = |(to, over): &(f64, Duration)| {
            let segment = Segment { begins_ns, length_ns: over.as_nanos() as f64, from, to: *to };
            (begins_ns, from) = (begins_ns + segment.length_ns, *to);
            segment
        };
        let mut segments: Vec<Segment> = self.stages.iter().map(place).collect();
        segments.push(Segment { begins_ns, length_ns: f64::INFINITY, from, to: from });
        segments
    }

    /// What is wrong with the stages, and what to write instead.
    pub(super) fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        let mut levels = self.stages.iter().map(|(to, _)| *to).chain([self.from]);
        if !levels.all(|level| level.is_finite() && level >= 0.0) {
            return Some(("a rate or a number of users below 0", "give 0 or more, such as 1000"));
        }
        (self.highest_level() <= 0.0)
            .then_some(("a rate or a number of users that is never above 0", "give one above 0, such as 1000"))
    }
}

impl Segment {
    fn slope_per_ns(&self) -> f64 {
        (self.to - self.from) / self.length_ns
    }

    fn level(&self, moment_ns: f64) -> f64 {
        self.from + self.slope_per_ns() * (moment_ns - self.begins_ns)
    }

    /// The first moment from `since_ns` on at which the level is above `limit` within the segment.
    fn rises_above_ns(&self, limit: f64, since_ns: f64) -> Option<f64> {
        let first_ns = since_ns.max(self.begins_ns);
        if first_ns >= self.begins_ns + self.length_ns {
            return None;
        }
        if self.level(first_ns) > limit {
            return Some(first_ns);
        }
        (self.to > limit).then(|| self.begins_ns + (limit - self.from) / self.slope_per_ns())
    }

    /// The integral of a rate per second from the start to the end.
    pub(super) fn sum(&self) -> f64 {
        let mean = (self.from + self.to) / 2.0;
        if mean == 0.0 { 0.0 } else { mean * self.length_ns / NS_PER_S }
    }

    /// When the integral of a rate per second reaches `sum`; `sum` is less than that of the segment.
    pub(super) fn reaches_ns(&self, sum: f64) -> f64 {
        // The root of from·t + slope·t²/2 = sum, in the form that is exact for a slope of 0 and does not cancel digits
        // for a small one.
        let slope_per_s = self.slope_per_ns() * NS_PER_S;
        let level_then = (self.from * self.from + 2.0 * slope_per_s * sum).max(0.0).sqrt();
        let twice_the_mean = self.from + level_then;
        let since_ns = if twice_the_mean == 0.0 { 0.0 } else { 2.0 * sum * NS_PER_S / twice_the_mean };
        self.begins_ns + since_ns
    }
}

/// When each user is active: while the level is above its rank, so the first to start is the last to stop. Users are
/// ranked over all workers, and each of n workers has every n-th.
pub(crate) struct ActiveUsers {
    segments: Vec<Segment>,
    share: Share,
}

impl ActiveUsers {
    pub(crate) fn of(users: &Stages, share: Share) -> Self {
        Self { segments: users.segments(), share }
    }

    /// The first time from `ready_ns` on at which this user of the worker is active. Both count from the slice's start.
    pub(crate) fn active_from_ns(&self, user: usize, ready_ns: u64) -> Option<u64> {
        let rank = (user * self.share.workers + self.share.worker) as f64;
        let joins = |segment: &Segment| segment.rises_above_ns(rank, ready_ns as f64);
        self.segments.iter().find_map(joins).map(|active_from_ns| active_from_ns.ceil() as u64)
    }
}
