//! The noise floor: the difference that a server shows against itself (A/A). As many forks do not tell smaller ones from noise.

use crate::error::{StatsError, require};
use crate::interval::Interval;

/// The half-width that the interval of a comparison of `compared` forks would have with the spread of an A/A control, as a share:
/// 0.011 is ±1.1 %. `log_ratios` are those of the control's forks, of which there may be fewer.
///
/// # Errors
/// There are fewer than three forks, one is not finite, or `alpha` is outside (0, 1).
pub fn noise_floor(log_ratios: &[f64], compared: u32, alpha: f64) -> Result<f64, StatsError> {
    require("a noise floor", 3, log_ratios)?;
    let half_width = Interval::of_mean(log_ratios, alpha)?.half_width();
    Ok(half_width * (log_ratios.len() as f64 / f64::from(compared.max(1))).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_of_known_forks_agrees_with_arithmetic_by_hand() {
        // −0.01, 0, 0.01: sd 0.01, t(0.975, 2) = 4.3027, ± 0.024841.
        let floor = |compared| noise_floor(&[-0.01, 0.0, 0.01], compared, 0.05).unwrap();
        assert!((floor(3) - 0.024_841).abs() < 1e-5);
        // The same spread over the square root of 6, and not of 3.
        assert!((floor(6) - 0.017_565).abs() < 1e-5);
    }

    #[test]
    fn two_forks_have_no_noise_floor() {
        let of_two = noise_floor(&[0.01, 0.02], 2, 0.05);
        assert!(matches!(of_two, Err(StatsError::TooFew { needed: 3, .. })));
    }
}
