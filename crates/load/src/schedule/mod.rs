//! When requests should leave: pure functions of a seed and an index, independent of the server.

mod arrivals;
pub(crate) mod sending;
mod stages;
pub(crate) mod stop_rule;
#[cfg(test)]
mod tests;
pub(crate) mod think;

use tare_sample::Arrivals;

pub use arrivals::Starts;
pub(crate) use stages::ActiveUsers;
pub use stages::Stages;

/// The load model of a slice.
#[derive(Clone, Debug)]
pub enum Schedule {
    /// Each user sends its next request when it has the response to the last. The intended start is that moment, or the
    /// start of a reconnect, so a delay in a busy generator counts as send lag and in the response time.
    Closed,
    /// Closed loop with a changing number of users. One that stops finishes its request under way.
    ClosedStages { users: Stages },
    /// Open loop, whose rate may change over time.
    Open {
        /// Offered rate over all workers.
        rate_per_s: Stages,
        /// How the requests follow one another at that rate.
        arrivals: Arrivals,
    },
}

/// One worker's part of a schedule, or that of a session which makes the load together with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Index of the worker, from 0.
    pub worker: usize,
    pub workers: usize,
}

impl Share {
    pub const WHOLE: Self = Self { worker: 0, workers: 1 };

    /// The part of one of several workers that split this share. Together they have this share and nothing else.
    pub const fn of_worker(self, worker: usize, workers: usize) -> Self {
        Self { worker: self.worker + self.workers * worker, workers: self.workers * workers }
    }

    /// How many of `count` things are in this share. All shares add up to the count and differ by one at most.
    pub const fn part_of(self, count: u64) -> u64 {
        let (worker, workers) = (self.worker as u64, self.workers as u64);
        count / workers + if worker < count % workers { 1 } else { 0 }
    }
}

impl Schedule {
    /// Open loop with evenly spaced requests, at this rate over all workers.
    pub const fn constant(rate_per_s: f64) -> Self {
        Self::Open { rate_per_s: Stages::starting_at(rate_per_s), arrivals: Arrivals::Even }
    }

    /// Open loop as a Poisson process, as from many independent users, with this mean rate over all workers.
    pub const fn poisson(rate_per_s: f64) -> Self {
        Self::Open { rate_per_s: Stages::starting_at(rate_per_s), arrivals: Arrivals::Poisson }
    }

    /// The offered rate, if there is one and it is constant.
    pub const fn rate_per_s(&self) -> Option<f64> {
        match self {
            Self::Open { rate_per_s, .. } => rate_per_s.constant_level(),
            Self::Closed | Self::ClosedStages { .. } => None,
        }
    }

    /// The intended starts of one worker; `None` for the closed loop, where answers decide. The starts of all workers
    /// form the whole schedule. Poisson processes add up to one of the whole rate.
    pub fn arrivals(&self, seed: u64, share: Share) -> Option<Starts> {
        match self {
            Self::Closed | Self::ClosedStages { .. } => None,
            Self::Open { rate_per_s, arrivals } => Some(Starts::by_rate(rate_per_s, *arrivals, seed, share)),
        }
    }

    /// The largest number of connections that its users need.
    pub(crate) fn users(&self) -> usize {
        if let Self::ClosedStages { users } = self { users.highest_level().ceil() as usize } else { 0 }
    }

    /// What is wrong with the schedule, and what to write instead.
    pub(crate) fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Open { rate_per_s: stages, .. } | Self::ClosedStages { users: stages } => stages.contradiction(),
            Self::Closed => None,
        }
    }
}
