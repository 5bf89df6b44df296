//! The pause of a closed-loop user between a response and the next request.

use std::time::Duration;

use rand_pcg::Pcg64Mcg;

use crate::random::{unit_exponential, up_to};

/// Think time of users. Open loops have no users and ignore it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Think {
    /// None: the next request leaves at once.
    #[default]
    No,
    Constant(Duration),
    /// Uniformly distributed between these bounds, both included.
    Between(Duration, Duration),
    /// Exponentially distributed with this mean, as for independent users.
    Exponential(Duration),
}

impl Think {
    pub fn mean(self) -> Duration {
        match self {
            Self::No => Duration::ZERO,
            Self::Constant(mean) | Self::Exponential(mean) => mean,
            Self::Between(from, to) => (from + to) / 2,
        }
    }

    /// The next think time; `None` if users do not think.
    pub(crate) fn pause(self, random: &mut Pcg64Mcg) -> Option<Duration> {
        Some(match self {
            Self::No => return None,
            Self::Constant(pause) => pause,
            Self::Between(from, to) => {
                let span_ns = u64::try_from(to.saturating_sub(from).as_nanos()).unwrap_or(u64::MAX);
                from + Duration::from_nanos(up_to(random, span_ns))
            }
            Self::Exponential(mean) => mean.mul_f64(unit_exponential(random)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    const MS: Duration = Duration::from_millis(1);

    fn mean_ms(think: Think) -> f64 {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        (0..20_000).map(|_| think.pause(&mut random).unwrap_or_default().as_secs_f64() * 1e3).sum::<f64>() / 20_000.0
    }

    #[test]
    fn pauses_have_their_mean() {
        for (think, mean) in [
            (Think::No, 0.0),
            (Think::Constant(3 * MS), 3.0),
            (Think::Between(2 * MS, 4 * MS), 3.0),
            (Think::Exponential(3 * MS), 3.0),
        ] {
            // Five standard errors of the widest distribution.
            assert_eq!(think.mean().as_secs_f64() * 1e3, mean, "{think:?}");
            assert!((mean_ms(think) - mean).abs() < 5.0 * 3.0 / 20_000_f64.sqrt(), "{think:?}");
        }
    }

    #[test]
    fn pauses_between_stay_between() {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let think = Think::Between(2 * MS, 4 * MS);
        assert!((0..1000).all(|_| (2 * MS..=4 * MS).contains(&think.pause(&mut random).unwrap())));
        assert_eq!(Think::Between(MS, MS).pause(&mut random), Some(MS));
    }
}
