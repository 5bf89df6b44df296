//! The noise floor: the difference that a server shows against itself (A/A). Smaller differences mean nothing.

use serde::{Deserialize, Serialize};

use crate::error::{StatsError, require};
use crate::interval::Interval;
use crate::quantile::sd;

/// What an A/A control found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// The mean log-ratio with Student's interval; if it excludes 0, the measurement itself favours one side.
    pub log: Interval,
    /// Half-width that the interval of a comparison would have with the control's spread: the "±" of the report's noise
    /// line, as a share (0.011 is ±1.1 %).
    pub half_width: f64,
    /// Standard deviation of the forks' log-ratios: the floor that later comparisons on this machine may use.
    pub sd: f64,
    pub forks: u32,
}

impl NoiseFloor {
    /// The noise floor of a comparison of `compared` forks, from the log-ratios of an A/A control's forks. There may be
    /// fewer of them.
    ///
    /// # Errors
    /// There are fewer than three forks, one is not finite, or `alpha` is outside (0, 1).
    pub fn of_forks(log_ratios: &[f64], compared: u32, alpha: f64) -> Result<Self, StatsError> {
        require("a noise floor", 3, log_ratios)?;
        let log = Interval::of_mean(log_ratios, alpha)?;
        let forks = log_ratios.len() as u32;
        let half_width = log.half_width() * (f64::from(forks) / f64::from(compared.max(1))).sqrt();
        Ok(Self { log, half_width, sd: sd(log_ratios)?, forks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_of_known_forks_agrees_with_arithmetic_by_hand() {
        // −0.01, 0, 0.01: sd 0.01, t(0.975, 2) = 4.3027, ± 0.024841 about 0.
        let floor = NoiseFloor::of_forks(&[-0.01, 0.0, 0.01], 3, 0.05).unwrap();
        assert!((floor.sd - 0.01).abs() < 1e-12 && (floor.half_width - 0.024_841).abs() < 1e-5);
        assert!(floor.log.contains(0.0));
        // The same spread over the square root of 6, and not of 3.
        let of_more = NoiseFloor::of_forks(&[-0.01, 0.0, 0.01], 6, 0.05).unwrap();
        assert!((of_more.half_width - 0.017_565).abs() < 1e-5 && of_more.log == floor.log);
    }

    #[test]
    fn two_forks_have_no_noise_floor() {
        let of_two = NoiseFloor::of_forks(&[0.01, 0.02], 2, 0.05);
        assert!(matches!(of_two, Err(StatsError::TooFew { needed: 3, .. })));
    }
}
