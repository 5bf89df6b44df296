//! When requests should leave: pure functions of a seed and an index, blind to what the server does. What a schedule is
//! stands here; how levels change over time is in `stages`, how starts follow from them in `arrivals`.

mod arrivals;
mod custom;
mod stages;
#[cfg(test)]
mod tests;
mod users;

pub use arrivals::Arrivals;
pub use custom::CustomSchedule;
pub use stages::{Stage, Stages};
pub(crate) use users::Attendance;

/// The load model of a slice.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Schedule {
    /// Each user sends its next request when it has the answer to the one before. The intended start is the moment at
    /// which that answer was there (or at which a lost connection was begun again), so that what the generator adds
    /// while it is busy with other users counts as send lag and in the response time.
    Closed,
    /// Closed loop whose users come and go. A user is a connection; one who leaves finishes the request under way.
    ClosedStages {
        /// How many users there are over all workers.
        users: Stages,
    },
    /// Open loop: requests should leave at equal distances.
    Constant {
        /// Offered rate over all workers.
        rate_per_s: f64,
    },
    /// Open loop: requests should leave as a Poisson process, as from many users who do not know of one another.
    Poisson {
        /// Mean offered rate over all workers.
        rate_per_s: f64,
    },
    /// Open loop whose rate changes over time.
    Stages {
        /// Offered rate over all workers.
        rate_per_s: Stages,
        /// How requests follow one another at that rate.
        spacing: Spacing,
    },
    /// Open loop: the intended starts are the caller's own.
    Custom(CustomSchedule),
}

/// How the requests of an open loop follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Each leaves when one more is due by the rate: at equal distances where the rate is constant.
    Even,
    /// At random and independently: a Poisson process, whose intensity is the rate.
    Poisson,
}

/// Which of the workers' parts of one schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// This worker, from 0.
    pub worker: usize,
    /// How many there are.
    pub workers: usize,
}

impl Schedule {
    /// The offered rate, if there is one and it never changes.
    pub const fn rate_per_s(&self) -> Option<f64> {
        match self {
            Self::Constant { rate_per_s } | Self::Poisson { rate_per_s } => Some(*rate_per_s),
            Self::Closed | Self::ClosedStages { .. } | Self::Stages { .. } | Self::Custom(_) => None,
        }
    }

    /// The intended starts of one worker; `None` for the closed loop, where answers decide. The workers' starts
    /// together are those of the whole schedule; of a Poisson process, a process of the whole rate.
    pub fn arrivals(&self, seed: u64, share: Share) -> Option<Arrivals> {
        match self {
            Self::Closed | Self::ClosedStages { .. } => None,
            Self::Constant { rate_per_s } => {
                Some(Arrivals::at(&Stages::steady(*rate_per_s), Spacing::Even, seed, share))
            }
            Self::Poisson { rate_per_s } => {
                Some(Arrivals::at(&Stages::steady(*rate_per_s), Spacing::Poisson, seed, share))
            }
            Self::Stages { rate_per_s, spacing } => Some(Arrivals::at(rate_per_s, *spacing, seed, share)),
            Self::Custom(custom) => Some(Arrivals::from(custom, seed, share)),
        }
    }

    /// The most connections that its users need.
    pub(crate) fn users(&self) -> usize {
        if let Self::ClosedStages { users } = self { users.peak().ceil() as usize } else { 0 }
    }

    /// What is wrong with it, and what to write instead.
    pub(crate) fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Constant { rate_per_s } | Self::Poisson { rate_per_s }
                if !(rate_per_s.is_finite() && *rate_per_s > 0.0) =>
            {
                Some(("an offered rate that is not above 0", "give requests per second, such as 1000"))
            }
            Self::Stages { rate_per_s: stages, .. } | Self::ClosedStages { users: stages } => stages.contradiction(),
            _ => None,
        }
    }
}
