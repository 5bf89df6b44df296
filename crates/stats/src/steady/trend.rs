//! A straight line through points in time, with the uncertainty of its slope.

use crate::error::{StatsError, require, require_finite};
use crate::quantile::mean;

/// The least-squares line through some points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Change of y per unit of x.
    pub slope: f64,
    /// Standard error of the slope, from the scatter about the line.
    pub slope_se: f64,
}

impl Trend {
    /// Fits a line to `(x, y)` points by least squares.
    ///
    /// # Errors
    /// There are fewer than three points (two always fit exactly, and leave no scatter to judge by), one is not finite,
    /// or all share the same x.
    pub fn fit(points: &[(f64, f64)]) -> Result<Self, StatsError> {
        let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        require("a trend", 3, &xs)?;
        require_finite(&ys)?;
        let (mean_x, mean_y) = (mean(&xs)?, mean(&ys)?);
        let sxx: f64 = xs.iter().map(|x| (x - mean_x).powi(2)).sum();
        if sxx <= 0.0 {
            return Err(StatsError::BadParameter { name: "spread of x", value: sxx, expected: "above 0" });
        }
        let sxy: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let slope = sxy / sxx;
        let residual: f64 = points.iter().map(|(x, y)| (y - mean_y - slope * (x - mean_x)).powi(2)).sum();
        let slope_se = (residual / (points.len() - 2) as f64 / sxx).sqrt();
        Ok(Self { slope, slope_se })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slope_and_error_agree_with_a_fit_by_hand() {
        // x̄ = 3, ȳ = 4, Sxx = 10, Sxy = 6: slope 0.6, residual sum 2.4, se = √(2.4 / 3 / 10).
        let trend = Trend::fit(&[(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 4.0), (5.0, 5.0)]).unwrap();
        assert!((trend.slope - 0.6).abs() < 1e-12);
        assert!((trend.slope_se - 0.08f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_perfect_line_has_no_error() {
        let trend = Trend::fit(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap();
        assert_eq!((trend.slope, trend.slope_se), (2.0, 0.0));
    }

    #[test]
    fn points_that_define_no_line_are_refused() {
        assert!(matches!(Trend::fit(&[(0.0, 1.0), (1.0, 2.0)]), Err(StatsError::TooFew { .. })));
        assert!(matches!(Trend::fit(&[(1.0, 1.0); 3]), Err(StatsError::BadParameter { .. })));
        assert!(matches!(
            Trend::fit(&[(0.0, 1.0), (1.0, f64::INFINITY), (2.0, 1.0)]),
            Err(StatsError::NotFinite { .. })
        ));
    }
}
