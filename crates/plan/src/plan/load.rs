//! The load of a run: users, and the rate of open slices.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tare_sample::ServerClock;
use tare_units::{Percent, Span, parse_quantity};

/// The load of the saturating slices and the connections of all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Closed-loop users, each with a connection of its own; also the connections of an open load.
    pub users: u32,
    pub rate: Rate,
    /// A request unanswered for so long has failed.
    pub timeout: Span,
    /// Congestion control of the generator's sockets; `default` leaves the kernel's.
    pub congestion: String,
    /// Whether the generator stays awake in open slices, where no server runs on its cores.
    pub spin: bool,
    pub server_clock: ServerClock,
}

/// Requests per second that mean something. At a lower rate no run has enough requests; at a higher one their intended
/// starts are no longer apart.
const RATES_PER_S: RangeInclusive<f64> = 0.001..=1e8;

/// Offered rate of the open slices, the same for all variants of a group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Rate {
    /// Requests per second.
    PerSecond { per_s: f64 },
    /// A share (0–1) of the slowest variant's saturating throughput at the end of the first fork's warm-up.
    OfCapacity { share: f64 },
}

impl Default for Rate {
    fn default() -> Self {
        Self::OfCapacity { share: 0.0 }
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("\"{text}\" is not a rate; write 4000 or 20k (per second, 0.001 to 100M) or 50% (of capacity)");
        if text.trim_end().ends_with('%') {
            let Percent(share) = text.parse().map_err(|_| wrong())?;
            return if share > 0.0 && share < 1.0 { Ok(Self::OfCapacity { share }) } else { Err(wrong()) };
        }
        match parse_quantity(text) {
            Ok(per_s) if RATES_PER_S.contains(&per_s) => Ok(Self::PerSecond { per_s }),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerSecond { per_s } => write!(f, "{per_s}/s"),
            Self::OfCapacity { share } => write!(f, "{}% of the slowest variant's throughput", share * 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_written() {
        assert_eq!("50%".parse(), Ok(Rate::OfCapacity { share: 0.5 }));
        assert_eq!("4000".parse(), Ok(Rate::PerSecond { per_s: 4000.0 }));
        assert_eq!("20k".parse(), Ok(Rate::PerSecond { per_s: 20_000.0 }));
        assert_eq!("0.001".parse(), Ok(Rate::PerSecond { per_s: 0.001 }));
        for wrong in ["0", "1e-320", "0.0009", "101M", "100%", "-1", "fast", "nan", "inf"] {
            assert!(wrong.parse::<Rate>().is_err(), "{wrong}");
        }
    }
}
