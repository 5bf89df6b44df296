//! Why a number could not be computed, and what to do about it.

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StatsError {
    #[error("{what} needs at least {needed} values and got {got}; measure more")]
    TooFew { what: &'static str, needed: usize, got: usize },
    /// A value is NaN or infinite, so that nothing computed from it would mean anything.
    #[error(
        "value {index} is {value}, which is not a finite number; find the measurement that produced it and void it"
    )]
    NotFinite { index: usize, value: f64 },
    #[error(
        "slice {index} measured {value} for the {side}, and a ratio needs a positive finite number; void the slice or its fork"
    )]
    NotPositive { index: usize, side: &'static str, value: f64 },
    #[error("{name} is {value} and must be {expected}")]
    BadParameter { name: &'static str, value: f64, expected: &'static str },
    #[error("it is no interval log of HdrHistogram: {cause}")]
    NoIntervalLog { cause: String },
    #[error("the stored histogram is corrupt ({cause}); restore the record from a copy, or measure this cell again")]
    CorruptHistogram { cause: String },
}

/// Refuses NaN and infinities, which would otherwise get into a report unnoticed.
pub(crate) fn require_finite(values: &[f64]) -> Result<(), StatsError> {
    let wrong = values.iter().position(|v| !v.is_finite());
    wrong.map_or(Ok(()), |index| Err(StatsError::NotFinite { index, value: values[index] }))
}

/// Refuses inputs shorter than `needed`, and then what [`require_finite`] refuses.
pub(crate) fn require(what: &'static str, needed: usize, values: &[f64]) -> Result<(), StatsError> {
    if values.len() < needed {
        return Err(StatsError::TooFew { what, needed, got: values.len() });
    }
    require_finite(values)
}

/// Refuses an error probability outside (0, 1).
pub(crate) fn require_alpha(alpha: f64) -> Result<(), StatsError> {
    if alpha > 0.0 && alpha < 1.0 {
        return Ok(());
    }
    Err(StatsError::BadParameter { name: "alpha", value: alpha, expected: "between 0 and 1, both excluded" })
}
